"""Two runs in one build folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.buildtree.exclusive import exclusive
from dispatchgen.errors import OutputError


def test_a_folder_is_held_until_the_body_ends(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "build"
    with exclusive(folder), pytest.raises(OutputError, match="another dispatchgen is working"), exclusive(folder):
        raise AssertionError("held twice")
    with exclusive(folder):
        pass


def test_an_error_of_the_body_passes_through_and_lets_go(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), exclusive(tmp_path):
        (tmp_path / "none").read_text()
    with exclusive(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot use the build folder"), exclusive(tmp_path / "file" / "build"):
        raise AssertionError("it cannot be made")
