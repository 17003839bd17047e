"""Reading result files, and the journals of runs that have not ended."""

from __future__ import annotations

import codecs
import itertools
import re
from pathlib import Path

import msgspec
from pydantic import ValidationError

from dispatchgen.errors import Place, Problem, ResultsError
from dispatchgen.results import journal, lean, schema
from dispatchgen.results.damage import damage, damage_in_full, first_error
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.fill import fill
from dispatchgen.results.gather import Gathered, measurements
from dispatchgen.results.measurements import NOT_MEASURED
from dispatchgen.results.schema import RESULTS_VERSION
from dispatchgen.results.text import plain

#: Why rows have no time in a run that has not ended.
INTERRUPTED = f"{NOT_MEASURED}: the run was interrupted"

#: How files start that dispatchgen writes; others are parsed once more, to find their version.
_STATED_VERSION = re.compile(rb'\s*\{\s*"version"\s*:\s*(\d+)\s*[,}]')

#: How editors mark UTF-8 and UTF-16. JSON allows none (RFC 8259, section 8.1).
_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: The most that is told of what is wrong with a file.
_SHOWN = 5


class _Version(msgspec.Struct):
    version: int


def load(path: Path) -> lean.Results:
    """Reads what is needed of a result file, or of a journal (`.partial`).

    Raises ResultsError where it cannot be read, is neither, or holds what no run writes.
    """
    return _loaded(path, _data(path))


def load_full(path: Path) -> schema.Results:
    """Reads a result file as a whole, or a journal (`.partial`): rows that were not measured say so.

    Raises ResultsError as `load`.
    """
    data = _data(path)
    _loaded(path, data)
    try:
        results = schema.Results.model_validate_json(data)
    except ValidationError as error:
        raise _damaged(path, first_error(error)) from None
    found = list(itertools.islice(damage_in_full(results), _SHOWN))
    if found:
        raise _damaged(path, *found)
    return results


def results_so_far(kept: journal.Kept) -> schema.Results:
    """The results of what a journal holds."""
    gathered = Gathered({task.id: task.target for task in kept.tasks})
    for record in kept.records:
        gathered.add(record)
    builds = {task.target.build for task in kept.tasks}
    measured = measurements(kept.tasks, gathered, INTERRUPTED)
    return fill(kept.frame, measured, build=builds.pop() if builds else "")


def _loaded(path: Path, data: bytes) -> lean.Results:
    try:
        results = msgspec.json.decode(data, type=lean.Results)
        Environment.model_validate(msgspec.json.decode(results.environment))
    except msgspec.ValidationError as error:
        raise _damaged(path, str(error)) from None
    except msgspec.DecodeError as error:
        raise _no_results(path, error) from None
    except ValidationError as error:
        raise _damaged(path, f"`environment`: {first_error(error)}") from None
    found = list(itertools.islice(damage(results), _SHOWN))
    if found:
        raise _damaged(path, *found)
    # What is not decoded yet is a view of the whole file.
    return msgspec.structs.replace(results, environment=msgspec.Raw(bytes(results.environment)))


def _data(path: Path) -> bytes:
    """The text of a result file of this version; of a journal, that of its results so far."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        partial = journal.partial_of(path)
        hint = f"{partial}, which an interrupted run left" if partial.exists() else None
        raise ResultsError(Problem(f"cannot read the results: {error.strerror}", place, hint)) from None
    if data.startswith(_BYTE_ORDER_MARKS):
        message = "this is no result file of dispatchgen: it begins with a byte order mark"
        raise ResultsError(Problem(message, place, "save it as UTF-8 without a byte order mark"))
    if journal.is_journal(data):
        return results_so_far(journal.read(path)).model_dump_json().encode()
    stated = _STATED_VERSION.match(data)
    if stated is not None and int(stated[1]) == RESULTS_VERSION:
        return data
    try:
        version = msgspec.json.decode(data, type=_Version).version
    except msgspec.MsgspecError as error:
        raise _no_results(path, error) from None
    if version == RESULTS_VERSION:
        return data
    message = f"the result file's format has version {version}, this dispatchgen reads version {RESULTS_VERSION}"
    raise ResultsError(Problem(message, place, "measure again"))


def _no_results(path: Path, error: Exception) -> ResultsError:
    return ResultsError(Problem(f"this is no result file of dispatchgen: {error}", Place(str(path))))


def _damaged(path: Path, *found: str) -> ResultsError:
    problems = [
        Problem(f"the result file is damaged: {plain(each)}", Place(str(path)), "measure again") for each in found
    ]
    return ResultsError(*problems)
