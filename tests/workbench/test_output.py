"""Files that people edit are not lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import OutputError
from dispatchgen.workbench.output import write_new


def test_a_file_of_other_content_is_kept_and_nothing_is_written(tmp_path: Path) -> None:
    edited, binary, new = tmp_path / "edited.mlir", tmp_path / "binary", tmp_path / "deep" / "new.mlir"
    edited.write_text("mine")
    binary.write_bytes(b"\xff")
    files: dict[Path, str | bytes] = {edited: "theirs", binary: b"\xff", new: "new"}
    with pytest.raises(OutputError) as error:
        write_new(files, force=False)
    assert [str(problem.place) for problem in error.value.problems] == [str(edited)]
    assert edited.read_text() == "mine"
    assert not new.exists()
    assert write_new(files, force=True) == [edited, new]
    assert edited.read_text() == "theirs"


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "same.mlir"
    assert write_new({file: "text"}, force=False) == [file]
    before = file.stat().st_mtime_ns
    assert write_new({file: "text"}, force=False) == []
    assert file.stat().st_mtime_ns == before


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is a folder of this name"):
        write_new({tmp_path: "text"}, force=True)
