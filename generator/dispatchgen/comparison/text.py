"""Names, changes and sentences, as all outputs show them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dispatchgen.comparison.schema import VERDICTS, CallEffect, Comparison, Criteria, Row, Verdict
from dispatchgen.results.text import NOTHING, plain, plain_line

#: How people are told of verdicts.
WORDS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "failed": "failed",
    "failing": "still failing",
    "fixed": "fixed",
    "gone": "gone",
    "new": "new",
    "noisy": "too noisy to say",
    "same": "same",
}


def benchmark_of(row: Row) -> str:
    """The benchmark within its call: its name, with the substitution and the caches where they are not the usual."""
    name = row.benchmark if row.kind != "model" else "whole model"
    parts = [row.variant and f"with {row.variant}", row.caches if row.caches != "warm" else ""]
    return plain_line(", ".join([name, *filter(None, parts)]))


def call_of(row: Row | CallEffect) -> str:
    """The call: model, backend, device and call."""
    return plain_line(f"{row.model} on {row.backend}, {row.device}, {row.call}")


def name_of(row: Row) -> str:
    """The benchmark with its call."""
    return f"{call_of(row)}: {benchmark_of(row)}"


def format_change(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """A ratio as a change in percent: `+10.2 %`; as a factor where it is more than twice or less than half.

    Args:
      low, high: Its interval, where it is shown beside it: both have one notation.
    """
    if ratio is None:
        return NOTHING
    if any(each is not None and not 0.5 < each < 2 for each in (ratio, low, high)):
        return f"{ratio:.3g}x"
    return f"{round((ratio - 1) * 100, 1) + 0.0:+.1f} %"  # + 0.0: no -0.0


def format_interval(low: float | None, high: float | None) -> str:
    """A confidence interval of a ratio, as changes."""
    if low is None or high is None:
        return NOTHING
    return f"{format_change(low, high)} to {format_change(high, low)}"


def remark(row: Row) -> str:
    """What there is to say of a row besides its numbers; may be empty."""
    parts = [row.renamed_from and f"was {row.renamed_from}", row.reason, "ignored" if row.ignored else ""]
    if row.limit is not None and row.verdict == "slower":
        parts.append(f"its limit is {format_change(1 + row.limit)}")
    return plain("; ".join(filter(None, parts)))


def counted(comparison: Comparison) -> str:
    """Number of rows by verdict, those that there are: `2 slower, 98 same`."""
    found = [f"{comparison.counts[verdict]} {WORDS[verdict]}" for verdict in VERDICTS if comparison.counts[verdict]]
    return ", ".join(found) or "no benchmarks"


def attention_first(rows: Sequence[Row]) -> list[Row]:
    """Rows by verdict, those that call for attention first; then by how much they changed."""
    order = {verdict: index for index, verdict in enumerate(VERDICTS)}
    return sorted(rows, key=lambda row: (order[row.verdict], -max(row.ratio or 1.0, 1 / (row.ratio or 1.0))))


def criteria(comparison: Comparison) -> str:
    """When a row is called faster or slower, in a sentence."""
    found = comparison.criteria
    tested = sum(row.p is not None for row in comparison.rows)
    floors = f"{found.floor * 100:.3g} % and {found.absolute_floor * 1e9:.3g} ns"
    test = f"p < {found.alpha:g}, corrected for {tested} benchmarks"
    return ", ".join(filter(None, [f"faster or slower: by at least {floors}", test, _between(found)]))


def _between(found: Criteria) -> str:
    times = f"{found.beyond:.3g} times what"
    if found.between_from == "repeated":
        return f"and beyond {times} repeated runs differ by"
    if found.between is None:
        return ""
    log = found.beyond * found.between
    if found.between_from == "same-code":
        return f"and by at least {_percent(log)}, {times} the same code differs by between the runs"
    log += abs(math.log(found.together))
    return f"and by at least {_percent(log)}, what all benchmarks moved by together and {times} they differ by"


def _percent(log: float) -> str:
    return f"{math.expm1(log) * 100:.2g} %"


def told(comparison: Comparison) -> Iterator[str]:
    """Notes and differences, a line each."""
    yield from map(plain, comparison.notes)
    for title, texts in (
        ("machine", comparison.differences.machine),
        ("software", comparison.differences.software),
        ("measuring", comparison.differences.measuring),
    ):
        yield from (plain(f"{title} differs: {text}") for text in texts)


def largest_first(calls: Sequence[CallEffect]) -> list[CallEffect]:
    """Calls by how much they changed."""
    return sorted(calls, key=lambda call: -max(call.ratio, 1 / call.ratio))
