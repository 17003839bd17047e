"""Histories for people, in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.history.changes import Change
from dispatchgen.history.importing import Imported
from dispatchgen.history.moves import Move
from dispatchgen.history.series import Series
from dispatchgen.history.text import between, commit_of, name_of, of_move, percent
from dispatchgen.results.text import NOTHING, format_seconds

_OUTCOMES = {
    "imported": "imported",
    "there": "there already",
    "replaced": "imported, in place of less of the same run",
    "kept": "not imported: another file of the same run has as much or more",
}


def imported_lines(found: Sequence[Imported]) -> Iterator[str]:
    """What became of each file."""
    for each in found:
        yield f"{each.path}: {each.measured} benchmarks: {_OUTCOMES[each.outcome]}"


def render_series(
    every: Sequence[Series], changes: Sequence[Change], moves: Sequence[Move], last: int | None
) -> RenderableType:
    """The times of benchmarks, run by run, and where they changed. Names are taken literally.

    Args:
      last: Only so many runs of each, the newest; None: all.
    """
    alike = {id(change): move for move in moves for change in move.changes}
    at = {(id(change.series), change.cut.best): change for change in changes}
    parts: list[RenderableType] = []
    for series in every:
        parts.append(Text(f"{name_of(series)} ({series.machine})", style="bold"))
        if series.former_names:
            parts.append(Text(f"before: {', '.join(series.former_names)}"))
        table = _table("run", "commit", ">time", ">95 % interval", "")
        for index in _indices(series, last):
            change = at.get((id(series), index))
            table.add_row(*map(Text, [*_row(series, index), _told(change, alike.get(id(change)))]))
        parts += [table, Text()]
    return Group(*parts)


def render_changes(changes: Sequence[Change], moves: Sequence[Move]) -> RenderableType:
    """Changes by the run after them, the newest first, the largest of each first; what is of a move in a line.

    Args:
      moves: Those that changes are left out for.
    """
    alike = {id(change) for move in moves for change in move.changes}
    ordered = sorted(
        changes, key=lambda change: (change.at.started, change.series.machine, abs(change.ratio - 1)), reverse=True
    )
    parts: list[RenderableType] = []
    for (machine, started), group in groupby(ordered, key=lambda change: (change.series.machine, change.at.started)):
        found = list(group)
        parts.append(Text(f"{_time(started)} on {machine}", style="bold"))
        told, _ = Counter(map(between, found)).most_common(1)[0]
        parts.append(Text(f"between: {told}"))
        parts += [Text(of_move(move)) for move in moves if (move.machine, move.at.started) == (machine, started)]
        own = [change for change in found if id(change) not in alike]
        parts += [_changes(own, told), Text()] if own else [Text()]
    return Group(*parts)


def _changes(found: Sequence[Change], told: str) -> Table:
    """The rows of changes; what is between them is told where it is not `told`."""
    table = _table("benchmark", ">before", ">after", ">change", "")
    for change in found:
        own = between(change)
        cells = [name_of(change.series), format_seconds(change.before), format_seconds(change.after)]
        table.add_row(*map(Text, [*cells, percent(change.ratio), "" if own == told else own]))
    return table


def _indices(series: Series, last: int | None) -> range:
    length = len(series.runs)
    return range(0 if last is None else max(0, length - last), length)


def _row(series: Series, index: int) -> Iterator[str]:
    low, high, run = series.low[index], series.high[index], series.runs[index]
    yield _time(run.started)
    yield commit_of(run)
    yield format_seconds(float(series.seconds[index]))
    yield NOTHING if not low > 0 else f"{format_seconds(float(low))} to {format_seconds(float(high))}"


def _told(change: Change | None, move: Move | None) -> str:
    """What there is to say of a run: nothing, or of the change that it is the first after."""
    if change is None:
        return ""
    return "; ".join([f"{percent(change.ratio)}: {between(change)}", *([of_move(move)] if move is not None else [])])


def _table(*titles: str) -> Table:
    """A table; titles of columns of numbers begin with `>`."""
    table = Table(box=None, pad_edge=False, header_style="underline")
    for title in titles:
        number = title.startswith(">")
        table.add_column(title.removeprefix(">"), justify="right" if number else "left", no_wrap=number)
    return table


def _time(started: str) -> str:
    return started[:16].replace("T", " ")
