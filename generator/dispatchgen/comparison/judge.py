"""What can be told of each pair of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from dispatchgen.comparison.match import Pair
from dispatchgen.comparison.options import Options
from dispatchgen.comparison.presence import Missing, present
from dispatchgen.comparison.schema import Between, Criteria, Row, Verdict
from dispatchgen.comparison.statistics import Differences, Floats, adjusted, differences, scale_around_zero
from dispatchgen.results.estimate import FEWEST
from dispatchgen.results.lean import Timing

#: Fewest rows of the same code, or rows at all, that what runs differ by is estimated from.
FEWEST_ROWS = 10


@dataclass(frozen=True)
class Judged:
    """Rows with verdicts, and by what they were made."""

    rows: tuple[Row, ...]
    criteria: Criteria
    together: float  #: By what the rows that runs are compared by moved together, as a ratio.


@dataclass(frozen=True)
class _Tested:
    """The pairs that both results have enough rounds of; arrays are by pair."""

    indices: Sequence[int]
    logs: Differences  #: Logarithms of NEW by BASE.
    p: Floats  #: Adjusted.
    floor: Floats  #: Of the logarithms: by the relative or the absolute floor, whichever is more.
    same_code: npt.NDArray[np.bool_]


def judge(pairs: Sequence[Pair], missing: Missing, options: Options, *, paired: bool) -> Judged:
    """A row with its verdict for each pair.

    Args:
      missing: Why what is only in BASE is not in NEW.
      paired: Whether both were measured at once: then rounds with the same number are compared.
    """
    rows = [present(pair, missing, options) for pair in pairs]
    tested = _test(pairs, rows, options, paired=paired)
    between, criteria, together = _between(rows, tested, options, paired=paired)
    threshold = np.maximum(tested.floor, criteria.beyond * between)
    numbers = np.array(
        [tested.logs.mean, tested.logs.low, tested.logs.high, tested.p, tested.floor, threshold]
    ).T.tolist()
    for index, found in zip(tested.indices, numbers, strict=True):
        rows[index] = _told(rows[index], *found, options=options)
    return Judged(tuple(rows), criteria, together)


def _test(pairs: Sequence[Pair], rows: Sequence[Row], options: Options, *, paired: bool) -> _Tested:
    indices: list[int] = []
    olds: list[Sequence[float]] = []
    news: list[Sequence[float]] = []
    shortest: list[float] = []
    same: list[bool] = []
    for index, ((base, new), row) in enumerate(zip(pairs, rows, strict=True)):
        if base is None or new is None or base.timing is None or new.timing is None:
            continue
        old_rounds, new_rounds = _rounds(base.timing, new.timing, paired=paired)
        enough = len(old_rounds) >= FEWEST and len(new_rounds) >= FEWEST
        if enough and min(old_rounds) > 0 and min(new_rounds) > 0:
            indices.append(index)
            olds.append(old_rounds)
            news.append(new_rounds)
            shortest.append(min(base.timing.seconds, new.timing.seconds))
            same.append(bool(row.same_code))
    logs = differences(olds, news, paired=paired)
    floor = np.log1p(np.maximum(options.floor, options.absolute_floor / np.array(shortest)))
    return _Tested(indices, logs, adjusted(logs.p), floor, np.array(same, dtype=np.bool_))


def _rounds(base: Timing, new: Timing, *, paired: bool) -> tuple[Sequence[float], Sequence[float]]:
    """Time of each round that is compared."""
    if not paired:
        return base.fastest, new.fastest
    old = dict(zip(base.rounds, base.fastest, strict=True))
    both = [(old[number], time) for number, time in zip(new.rounds, new.fastest, strict=True) if number in old]
    return [each for each, _ in both], [each for _, each in both]


def _between(rows: Sequence[Row], tested: _Tested, options: Options, *, paired: bool) -> tuple[Floats, Criteria, float]:
    """By what the same code differs between the runs, by pair: standard deviation of the logarithm."""
    logs = tested.logs.mean
    same = logs[tested.same_code]
    scale: float | None = None
    source: Between = "rounds"
    between = tested.logs.spread.copy()
    moved = logs[:0]
    if paired:
        source, between = "at-once", np.zeros(len(logs))
    elif len(same) >= FEWEST_ROWS:
        source, moved = "same-code", same
    elif len(logs) >= FEWEST_ROWS:
        source, moved = "all", logs
    if len(moved):
        scale = scale_around_zero(moved)
        between = np.full(len(logs), scale)
    known = 0
    for place, index in enumerate(tested.indices if options.noise else ()):
        noise = options.noise.get(rows[index].key)
        if noise is not None:
            between[place] = noise * math.sqrt(2)  # of two runs, each with that deviation
            known += 1
    if known and known == len(logs):
        scale, source, moved = None, "repeated", logs[:0]
    criteria = Criteria(options.floor, options.absolute_floor, options.alpha, scale, source)
    return between, criteria, math.exp(float(np.median(moved))) if len(moved) else 1.0


def _told(
    row: Row, log: float, low: float, high: float, p: float, floor: float, threshold: float, *, options: Options
) -> Row:
    """The row of a tested pair. All but `p` are logarithms."""
    verdict: Verdict = "noisy"
    reason = None
    if p < options.alpha and abs(log) >= threshold:
        verdict = "slower" if log > 0 else "faster"
        if row.same_code:
            reason = "the code is the same: the machine or the runtime differs"
    elif -floor <= low and high <= floor:
        verdict = "same"
        if max(abs(low), abs(high)) > math.log1p(options.floor):
            reason = f"the difference is below {options.absolute_floor * 1e9:g} ns"
    elif p < options.alpha and abs(log) >= floor:
        reason = f"the runs differ by up to {math.expm1(threshold) * 100:.1f} % anyway"
    return msgspec.structs.replace(
        row,
        verdict=verdict,
        reason=reason,
        ratio=math.exp(log),
        low=math.exp(low),
        high=math.exp(high),
        p=p,
        threshold=math.expm1(threshold),
    )
