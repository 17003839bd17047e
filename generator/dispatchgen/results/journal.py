"""What a run has measured so far, in a file: JSON Lines, beside the result file that it becomes at the end.

The first line is a `_Header`: the results as far as they are known before measuring, and the tasks. Each other is a
`Record`. A line is written in one piece when its process has ended, so that a run that is killed leaves all but what it
was doing. The file is locked as long as the run lives: the system lets go of it however the run ends.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from dispatchgen.buildtree.exclusive import hold, let_go
from dispatchgen.errors import OutputError, Place, Problem, ResultsError
from dispatchgen.files import remove, write_if_changed
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.going_on import frame_differences, going_on
from dispatchgen.results.measurements import Record
from dispatchgen.results.schema import Results
from dispatchgen.results.task import Target, Task

#: Version of the format.
JOURNAL_VERSION = 1
#: The most differences from an interrupted run that are told.
_SHOWN = 20
#: How the file starts.
MARK = b'{"journal":'


@dataclass(frozen=True)
class Known:
    """What a journal tells of a task."""

    id: str
    target: Target
    benchmarks: tuple[str, ...]
    sha256: str  #: Of the module.


class _Version(msgspec.Struct):
    journal: int


class _Header(msgspec.Struct):
    """The first line."""

    journal: int  #: `JOURNAL_VERSION`.
    results: msgspec.Raw  #: `schema.Results`; rows have no timing.
    tasks: tuple[Known, ...]
    builds: int = 1  #: How many were measured in turns; each has a journal.


@dataclass(frozen=True)
class Kept:
    """What a journal holds."""

    frame: Results
    tasks: tuple[Known, ...]
    builds: int
    records: tuple[Record, ...]
    length: int  #: In bytes, up to the end of the last whole line.


@dataclass
class Journal:
    """A journal that is held, and written to."""

    path: Path  #: Of the result file.
    frame: Results
    records: Sequence[Record]  #: What it had when it was opened.
    _file: int
    _length: int
    _encoder: msgspec.json.Encoder = field(default_factory=lambda: msgspec.json.Encoder(enc_hook=_encoded))

    def append(self, record: Record) -> None:
        """Writes a process that has ended. Raises OutputError; then the file is as it was before."""
        line = self._encoder.encode(record) + b"\n"
        try:
            _write(self._file, line)
        except OSError as error:
            os.ftruncate(self._file, self._length)
            os.lseek(self._file, self._length, os.SEEK_SET)
            raise _unwritable(partial_of(self.path), error) from error
        self._length += len(line)


def finish(texts: Sequence[tuple[Journal, str]]) -> None:
    """Writes the result files, then removes the journals. Raises OutputError; then all journals stay.

    Args:
      texts: The journals of builds that were measured in turns, with the texts of their result files. The journals of
        all are needed to go on.
    """
    for journal, text in texts:
        write_if_changed(journal.path, text)
        with journal.path.open("rb") as file:  # what it stands for is removed next
            os.fsync(file.fileno())
    for journal, _ in texts:
        remove(partial_of(journal.path))


def partial_of(path: Path) -> Path:
    """The journal of a result file."""
    return path.with_name(f"{path.name}.partial")


def check_left(path: Path) -> None:
    """Raises ResultsError where no interrupted run left a journal of this result file."""
    partial = partial_of(path)
    if not partial.exists():
        message = "there is no interrupted run to go on with: it would have left this file"
        raise ResultsError(Problem(message, Place(str(partial)), "run without --resume"))


@contextmanager
def started(path: Path, frame: Results, tasks: Sequence[Task], builds: int = 1) -> Iterator[Journal]:
    """A new journal, in place of what an interrupted run left. It stays, unless it is finished.

    Args:
      path: The result file.
      frame: What is known before measuring.
      tasks: What is measured.
      builds: How many are measured in turns.

    Raises OutputError: it cannot be written, or another run writes it.
    """
    header = _encoded_header(frame, [_known(task) for task in tasks], builds)
    partial = partial_of(path)
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        file = _new(partial, header)
    except OSError as error:
        raise _unwritable(partial, error) from error
    try:
        yield Journal(path, frame, (), file, len(header))
    finally:
        _let_go(file)


@contextmanager
def resumed(path: Path, frame: Results, tasks: Sequence[Task], builds: int = 1) -> Iterator[Journal]:
    """The journal of a run that was interrupted, to go on with. `frame` is that of the run, as `going_on` has it.

    Args:
      path: The result file.
      frame: What is known before measuring, as of now.
      tasks: What is to be measured.
      builds: How many are to be measured in turns.

    Raises:
      OutputError: it cannot be written, or another run writes it.
      ResultsError: there is none, it cannot be read, or it is of a run of something else.
    """
    check_left(path)
    partial = partial_of(path)
    try:
        file = _held(partial)
    except OSError as error:
        raise _unwritable(partial, error) from error
    try:
        kept = _read_to_go_on(partial)
        found = list(_differences(kept, frame, [_known(task) for task in tasks], builds))
        if found:
            more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
            shown = "".join(f"\n  {each}" for each in (*found[:_SHOWN], *more))
            message = f"the interrupted run was one of something else{shown}"
            raise ResultsError(Problem(message, Place(str(partial)), "run without --resume"))
        now = going_on(kept.frame, frame)
        if now == kept.frame:
            os.ftruncate(file, kept.length)
        else:
            header = _encoded_header(now, kept.tasks, builds)
            before, file = file, _rewritten(partial, header, kept)
            os.close(before)
        yield Journal(path, now, kept.records, file, os.fstat(file).st_size)
    finally:
        _let_go(file)


def is_journal(data: bytes) -> bool:
    """Whether the content of a file is that of a journal."""
    return data.startswith(MARK)


def read(path: Path) -> Kept:
    """Reads a journal, also one that a run is writing. A last line that is not whole is left out.

    Raises ResultsError: it cannot be read, or is none.
    """
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultsError(Problem(f"cannot read the results: {error.strerror}", place)) from None
    length = data.rfind(b"\n") + 1
    first, *others = data[:length].splitlines() or [b""]
    header, frame = _header(first, place)
    decoder = msgspec.json.Decoder(Record, dec_hook=_decoded)
    records = []
    for number, line in enumerate(others, 2):
        try:
            records.append(decoder.decode(line))
        except msgspec.MsgspecError as error:
            raise ResultsError(Problem(f"the line is damaged: {error}", Place(str(path), number))) from None
    return Kept(frame, header.tasks, header.builds, tuple(records), length)


def _read_to_go_on(path: Path) -> Kept:
    try:
        return read(path)
    except ResultsError as error:
        raise ResultsError(*(replace(each, hint="run without --resume") for each in error.problems)) from None


def _header(line: bytes, place: Place) -> tuple[_Header, Results]:
    try:
        version = msgspec.json.decode(line, type=_Version).journal
        if version == JOURNAL_VERSION:
            header = msgspec.json.decode(line, type=_Header)
            return header, Results.model_validate_json(bytes(header.results))
    except (msgspec.MsgspecError, ValidationError) as error:
        raise ResultsError(Problem(f"this is no journal of dispatchgen: {error}", place)) from None
    message = f"the journal's format has version {version}, this dispatchgen reads version {JOURNAL_VERSION}"
    raise ResultsError(Problem(message, place, "measure again"))


def _known(task: Task) -> Known:
    return Known(task.id, task.target, task.benchmarks, task.sha256)


def _encoded_header(frame: Results, tasks: Sequence[Known], builds: int) -> bytes:
    return b"".join(
        (
            MARK + f'{JOURNAL_VERSION},"results":'.encode(),
            frame.model_dump_json().encode(),
            b',"tasks":' + msgspec.json.encode(tasks) + f',"builds":{builds}}}\n'.encode(),
        )
    )


def _differences(kept: Kept, frame: Results, tasks: Sequence[Known], builds: int) -> Iterator[str]:
    """How what is to be measured differs from what was, for people."""
    if kept.builds != builds:
        yield f"builds that are measured in turns (--beside): {kept.builds} and {builds}"
    before, now = {task.id: task for task in kept.tasks}, {task.id: task for task in tasks}
    yield from (f"{each}: it is not measured any more" for each in before if each not in now)
    yield from (f"{each}: it was not measured" for each in now if each not in before)
    for name in (each for each in before if each in now):
        if before[name].sha256 != now[name].sha256:
            yield f"{name}: its module has changed"
        elif before[name] != now[name]:
            yield f"{name}: it measures something else"
    yield from frame_differences(kept.frame, frame)


def _new(path: Path, header: bytes) -> int:
    """Makes the file, whole from the start, unless a run holds the one that is there. Returns its descriptor."""

    def place(temporary: Path) -> None:
        while not _is_placed(temporary, path):
            pass

    return _made(path, header, place)


def _rewritten(path: Path, header: bytes, kept: Kept) -> int:
    """The file, which this process holds, with another first line. Returns its descriptor."""
    lines = path.read_bytes()[: kept.length].partition(b"\n")[2]
    return _made(path, header + lines, lambda temporary: temporary.replace(path))


def _made(path: Path, data: bytes, place: Callable[[Path], object]) -> int:
    """Makes a file that this process holds, and has `place` give it its name."""
    file, temporary = tempfile.mkstemp(prefix=f".{path.name[:64]}.", dir=path.parent)
    try:
        _write(file, data)
        os.fsync(file)
        Path(temporary).chmod(0o644)
        hold(file)
        place(Path(temporary))
    except BaseException:
        os.close(file)
        Path(temporary).unlink(missing_ok=True)
        raise
    return file


def _is_placed(temporary: Path, path: Path) -> bool:
    """Gives the file its name; False: it has to be tried again. Two that start at once do not both succeed."""
    try:
        path.hardlink_to(temporary)
        temporary.unlink()
        return True
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        temporary.replace(path)  # a file system without hard links
        return True
    try:
        left = _held(path)
    except FileNotFoundError:
        return False
    temporary.replace(path)
    os.close(left)
    return True


def _held(path: Path) -> int:
    """Opens the file, and holds it as long as it is open. Raises OutputError where another process does."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND)
        if not hold(file):
            os.close(file)
            message = "another run is measuring into this result file, or a process of one that was killed"
            raise OutputError(
                Problem(message, Place(str(path)), "--json with another file, or wait until it has ended")
            )
        try:
            if os.path.samestat(os.fstat(file), path.stat()):  # else it was replaced or removed since it was opened
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _let_go(file: int) -> None:
    let_go(file)
    os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _encoded(value: Any) -> Any:
    if isinstance(value, Host):
        return value.model_dump(mode="json")
    raise NotImplementedError


def _decoded(kind: type, value: Any) -> Any:
    if kind is Host:
        return Host.model_validate(value)
    raise NotImplementedError


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(Problem(f"cannot write the results: {error.strerror}", Place(str(path))))
