"""Two runs in one build folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dispatchgen.buildtree.exclusive import exclusive, hold
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


@pytest.mark.parametrize(("code", "held"), [(errno.EWOULDBLOCK, False), (errno.ENOSYS, True), (errno.ENOLCK, True)])
def test_a_file_system_without_locks_is_no_other_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, held: bool
) -> None:
    def flock(*_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", flock)
    with (tmp_path / "file").open("w") as stream:
        assert hold(stream.fileno()) == held


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot use the build folder"), exclusive(tmp_path / "file" / "build"):
        raise AssertionError("it cannot be made")
