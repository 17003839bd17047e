"""What makes a check of a comparison fail: the values of `--fail-on`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dispatchgen.comparison.schema import Comparison, Criteria, GeometricMean, Row, Verdict
from dispatchgen.comparison.text import format_change, name_of, remark
from dispatchgen.errors import Problem
from dispatchgen.results.estimate import FEWEST

#: What a condition may be of. `geomean`: the geometric mean of all dispatches.
Subject = Literal["slower", "gone", "new", "failed", "failing", "noisy", "geomean"]
_CONDITION = re.compile(r"(slower|geomean):(\d+(?:\.\d+)?)%|(slower|gone|new|failed|failing|noisy)")
#: What `parse` reads, for messages.
FORMS = "slower, slower:5%, geomean:3%, gone, new, failed, failing, noisy"
#: By how much all may be slower together, relative: machines drift by less from day to day.
_TOGETHER = 0.05
_AT_ONCE = "measure both at once: dispatchgen run --beside"
_MORE_ROUNDS = f"an interval needs {FEWEST} rounds: dispatchgen run --rounds 10"
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


def floor_of(floor: float, conditions: Iterable[Condition]) -> float:
    """The smallest difference that counts where these conditions are checked: what they ask for is no less."""
    return min([floor, *(each.above for each in conditions if each.subject == "slower" and each.above)])


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
            yield Problem(f"{len(rows)} {one if len(rows) == 1 else more}:{_named(rows)}")
    yield from overall(comparison, conditions)


def overall(comparison: Comparison, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """The failures that are of no row."""
    yield from _not_judged(comparison.rows, conditions)
    yield from _moved_together(comparison.criteria, conditions)
    mean = comparison.geometric_mean
    for condition in conditions:
        if condition.subject == "geomean" and mean is not None and _is_slower(mean, condition.above):
            change = f"the geometric mean of {mean.dispatches} dispatches changed by {format_change(mean.ratio)}"
            yield Problem(f"{change}, above {condition.above * 100:g} %")


def _not_judged(rows: Sequence[Row], conditions: Sequence[Condition]) -> Iterator[Problem]:
    """What a check cannot see is no success: nothing at all, or what BASE would let it see."""
    both = [row for row in rows if row.base is not None and row.new is not None]
    if not both:
        yield Problem("no benchmark was measured in both results: nothing was compared")
    elif all(row.p is None for row in both):
        yield Problem(f"nothing could be judged:{_named(both)}", hint=_MORE_ROUNDS)
    elif any(condition.subject == "slower" for condition in conditions):
        short = [row for row in both if row.new_rounds < FEWEST <= row.base_rounds and not row.ignored]
        if short:
            what = "benchmark was" if len(short) == 1 else "benchmarks were"
            yield Problem(f"{len(short)} {what} measured in too few rounds:{_named(short)}", hint=_MORE_ROUNDS)


def _moved_together(criteria: Criteria, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """All slower: no row is called slower then, and neither the compiler nor the machine is cleared."""
    above = [each.above for each in conditions if each.subject in ("slower", "geomean")]
    if above and criteria.together > 1 + max(_TOGETHER, min(above)):
        which = "all benchmarks" if criteria.between_from == "all" else "benchmarks whose code is the same"
        moved = f"{which} are slower together, by {format_change(criteria.together)} at the median"
        yield Problem(f"{moved}: machine and compiler cannot be told apart", hint=_AT_ONCE)


def _is_slower(mean: GeometricMean, above: float) -> bool:
    return mean.ratio > 1 + above and mean.low is not None and mean.low > 1


def _named(rows: Sequence[Row]) -> str:
    """The first rows, a line each."""
    worst = sorted(rows, key=lambda row: -(row.ratio or 0.0))
    names = [f"\n    {name_of(row)}{_change(row)}" for row in worst[:_NAMED]]
    if len(rows) > _NAMED:
        names.append(f"\n    and {len(rows) - _NAMED} more")
    return "".join(names)


def _change(row: Row) -> str:
    text = format_change(row.ratio) if row.verdict == "slower" else remark(row)
    return ": " + text.replace("\n", "\n      ") if text else ""
