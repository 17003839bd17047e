"""Writing files so that nobody ever sees half of one, and so that an unchanged file keeps its time."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dispatchgen.errors import OutputError, Place, Problem


def write_if_changed(path: Path, content: str | bytes) -> bool:
    """Gives `path` that content, through a temporary file beside it; leaves it alone when it holds it already.

    Returns whether the file was written. Raises OutputError when it cannot be.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:64]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(Problem(f"cannot write the file: {error.strerror}", Place(str(path)))) from error
    return True


def remove(path: Path) -> None:
    """Removes a file, where there is one. Raises OutputError when it cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(Problem(f"cannot remove the file: {error.strerror}", Place(str(path)))) from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in hex."""
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def work_folder() -> Iterator[Path]:
    """A temporary folder, removed at the end. Raises OutputError where none can be made, or written in."""
    try:
        with tempfile.TemporaryDirectory(prefix="dispatchgen-") as folder:
            yield Path(folder)
    except OSError as error:
        file = error.filename if isinstance(error.filename, str) else None
        if file is not None and not Path(file).is_relative_to(tempfile.gettempdir()):
            raise OutputError(Problem(f"cannot use the file: {error.strerror}", Place(file))) from error
        message = f"cannot work in the temporary folder: {error.strerror}"
        raise OutputError(Problem(message, Place(file), "set TMPDIR to a folder with free space")) from error
