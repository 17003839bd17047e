"""Opening histories: SQLite files that several processes may write at once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dispatchgen import __version__
from dispatchgen.errors import HistoryError, Place, Problem
from dispatchgen.history.schema import APPLICATION_ID, HISTORY_VERSION, SCHEMA

#: Seconds that a process waits for another one that writes.
_PATIENCE = 120.0
#: SQLite's primary result codes SQLITE_BUSY and SQLITE_LOCKED: the low byte of its error codes.
_BUSY, _LOCKED = 5, 6


@contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A history, in a context that closes it.

    Args:
      create: Whether to make one where there is none.

    Raises HistoryError: there is none, it is none, a newer dispatchgen made it, it is damaged, or cannot be written.
    """
    if not create and not path.is_file():
        hint = "dispatchgen history import RESULT"
        raise HistoryError(Problem("there is no history", Place(str(path)), hint))
    try:
        mode = "rwc" if create else "rw"
        url = f"{path.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(url, timeout=_PATIENCE, isolation_level=None, uri=True)) as connection:
            _prepare(connection, path)
            yield connection
    except sqlite3.Error as error:
        raise HistoryError(Problem(f"cannot use the history: {error}", Place(str(path)))) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is written in the context, or nothing of it; waits until no other process writes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite has ended it itself where the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Makes the tables of a new file, and checks those of another."""
    connection.execute("PRAGMA foreign_keys = ON")
    if _stated(connection) == (0, 0) and _is_empty(connection):
        _use_log(connection)
        with transaction(connection):
            if _is_empty(connection):  # and no other process was faster
                for statement in SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {HISTORY_VERSION}")
    application, version = _stated(connection)
    if application != APPLICATION_ID:
        raise HistoryError(Problem("this SQLite file is no history of dispatchgen", Place(str(path))))
    if version != HISTORY_VERSION:
        message = f"the history's schema has version {version}, dispatchgen {__version__} reads {HISTORY_VERSION}"
        hint = "pip install --upgrade dispatchgen" if version > HISTORY_VERSION else "import the results anew"
        raise HistoryError(Problem(message, Place(str(path)), hint))


def _use_log(connection: sqlite3.Connection) -> None:
    """Lets readers read while a process writes: a write-ahead log, which the file remembers."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # Another process does the same, for which SQLite does not wait.
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another process is the reason; Python 3.10 tells it by the text alone."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return "locked" in str(error) if code is None else code & 0xFF in (_BUSY, _LOCKED)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT * FROM sqlite_master").fetchone() is None


def _stated(connection: sqlite3.Connection) -> tuple[int, int]:
    """The application's id and the version of the schema."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return application, version
