"""Keeping two runs out of one build folder: Ninja's log does not survive two Ninjas at once."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
            message = "another dispatchgen is working in the build folder, or a process of one that was killed"
            raise OutputError(Problem(message, Place(str(folder)), "--build-dir with another folder"))
        try:
            yield
        finally:
            let_go(stream.fileno())


def hold(file: int) -> bool:
    """Whether an open file is this process's now, until it lets go of it or ends; False: another process has it.

    Processes that it starts inherit the file (`iree.process` has them do so): it is held as long as one of them lives,
    also where this process is killed. Where the system (Windows) or the file's own file system has no `flock`, nothing
    is held.
    """
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # ENOSYS, ENOLCK, EOPNOTSUPP: some network file systems
        pass
    os.set_inheritable(file, True)
    return True


def let_go(file: int) -> None:
    """Ends `hold`, also for processes that go on, like the server of a compiler cache."""
    with suppress(ImportError, OSError):
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_UN)
