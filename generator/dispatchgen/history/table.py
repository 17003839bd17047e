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
from dispatchgen.history.series import Run, Series
from dispatchgen.results.text import NOTHING, format_seconds

#: Digits of commits.
_COMMIT = 12
_OUTCOMES = {
    "imported": "imported",
    "there": "there already",
    "replaced": "imported, in place of less of the same run",
    "kept": "not imported: another file of the same run has as much or more",
}


def name_of(series: Series) -> str:
    """Which benchmark it is, with its call."""
    key = series.key
    benchmark = "whole model" if key.kind == "model" else key.benchmark
    variant = f" with {key.variant}" if key.variant else ""
    caches = f", {key.caches}" if key.caches != "warm" else ""
    return f"{key.model} on {key.backend}, {key.device}, {key.call}: {benchmark}{variant}{caches}"


def between(change: Change) -> str:
    """What differs between the runs before and after a change: commits, as a range that Git takes, and compilers."""
    old, new = change.runs
    parts = []
    if old.commit != new.commit:
        parts.append(f"{commit_of(old)}..{commit_of(new)}")
    elif new.commit is not None:
        parts.append(f"both at {commit_of(new)}")
    parts += [
        f"{what} {before} and {after}"
        for what, before, after in (("compiler", old.compiler, new.compiler), ("runtime", old.runtime, new.runtime))
        if before != after
    ]
    if change.same_code:
        parts.append("the code is the same: machine or runtime")
    return "; ".join(parts) or "nothing that is known differs"


def commit_of(run: Run) -> str:
    """A run's commit, short; `+` behind it: with files that were edited."""
    return NOTHING if run.commit is None else run.commit[:_COMMIT] + ("+" if run.dirty else "")


def imported_lines(found: Sequence[Imported]) -> Iterator[str]:
    """What became of each file."""
    for each in found:
        yield f"{each.path}: {each.measured} benchmarks: {_OUTCOMES[each.outcome]}"


def render_series(every: Sequence[Series], changes: Sequence[Change], last: int | None) -> RenderableType:
    """The times of benchmarks, run by run, and where they changed. Names are taken literally.

    Args:
      last: Only so many runs of each, the newest; None: all.
    """
    at = {(id(change.series), change.index): change for change in changes}
    parts: list[RenderableType] = []
    for series in every:
        parts.append(Text(f"{name_of(series)} ({series.machine})", style="bold"))
        if series.former_names:
            parts.append(Text(f"before: {', '.join(series.former_names)}"))
        table = _table("run", "commit", ">time", ">95 % interval", "")
        for index in _indices(series, last):
            table.add_row(*map(Text, _row(series, index, at.get((id(series), index)))))
        parts += [table, Text()]
    return Group(*parts)


def render_changes(changes: Sequence[Change]) -> RenderableType:
    """Changes by the run after them, the newest first, the largest of each first."""
    ordered = sorted(changes, key=lambda change: (change.runs[1].started, abs(change.ratio - 1)), reverse=True)
    parts: list[RenderableType] = []
    for (machine, started), group in groupby(
        ordered, key=lambda change: (change.series.machine, change.runs[1].started)
    ):
        found = list(group)
        parts.append(Text(f"{_time(started)} on {machine}", style="bold"))
        told, _ = Counter(map(between, found)).most_common(1)[0]
        parts.append(Text(f"between: {told}"))
        table = _table("benchmark", ">before", ">after", ">change", "")
        for change in found:
            own = between(change)
            cells = [name_of(change.series), format_seconds(change.before), format_seconds(change.after)]
            table.add_row(*map(Text, [*cells, _percent(change.ratio), "" if own == told else own]))
        parts += [table, Text()]
    return Group(*parts)


def _indices(series: Series, last: int | None) -> range:
    length = len(series.runs)
    return range(0 if last is None else max(0, length - last), length)


def _row(series: Series, index: int, change: Change | None) -> Iterator[str]:
    low, high, run = series.low[index], series.high[index], series.runs[index]
    yield _time(run.started)
    yield commit_of(run)
    yield format_seconds(float(series.seconds[index]))
    yield NOTHING if not low > 0 else f"{format_seconds(float(low))} to {format_seconds(float(high))}"
    yield "" if change is None else f"{_percent(change.ratio)}: {between(change)}"


def _table(*titles: str) -> Table:
    """A table; titles of columns of numbers begin with `>`."""
    table = Table(box=None, pad_edge=False, header_style="underline")
    for title in titles:
        number = title.startswith(">")
        table.add_column(title.removeprefix(">"), justify="right" if number else "left", no_wrap=number)
    return table


def _time(started: str) -> str:
    return started[:16].replace("T", " ")


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"
