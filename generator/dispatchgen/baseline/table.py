"""Baselines for people, in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.baseline.job import Saved, Update
from dispatchgen.baseline.schema import Baseline, BaselineRow
from dispatchgen.baseline.text import benchmark_of, describe, first
from dispatchgen.baseline.update import Action
from dispatchgen.comparison.options import Options
from dispatchgen.results.text import NOTHING, format_seconds

#: What slowdown is to be seen, relative.
_BLIND = 0.2
#: What is said of rows with an action, in this order.
_ACTIONS: dict[Action, str] = {
    "faster": "taken, faster",
    "accepted": "taken, slower as accepted",
    "added": "added",
    "renamed": "renamed",
    "removed": "removed",
    "replaced": "removed, another has the name now",
    "kept": "kept as it was",
}


def render(baseline: Baseline) -> RenderableType:
    """All rows of a baseline. Names are taken literally."""
    parts: list[RenderableType] = [Text(line) for line in _sources(baseline)]
    for call, rows in groupby(baseline.rows, key=lambda row: row.key[:4]):
        parts += [Text("{} on {}, {}, {}".format(*call), style="bold"), _rows(list(rows)), Text()]
    return Group(*parts)


def summary(path: Path, baseline: Baseline) -> str:
    """A baseline in a line."""
    rows, runs = _number(len(baseline.rows), "benchmark"), _number(len(baseline.results), "run")
    newest = baseline.results[-1].started[:10] if baseline.results else NOTHING
    return f"{path.parent.name}: {path.stem}: {rows} of {runs}, newest {newest}"


def saved_lines(saved: Saved) -> Iterator[str]:
    """What was saved, what was not, and by how much runs differ."""
    rows = saved.baseline.rows
    runs = _number(len(saved.baseline.results), "run")
    yield f"wrote {saved.path}: {_number(len(rows), 'benchmark')} of {runs}"
    noisy = sorted((row for row in rows if row.noise is not None), key=lambda row: row.noise or 0.0)
    if noisy:
        middle, most = noisy[len(noisy) // 2], noisy[-1]
        yield f"at the median {_seen(middle, len(rows))}"
        yield f"at most {_seen(most, len(rows))}: {describe(most.key)}"
    else:
        yield "note: one run does not tell how runs of the same code differ: give the results of several"
    blind = sum(_seen_from(row, len(rows)) > _BLIND for row in noisy)
    if blind:
        missed = f"a slowdown of {_BLIND * 100:.0f} % is not seen"
        yield f"note: of {_number(blind, 'benchmark')} {missed}: runs differ too much"
    yield from (f"note: {text}" for text in saved.notes)
    if saved.left_out:
        yield f"note: {_number(len(saved.left_out), 'benchmark')} not in the baseline:"
        yield from first(f"  {describe(key)}: {why}" for key, why in saved.left_out.items())


def update_lines(update: Update) -> Iterator[str]:
    """What an update takes, and what it keeps."""
    for action, what in _ACTIONS.items():
        rows = [change.row for change in update.changes if change.action == action]
        if rows:
            yield f"{what}: {_number(len(rows), 'benchmark')}"
            yield from first(f"  {describe(row.key)}: {row.verdict}" for row in rows)
    kept = {change.row.verdict for change in update.changes if change.action == "kept"}
    if "slower" in kept:
        yield "`--accept-slower PATTERN` takes slower times"
    if "gone" in kept:
        yield "`--remove-gone` removes what is gone"


def _sources(baseline: Baseline) -> Iterator[str]:
    for source in baseline.results:
        commit = source.software.get("commit")
        at = f", commit {commit}{' and edited files' if source.software.get('dirty') else ''}" if commit else ""
        yield f"run {source.id}, {source.started}: {source.software.get('compiler', NOTHING)}{at}"


def _rows(rows: Sequence[BaselineRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="underline")
    table.add_column("benchmark", overflow="fold")
    for title in ("count", "time", "run to run", "rounds"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("of run", overflow="fold")
    for row in rows:
        parts = [
            benchmark_of(row.key),
            row.variant and f"with {row.variant}",
            row.caches if row.caches != "warm" else "",
        ]
        table.add_row(
            Text(", ".join(filter(None, parts))),
            Text(NOTHING if row.count is None else str(row.count)),
            Text(format_seconds(row.seconds)),
            Text(NOTHING if row.noise is None else _percent(row.noise)),
            Text(str(len(row.rounds))),
            Text(", ".join(row.results)),
        )
    return table


def _seen(row: BaselineRow, rows: int) -> str:
    """By how much runs differ, and what that means for checks."""
    seen = _seen_from(row, rows)
    return f"runs differ by {_percent(row.noise)}, and a slowdown is seen from {seen * 100:.0f} % on"


def _seen_from(row: BaselineRow, rows: int) -> float:
    """From where on a slowdown is seen, relative: comparisons want several deviations of two runs."""
    options = Options()
    return max(options.floor, math.expm1(options.beyond(rows) * math.sqrt(2) * (row.noise or 0.0)))


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{value * 100:.2f} %"


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
