"""Writing files that people edit afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dispatchgen.errors import OutputError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.ownership import check_replaceable


def write_new(files: Mapping[Path, str] | Mapping[Path, str | bytes], *, force: bool) -> list[Path]:
    """Writes files; returns those that were written. A file that holds its content already is left alone.

    Args:
      files: Content by path.
      force: Whether files of other content are replaced.

    Raises OutputError, and writes nothing, where without `force` some of the files hold something else: they were
    edited, or the program or the compiler changed since they were written.
    """
    problems = []
    for path, content in files.items():
        check_replaceable(path)
        if not force and path.exists() and not _holds(path, content):
            message = "the file is there with other content: it was edited, or the program or the compiler changed"
            problems.append(Problem(message, Place(str(path)), "another folder, or --force to replace it"))
    if problems:
        raise OutputError(*problems)
    return [path for path, content in files.items() if write_if_changed(path, content)]


def _holds(path: Path, content: str | bytes) -> bool:
    try:
        return path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise OutputError(Problem(f"cannot read the file: {error.strerror}", Place(str(path)))) from error
