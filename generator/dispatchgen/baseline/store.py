"""Where baselines are, and reading and writing their files: one row per line, so that reviews see what changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from pydantic import BaseModel, ValidationError

from dispatchgen import __version__
from dispatchgen.baseline.schema import BASELINE_VERSION, Baseline
from dispatchgen.baseline.text import describe
from dispatchgen.errors import BaselineError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.manifest.names import MAX_NAME, show
from dispatchgen.results.damage import SHORTEST, is_time
from dispatchgen.results.environment_schema import Machine, Software

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
#: What Git leaves where two branches changed the same lines.
_CONFLICT = re.compile(rb"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
_PROBLEMS_SHOWN = 5
_SAVE = "`dispatchgen baseline save --force` makes it anew"


class _Version(msgspec.Struct):
    version: int


def folder(root: Path, name: str) -> Path:
    """The folder of a baseline's files.

    Args:
      root: Folder of the manifest.

    Raises BaselineError where the name is none of a folder.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        message = f"{show(name)} cannot be the name of a baseline: letters, digits, `_`, `.` and `-` can, at most "
        raise BaselineError(Problem(f"{message}{MAX_NAME}, not beginning with `.` or `-`"))
    return root / "baselines" / name


def names(root: Path) -> list[str]:
    """The baselines that there are, sorted."""
    return sorted({path.parent.name for path in (root / "baselines").glob("*/*.json")})


def machines(root: Path, name: str) -> list[Path]:
    """The files of a baseline, one per machine, sorted."""
    return sorted(folder(root, name).glob("*.json"))


def read_baseline(path: Path) -> Baseline:
    """Reads a baseline's file. Raises BaselineError: it cannot be read, is of another version, is damaged."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BaselineError(Problem(f"cannot read the baseline: {error.strerror}", place)) from None
    if conflict := _CONFLICT.search(data):
        line = data.count(b"\n", 0, conflict.start()) + 1
        hint = f"rows are lines: keep one of each two; or {_SAVE}"
        raise BaselineError(Problem("the baseline has a merge conflict", Place(str(path), line), hint))
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version == BASELINE_VERSION:
            baseline = msgspec.json.decode(data, type=Baseline)
            _check(path, baseline)
            return baseline
    except msgspec.MsgspecError as error:
        raise BaselineError(Problem(f"the baseline is damaged: {error}", place, _SAVE)) from None
    reads = f"its format has version {version}, dispatchgen {__version__} reads version {BASELINE_VERSION}"
    if version > BASELINE_VERSION:
        message, hint = f"the baseline was written by a newer dispatchgen: {reads}", "pip install --upgrade dispatchgen"
    else:
        message, hint = f"the baseline cannot be read: {reads}", _SAVE
    raise BaselineError(Problem(message, Place(str(path), key="version"), hint))


def write_baseline(path: Path, baseline: Baseline) -> bool:
    """Writes a baseline's file in one step; returns whether it changed. Raises OutputError when it cannot be."""
    return write_if_changed(path, baseline_text(baseline))


def baseline_text(baseline: Baseline) -> bytes:
    """The text of the file: the same bytes for the same rows."""
    encode = msgspec.json.Encoder(order="deterministic").encode
    rows = msgspec.json.Encoder().encode  # the keys of rows in the order of the schema: what they are known by first
    parts = [b'{\n"version": %d,\n"machine": %s' % (baseline.version, encode(baseline.machine))]
    parts.append(_lines("results", [rows(each) for each in baseline.results]))
    parts.append(_lines("calls", [rows(each) for each in baseline.calls]))
    parts.append(_lines("rows", [rows(each) for each in baseline.rows]))
    return b",\n".join(parts) + b"\n}\n"


def _lines(key: str, items: list[bytes]) -> bytes:
    return b'"%s": [\n%s\n]' % (key.encode(), b",\n".join(items))


def _check(path: Path, baseline: Baseline) -> None:
    """Raises BaselineError for rows that contradict the rest of the file."""
    problems = list(_wrong(baseline))
    if problems:
        place = Place(str(path), key="rows")
        shown = [Problem(f"the baseline is damaged: {each}", place, _SAVE) for each in problems[:_PROBLEMS_SHOWN]]
        raise BaselineError(*shown)


def _wrong(baseline: Baseline) -> Iterator[str]:
    described: list[tuple[str, type[BaseModel], object]] = [("machine", Machine, baseline.machine)]
    described += [(f"software of run {each.id}", Software, each.software) for each in baseline.results]
    for what, model, data in described:
        try:
            model.model_validate_json(msgspec.json.encode(data))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            yield f"the {what}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    for key, times in Counter(row.key for row in baseline.rows).items():
        if times > 1:
            yield f"the row {show(describe(key))} is there {times} times"
    calls, runs = {call.key for call in baseline.calls}, {each.id for each in baseline.results}
    yield from (
        f"the run {each.id} has no time: {each.started!r}" for each in baseline.results if not is_time(each.started)
    )
    for row in baseline.rows:
        if not row.rounds or any(0 < each < SHORTEST for each in (row.seconds, *row.rounds)):
            yield f"the row {show(describe(row.key))} has no times"
        if not (row.results and runs.issuperset(row.results)):
            yield f"the row {show(describe(row.key))} is of a run that is not listed"
        if row.key[:4] not in calls:
            yield f"the row {show(describe(row.key))} is of a call that is not listed"
