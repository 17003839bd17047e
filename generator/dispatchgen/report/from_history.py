"""What a history holds of benchmarks, for the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from dispatchgen.history.changes import Change as Found
from dispatchgen.history.changes import find_changes
from dispatchgen.history.moves import Move, find_moves
from dispatchgen.history.series import Series, read_series
from dispatchgen.history.text import between, of_move
from dispatchgen.report.over_time import MOST_PLOTS, Change, Measured, OverTime
from dispatchgen.results.environment import slug
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.lean import Key, Results, rows

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
    found = [each for each in _newest(every) if (each.machine, each.key) in wanted]
    every_change = find_changes(every)  # of all: what is noise is known from all benchmarks
    moves = {id(change): move for move in find_moves(every_change, every) for change in move.changes}
    changes: dict[int, list[Change]] = {}
    for change in every_change:
        changes.setdefault(id(change.series), []).append(_change(change, moves.get(id(change))))
    found.sort(key=lambda each: (id(each) not in changes, -wanted[each.machine, each.key]))
    several = len({each.machine for each in found}) > 1
    return [_over_time(each, changes.get(id(each), []), several=several) for each in found[:MOST_PLOTS]]


def _newest(every: Sequence[Series]) -> Iterator[Series]:
    """Those that go on under their names: what had a name before another one took it is none of them."""
    by_name = {(each.machine, each.key, *each.symbols.items()): each for each in sorted(every, key=_last_run)}
    return iter(by_name.values())


def _last_run(series: Series) -> str:
    return series.runs[-1].started


def _over_time(series: Series, changes: Sequence[Change], *, several: bool) -> OverTime:
    key = series.key
    parts = [f"{key.benchmark or 'whole model'} of {key.model} on {key.backend}, {key.device}, {key.call}"]
    parts += [f"with {key.variant}"] if key.variant else []
    parts += [key.caches] if key.caches != "warm" else []
    parts += [series.machine] if several else []
    return OverTime(", ".join(parts), tuple(_measured(series)), tuple(changes))


def _measured(series: Series) -> Iterator[Measured]:
    for run, seconds, low, high in zip(series.runs, series.seconds, series.low, series.high, strict=True):
        yield Measured(run.started, float(seconds), _number(low), _number(high), run.commit or "")


def _number(value: float) -> float | None:
    """None in place of NaN: there were too few rounds."""
    return None if math.isnan(value) else float(value)


def _change(found: Found, move: Move | None) -> Change:
    told = [f"between {found.runs[0].started[:10]} and {found.runs[1].started[:10]}", between(found)]
    return Change(found.cut.best, found.ratio, "; ".join([*told, *([of_move(move)] if move is not None else [])]))
