"""A comparison for people, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.comparison.schema import CallEffect, Comparison, Row
from dispatchgen.comparison.text import (
    WORDS,
    attention_first,
    benchmark_of,
    call_of,
    counted,
    criteria,
    format_change,
    format_interval,
    largest_first,
    remark,
    told,
)
from dispatchgen.results.text import NOTHING, format_seconds, indented

#: Verdicts that are only counted, unless all are asked for.
_COUNTED = frozenset(("same", "noisy"))
#: Most rows and calls that are shown, unless all are asked for.
_MOST_ROWS = 200
_MOST_CALLS = 20
_STYLES = {"slower": "red", "faster": "green", "failed": "bold red", "failing": "red", "fixed": "green"}


def render(comparison: Comparison, *, every: bool = False) -> RenderableType:
    """What changed, what it means for the models, and how it was judged. Names are taken literally.

    Args:
      every: All rows and calls; else what is the same or too noisy to say is counted.
    """
    parts: list[RenderableType] = []
    for line in told(comparison):
        parts.append(Text(line, style="yellow"))
    rows = [row for row in comparison.rows if every or row.verdict not in _COUNTED]
    shown = rows if every else attention_first(rows)[:_MOST_ROWS]
    place = {call: index for index, call in enumerate(dict.fromkeys(map(call_of, rows)))}
    for call, group in groupby(sorted(shown, key=lambda row: place[call_of(row)]), key=call_of):
        found = attention_first(list(group))
        parts += [Text(call, style="bold"), _rows(found), *map(Text, _remarks(found)), Text()]
    if len(rows) > len(shown):
        parts.append(Text(f"and {len(rows) - len(shown)} more that changed: --all shows them"))
    parts += _effects(comparison, every=every)
    parts += [Text(line) for line in _summary(comparison)]
    return Group(*parts)


def _rows(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="underline")
    table.add_column("verdict", no_wrap=True)
    table.add_column("benchmark", overflow="fold")
    for title in ("BASE", "NEW", "change", "95 % interval"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(WORDS[row.verdict], style=_STYLES.get(row.verdict, "")),
            Text(benchmark_of(row)),
            Text(format_seconds(row.base)),
            Text(format_seconds(row.new)),
            Text(format_change(row.ratio, row.low, row.high)),
            Text(format_interval(row.low, row.high)),
        )
    return table


def _remarks(rows: Sequence[Row]) -> Iterator[str]:
    """What there is to say of rows: below the table, since texts may be long."""
    for row in rows:
        if text := remark(row):
            yield indented(f"  {WORDS[row.verdict]}: {benchmark_of(row)}: ", text)


def _effects(comparison: Comparison, *, every: bool) -> Iterator[RenderableType]:
    calls = comparison.calls if every else largest_first(comparison.calls)[:_MOST_CALLS]
    if not calls:
        return
    table = Table(box=None, pad_edge=False, header_style="underline")
    table.add_column("sum of dispatches, time x count", overflow="fold")
    for title in ("BASE", "NEW", "change", "95 % interval", "whole model"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for call in calls:
        table.add_row(*map(Text, _call(call)))
    yield table
    if len(calls) < len(comparison.calls):
        yield Text(f"and {len(comparison.calls) - len(calls)} calls that changed less: --all shows them")
    yield Text()


def _call(call: CallEffect) -> Iterator[str]:
    yield call_of(call)
    yield format_seconds(call.base)
    yield format_seconds(call.new)
    yield format_change(call.ratio, call.low, call.high)
    yield format_interval(call.low, call.high)
    yield NOTHING if call.whole_model is None else format_change(call.whole_model)
    yield f"without {call.left_out} not measured in both" if call.left_out else ""


def _summary(comparison: Comparison) -> Iterator[str]:
    mean = comparison.geometric_mean
    if mean is not None:
        interval = f" ({format_interval(mean.low, mean.high)})" if mean.low is not None else ""
        change = format_change(mean.ratio, mean.low, mean.high)
        yield f"geometric mean of {mean.dispatches} dispatches: {change}{interval}"
    yield counted(comparison)
    yield criteria(comparison)
