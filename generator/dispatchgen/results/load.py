"""Reading result files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dispatchgen.errors import Place, Problem, ResultsError
from dispatchgen.results.lean import Results
from dispatchgen.results.schema import RESULTS_VERSION


class _Version(msgspec.Struct):
    version: int


def load(path: Path) -> Results:
    """Reads a result file. Raises ResultsError where it cannot be read, or is none."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultsError(Problem(f"cannot read the results: {error.strerror}", place)) from None
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version == RESULTS_VERSION:
            return msgspec.json.decode(data, type=Results)
    except msgspec.MsgspecError as error:
        raise ResultsError(Problem(f"this is no result file of dispatchgen: {error}", place)) from None
    message = f"the result file's format has version {version}, this dispatchgen reads version {RESULTS_VERSION}"
    raise ResultsError(Problem(message, place, "measure again"))
