"""What the rows mean for the models: sums of time x count, and the geometric mean.

Errors of times are independent: half-widths of intervals add up as squares do, each by its part of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dispatchgen.comparison.match import Pair, same_sizes
from dispatchgen.comparison.schema import CallEffect, GeometricMean, Row
from dispatchgen.results.lean import Timing


@dataclass
class _Call:
    """The rows of a call that are the compiler's own, with warm caches."""

    dispatches: list[tuple[Row, Pair]] = field(default_factory=list)
    whole_model: Row | None = None


def call_effects(rows: Sequence[Row], pairs: Sequence[Pair]) -> tuple[CallEffect, ...]:
    """The effect on each call that dispatches were measured of in both results, in the order of the rows."""
    calls: dict[tuple[str, str, str, str], _Call] = {}
    for row, pair in zip(rows, pairs, strict=True):
        if row.variant or row.caches != "warm" or row.kind == "initializer":
            continue
        call = calls.setdefault((row.model, row.backend, row.device, row.call), _Call())
        if row.kind == "model":
            call.whole_model = row
        elif row.count is not None:
            call.dispatches.append((row, pair))
    effects = (_effect(where, call) for where, call in calls.items())
    return tuple(effect for effect in effects if effect is not None)


def geometric_mean(rows: Iterable[Row]) -> GeometricMean | None:
    """The geometric mean of the ratios of all dispatches; None: there are none."""
    own = [row for row in rows if row.ratio and row.kind != "model" and not row.variant and row.caches == "warm"]
    own = [row for row in own if row.p is not None] or own  # what was measured once says little
    if not own:
        return None
    log = math.fsum(math.log(row.ratio) for row in own if row.ratio) / len(own)
    halves = [_half_width(row.low, row.high) for row in own]
    half = _root_of_squares(halves)
    low, high = _interval(log, None if half is None else half / len(own))
    return GeometricMean(math.exp(log), low, high, len(own))


def _effect(where: tuple[str, str, str, str], call: _Call) -> CallEffect | None:
    used = call.dispatches
    # Where all was measured, sums are of all: what was fused or split has no counterpart, and counts all the same.
    whole = bool(used) and all(_measured(pair) for _, pair in used) and _same_call(used)
    if not whole:
        used = [(row, pair) for row, pair in used if row.ratio is not None]
    base = math.fsum(_total(pair.base.timing, pair.base.count) for _, pair in used if pair.base)
    new = math.fsum(_total(pair.new.timing, pair.new.count) for _, pair in used if pair.new)
    if not base or not new:
        return None
    half = _root_of_squares([_weighted_half_width(row, pair, base, new) for row, pair in used])
    low, high = _interval(math.log(new / base), half)
    model = call.whole_model
    return CallEffect(
        *where,
        base=base,
        new=new,
        ratio=new / base,
        low=low,
        high=high,
        dispatches=sum(pair.new is not None for _, pair in used),
        left_out=len(call.dispatches) - len(used),
        whole_model=model.ratio if model else None,
        whole_model_verdict=model.verdict if model and model.ratio else None,
    )


def _measured(pair: Pair) -> bool:
    base, new = pair
    return (base is None or base.timing is not None) and (new is None or new.timing is not None)


def _same_call(used: Sequence[tuple[Row, Pair]]) -> bool:
    """Whether the call is the same in both results, and all of it was to be measured."""
    calls = {id(side.call): side.call for _, pair in used for side in (pair.base, pair.new) if side is not None}
    first, *others = calls.values()
    complete = not any(call.coverage.left_out for call in calls.values())
    return complete and all(same_sizes(first, each) for each in others)


def _total(timing: Timing | None, count: int | None) -> float:
    return timing.seconds * count if timing is not None and count is not None else 0.0


def _weighted_half_width(row: Row, pair: Pair, base: float, new: float) -> float | None:
    """By how much the logarithm of the ratio of sums may be wrong because of this row."""
    old = _total(pair.base.timing, pair.base.count) / base if pair.base else 0.0
    now = _total(pair.new.timing, pair.new.count) / new if pair.new else 0.0
    if pair.base and pair.new:
        half = _half_width(row.low, row.high)
        return None if half is None else half * (old + now) / 2
    timing = pair.either.timing
    half = _half_width(timing.low, timing.high) if timing else None
    return None if half is None else half * (old + now)


def _half_width(low: float | None, high: float | None) -> float | None:
    return math.log(high / low) / 2 if low and high else None


def _root_of_squares(halves: Sequence[float | None]) -> float | None:
    """None where one of them is not known."""
    known = [half for half in halves if half is not None]
    return math.hypot(*known) if len(known) == len(halves) else None


def _interval(log: float, half: float | None) -> tuple[float | None, float | None]:
    return (None, None) if half is None else (math.exp(log - half), math.exp(log + half))
