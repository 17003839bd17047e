"""What makes a check of a comparison fail: the values of `--fail-on`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dispatchgen.comparison.schema import Comparison, Row, Verdict
from dispatchgen.comparison.text import format_change, name_of, remark
from dispatchgen.errors import Problem

#: What a condition may be of. `geomean`: the geometric mean of all dispatches.
Subject = Literal["slower", "gone", "new", "failed", "failing", "noisy", "geomean"]
_CONDITION = re.compile(r"(slower|geomean):(\d+(?:\.\d+)?)%|(slower|gone|new|failed|failing|noisy)")
#: What `parse` reads, for messages.
FORMS = "slower, slower:5%, geomean:3%, gone, new, failed, failing, noisy"
#: Most rows of a condition that are named.
_NAMED = 10
_MESSAGES: dict[Verdict, tuple[str, str]] = {
    "slower": ("benchmark is slower", "benchmarks are slower"),
    "gone": ("benchmark is gone", "benchmarks are gone"),
    "new": ("benchmark is new", "benchmarks are new"),
    "failed": ("benchmark fails that was measured before", "benchmarks fail that were measured before"),
    "failing": ("benchmark fails, and was not measured before either", "benchmarks fail that were not measured before"),
    "noisy": ("benchmark is too noisy to say", "benchmarks are too noisy to say"),
}


@dataclass(frozen=True)
class Condition:
    """A condition that must not hold."""

    subject: Subject
    above: float = 0.0  #: Of `slower` and `geomean`: by how much slower is no failure yet, relative.


def parse(text: str) -> Condition:
    """Reads a value of `--fail-on`, one of `FORMS`. Raises ValueError."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ValueError(f"expected one of {FORMS}, found '{text}'")
    if found[1] is None:
        return Condition(found[3])  # type: ignore[arg-type]
    return Condition(found[1], float(found[2]) / 100)  # type: ignore[arg-type]


def violates(row: Row, conditions: Sequence[Condition]) -> bool:
    """Whether a condition holds for the row. A limit of its own replaces that of `slower`."""
    if row.ignored:
        return False
    for condition in conditions:
        if condition.subject == row.verdict:
            above = condition.above if row.limit is None else row.limit
            if row.verdict != "slower" or (row.ratio is not None and row.ratio > 1 + above):
                return True
    return False


def failures(comparison: Comparison, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """A problem for each kind of failure, with the first rows of each. Nothing to compare is one in any case."""
    violating = [row for row in comparison.rows if violates(row, conditions)]
    for verdict, (one, more) in _MESSAGES.items():
        rows = [row for row in violating if row.verdict == verdict]
        if rows:
            names = [f"\n    {name_of(row)}{_change(row)}" for row in _worst_first(rows)[:_NAMED]]
            if len(rows) > _NAMED:
                names.append(f"\n    and {len(rows) - _NAMED} more")
            yield Problem(f"{len(rows)} {one if len(rows) == 1 else more}:{''.join(names)}")
    yield from overall(comparison, conditions)


def overall(comparison: Comparison, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """The failures that are of no row."""
    if not any(row.base is not None and row.new is not None for row in comparison.rows):
        yield Problem("no benchmark was measured in both results: nothing was compared")
    mean = comparison.geometric_mean
    for condition in conditions:
        if condition.subject == "geomean" and mean is not None and mean.ratio > 1 + condition.above:
            change = f"the geometric mean of {mean.dispatches} dispatches changed by {format_change(mean.ratio)}"
            yield Problem(f"{change}, above {condition.above * 100:g} %")


def _worst_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -(row.ratio or 0.0))


def _change(row: Row) -> str:
    text = format_change(row.ratio) if row.verdict == "slower" else remark(row)
    return ": " + text.replace("\n", "\n      ") if text else ""
