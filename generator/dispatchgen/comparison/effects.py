"""What the rows mean for the models: sums of time x count, and the geometric mean.

Errors of rounds are independent: half-widths of intervals add up as squares do, each by its part of the sum. What runs
differ by is not: it may move all rows alike, and adds up as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dispatchgen.comparison.match import Pair, same_sizes
from dispatchgen.comparison.schema import CallEffect, GeometricMean, Row
from dispatchgen.results.lean import Timing


class _Part(NamedTuple):
    """A row, and by how much runs differ there: half of a 95 % interval of the logarithm."""

    row: Row
    pair: Pair
    between: float

    @property
    def is_counted(self) -> bool:
        """Whether it is known how often it runs per call, wherever it is."""
        return all(side is None or side.count is not None for side in self.pair)

    @property
    def is_measured(self) -> bool:
        """Whether its time is known, wherever it is."""
        return all(side is None or side.timing is not None for side in self.pair)


@dataclass
class _Call:
    """The rows of a call that are the compiler's own, with warm caches."""

    dispatches: list[_Part] = field(default_factory=list)
    whole_model: Row | None = None


def call_effects(rows: Sequence[Row], pairs: Sequence[Pair], between: Sequence[float]) -> tuple[CallEffect, ...]:
    """The effect on each call that dispatches were measured of in both results, in the order of the rows.

    Args:
      between: By row, by how much runs differ anyway: half of a 95 % interval of the logarithm.
    """
    calls: dict[tuple[str, str, str, str], _Call] = {}
    for row, pair, anyway in zip(rows, pairs, between, strict=True):
        if row.variant or row.caches != "warm" or row.kind == "initializer":
            continue
        call = calls.setdefault((row.model, row.backend, row.device, row.call), _Call())
        if row.kind == "model":
            call.whole_model = row
        else:
            call.dispatches.append(_Part(row, pair, anyway))
    effects = (_effect(where, call) for where, call in calls.items())
    return tuple(effect for effect in effects if effect is not None)


def geometric_mean(rows: Sequence[Row], between: Sequence[float]) -> GeometricMean | None:
    """The geometric mean of the ratios of all dispatches that are not ignored; None: there are none.

    Args:
      between: As of `call_effects`.
    """
    own = [each for each in zip(rows, between, strict=True) if _is_of_the_mean(each[0])]
    own = [each for each in own if each[0].p is not None] or own  # what was measured once says little
    if not own:
        return None
    log = math.fsum(math.log(row.ratio) for row, _ in own if row.ratio) / len(own)
    rounds = _root_of_squares([_half_width(row.low, row.high) for row, _ in own])
    anyway = math.fsum(each for _, each in own) / len(own)
    low, high = _interval(log, None if rounds is None else math.hypot(rounds / len(own), anyway))
    return GeometricMean(math.exp(log), low, high, len(own))


def _is_of_the_mean(row: Row) -> bool:
    is_own = row.kind == "dispatch" and not row.variant and row.caches == "warm"
    return is_own and bool(row.ratio) and not row.ignored


def _effect(where: tuple[str, str, str, str], call: _Call) -> CallEffect | None:
    used = call.dispatches
    # Where all was measured, sums are of all: what was fused or split has no counterpart, and counts all the same.
    whole = bool(used) and all(part.is_measured and part.is_counted for part in used) and _same_call(used)
    if not whole:
        used = [part for part in used if part.row.ratio is not None and part.is_counted]
    base = math.fsum(_total(pair.base.timing, pair.base.count) for _, pair, _ in used if pair.base)
    new = math.fsum(_total(pair.new.timing, pair.new.count) for _, pair, _ in used if pair.new)
    if not base or not new:
        return None
    weights = [_weight(part.pair, base, new) for part in used]
    halves = [_own_half_width(part) for part in used]
    rounds = _root_of_squares([half and weight * half for weight, half in zip(weights, halves, strict=True)])
    anyway = math.fsum(weight * part.between for weight, part in zip(weights, used, strict=True))
    low, high = _interval(math.log(new / base), None if rounds is None else math.hypot(rounds, anyway))
    model = call.whole_model
    return CallEffect(
        *where,
        base=base,
        new=new,
        ratio=new / base,
        low=low,
        high=high,
        dispatches=sum(pair.new is not None for _, pair, _ in used),
        left_out=len(call.dispatches) - len(used),
        whole_model=model.ratio if model else None,
        whole_model_verdict=model.verdict if model and model.ratio else None,
    )


def _same_call(used: Sequence[_Part]) -> bool:
    """Whether the call is the same in both results, and of each all of one version of it was to be measured."""
    calls = {id(side.call): side.call for part in used for side in part.pair if side is not None}
    first, *others = calls.values()
    complete = all(call.whole and not call.coverage.left_out for call in calls.values())
    return complete and all(same_sizes(first, each) for each in others)


def _total(timing: Timing | None, count: int | None) -> float:
    return timing.seconds * count if timing is not None and count is not None else 0.0


def _weight(pair: Pair, base: float, new: float) -> float:
    """By what part of itself a change of the row moves the ratio of the sums, as logarithms."""
    old = _total(pair.base.timing, pair.base.count) / base if pair.base else 0.0
    now = _total(pair.new.timing, pair.new.count) / new if pair.new else 0.0
    return (old + now) / 2 if pair.base and pair.new else old + now


def _own_half_width(part: _Part) -> float | None:
    """Half of the interval of what rounds tell of the row: of its ratio, or where it is in one result of its time."""
    row, pair, _ = part
    if pair.base and pair.new:
        return _half_width(row.low, row.high)
    timing = pair.either.timing
    return _half_width(timing.low, timing.high) if timing else None


def _half_width(low: float | None, high: float | None) -> float | None:
    return math.log(high / low) / 2 if low and high else None


def _root_of_squares(halves: Sequence[float | None]) -> float | None:
    """None where one of them is not known."""
    known = [half for half in halves if half is not None]
    return math.hypot(*known) if len(known) == len(halves) else None


def _interval(log: float, half: float | None) -> tuple[float | None, float | None]:
    return (None, None) if half is None else (math.exp(log - half), math.exp(log + half))
