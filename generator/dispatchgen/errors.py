"""The errors that dispatchgen raises for what a user can cause.

Every one of them is a `DispatchgenError`: a list of problems, each a message, then the place, then what to do about it.
The command line prints them without a traceback and exits with `exit_code`. Anything else that escapes is a bug in
dispatchgen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a problem is: a file, optionally a 1-based line and column in it, and the dotted path of a key."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        if self.key is None:
            return position
        return f"{position} ({self.key})" if position else self.key


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `message` says what was found and what is allowed, `hint` what mends it."""

    message: str
    place: Place | None = None
    hint: str | None = None

    def __str__(self) -> str:
        lines = [f"error: {self.message}"]
        if self.place is not None and str(self.place):
            lines.append(f"  at {self.place}")
        if self.hint is not None:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)


class DispatchgenError(Exception):
    """Base of all errors that a user can cause; carries every problem that was found, not only the first."""

    #: Exit code of the command line: 1 a check failed, 2 the input is wrong.
    exit_code = 2

    def __init__(self, *problems: Problem | str):
        self.problems: Sequence[Problem] = [Problem(p) if isinstance(p, str) else p for p in problems]
        super().__init__("\n".join(str(p) for p in self.problems))


class ManifestError(DispatchgenError):
    """The manifest cannot be read or does not say something that makes sense."""


class ModelError(DispatchgenError):
    """A model's program cannot be read, or does not fit what the manifest says of it."""


class ShapeError(ModelError):
    """The program itself rejects the input shapes it was given."""


class DataError(ModelError):
    """What buffers are to hold cannot be read, or does not fit them."""


class SubstitutionError(DispatchgenError):
    """A substitute does not fit what it is to replace, or there is nothing for it to replace."""


class LockError(DispatchgenError):
    """A lock file cannot be read: another version, edited by hand, not JSON."""


class ProfileError(DispatchgenError):
    """A profile or a recording cannot be read, or is not of the model that it is used for."""


class ResultsError(DispatchgenError):
    """A result file cannot be read, or does not belong to what is done with it."""


class ComparisonError(DispatchgenError):
    """Results cannot be compared."""


class BaselineError(DispatchgenError):
    """A baseline does not exist or cannot be used."""


class HistoryError(DispatchgenError):
    """A history does not exist or cannot be used."""


class ToolError(DispatchgenError):
    """A program that dispatchgen needs is missing, too old, failed, crashed or ran past its time limit."""


class TimeLimitError(ToolError):
    """A program ran past its time limit and was killed."""


class OutputError(DispatchgenError):
    """A file cannot be written (no space, no permission)."""


class CheckFailed(DispatchgenError):
    """A check the user asked for did not hold: a stale lock, a generated file that differs, a failing benchmark."""

    exit_code = 1
