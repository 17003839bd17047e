"""What a history holds of benchmarks, for the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from dispatchgen.history.changes import Change as Found
from dispatchgen.history.changes import find_changes
from dispatchgen.history.series import Run, Series, read_series
from dispatchgen.report.over_time import MOST_PLOTS, Change, Measured, OverTime
from dispatchgen.results.environment import slug
from dispatchgen.results.lean import Key, Results, rows
from dispatchgen.results.schema import Environment

#: Fewest runs that make a curve.
_FEWEST = 2


def from_history(history: Path, results: Sequence[Results]) -> list[OverTime]:
    """The curves of benchmarks of the results, on their machines: what changed first, then what takes most time.

    Raises:
      HistoryError: there is no history, or it cannot be read.
      ToolError: what finds changes is not installed.
    """
    wanted: dict[tuple[str, Key], float] = {}
    for each in results:
        machine = slug(Environment.model_validate_json(bytes(each.environment)).machine)
        for row in rows(each):
            wanted[machine, row.key] = row.timing.seconds * (row.count or 0) if row.timing is not None else 0.0
    every = [each for each in read_series(history) if len(each.runs) >= _FEWEST]
    found = [each for each in every if (each.machine, each.key) in wanted]
    changes: dict[int, list[Found]] = {}
    for change in find_changes(found):
        changes.setdefault(id(change.series), []).append(change)
    found.sort(key=lambda each: (id(each) not in changes, -wanted[each.machine, each.key]))
    several = len({each.machine for each in found}) > 1
    return [_over_time(each, changes.get(id(each), []), several=several) for each in found[:MOST_PLOTS]]


def _over_time(series: Series, changes: Sequence[Found], *, several: bool) -> OverTime:
    key = series.key
    parts = [f"{key.benchmark or 'whole model'} of {key.model} on {key.backend}, {key.device}, {key.call}"]
    parts += [f"with {key.variant}"] if key.variant else []
    parts += [key.caches] if key.caches != "warm" else []
    parts += [series.machine] if several else []
    return OverTime(
        ", ".join(parts),
        tuple(_measured(series)),
        tuple(Change(each.index, each.ratio, _between(each)) for each in changes),
    )


def _measured(series: Series) -> Iterator[Measured]:
    for run, seconds, low, high in zip(series.runs, series.seconds, series.low, series.high, strict=True):
        yield Measured(run.started, float(seconds), _number(low), _number(high), run.commit or "")


def _number(value: float) -> float | None:
    """None in place of NaN: there were too few rounds."""
    return None if math.isnan(value) else float(value)


def _between(change: Found) -> str:
    """What lies between the last run before and the first after, in words."""
    before, after = change.runs
    parts = [f"between {_named(before)} and {_named(after)}"]
    if change.same_code:
        parts.append("the code is the same: machine or runtime")
    elif before.compiler != after.compiler:
        parts.append(f"another compiler: {after.compiler}, before {before.compiler}")
    return "; ".join(parts)


def _named(run: Run) -> str:
    return f"{run.commit[:12]}{' with edits' if run.dirty else ''}" if run.commit else run.started
