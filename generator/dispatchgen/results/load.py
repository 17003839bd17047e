"""Reading result files, and the journals of runs that have not ended."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from pydantic import ValidationError

from dispatchgen.errors import Place, Problem, ResultsError
from dispatchgen.results import journal, lean, schema
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.fill import fill
from dispatchgen.results.gather import Gathered, measurements
from dispatchgen.results.measurements import NOT_MEASURED
from dispatchgen.results.schema import RESULTS_VERSION

#: Why rows have no time in a run that has not ended.
INTERRUPTED = f"{NOT_MEASURED}: the run was interrupted"

#: How files start that dispatchgen writes; others are parsed once more, to find their version.
_STATED_VERSION = re.compile(rb'\s*\{\s*"version"\s*:\s*(\d+)\s*[,}]')


class _Version(msgspec.Struct):
    version: int


def load(path: Path) -> lean.Results:
    """Reads what is needed of a result file, or of a journal (`.partial`).

    Raises ResultsError where it cannot be read, or is neither.
    """
    data = _data(path)
    try:
        results = msgspec.json.decode(data, type=lean.Results)
        Environment.model_validate_json(bytes(results.environment))
        # What is not decoded yet is a view of the whole file.
        return msgspec.structs.replace(results, environment=msgspec.Raw(bytes(results.environment)))
    except (msgspec.MsgspecError, ValidationError) as error:
        raise _no_results(path, error) from None


def load_full(path: Path) -> schema.Results:
    """Reads a result file as a whole, or a journal (`.partial`): rows that were not measured say so.

    Raises ResultsError where it cannot be read, or is neither.
    """
    try:
        return schema.Results.model_validate_json(_data(path))
    except ValidationError as error:
        raise _no_results(path, error) from None


def results_so_far(kept: journal.Kept) -> schema.Results:
    """The results of what a journal holds."""
    gathered = Gathered({task.id: task.target for task in kept.tasks})
    for record in kept.records:
        gathered.add(record)
    builds = {task.target.build for task in kept.tasks}
    measured = measurements(kept.tasks, gathered, INTERRUPTED)
    return fill(kept.frame, measured, build=builds.pop() if builds else "")


def _data(path: Path) -> bytes:
    """The text of a result file of this version; of a journal, that of its results so far."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultsError(Problem(f"cannot read the results: {error.strerror}", place)) from None
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
