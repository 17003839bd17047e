"""Keeping two runs out of one build folder: Ninja's log does not survive two Ninjas at once."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dispatchgen.errors import OutputError, Place, Problem


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Holds a build folder, which is made where there is none, until the body or this process ends.

    Raises:
      OutputError: another process holds it, or it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / ".lock").open("w")
    except OSError as error:
        raise OutputError(Problem(f"cannot use the build folder: {error.strerror}", Place(str(folder)))) from error
    with stream:
        if not hold(stream.fileno()):
            message = "another dispatchgen is working in the build folder"
            raise OutputError(Problem(message, Place(str(folder)), "--build-dir with another folder"))
        yield


def hold(file: int) -> bool:
    """Whether an open file is this process's now, until it closes it or ends.

    Where the system has no `flock` (Windows), nothing is held.
    """
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
