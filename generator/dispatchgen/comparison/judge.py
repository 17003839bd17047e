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
from dispatchgen.comparison.reach import Reach, reach_of
from dispatchgen.comparison.schema import Criteria, Row, Verdict
from dispatchgen.comparison.statistics import Differences, Floats, adjusted, differences, normal_quantile
from dispatchgen.results.estimate import CONFIDENCE, FEWEST
from dispatchgen.results.lean import Timing


@dataclass(frozen=True)
class Judged:
    """Rows with verdicts, and by what they were made."""

    rows: tuple[Row, ...]
    criteria: Criteria
    #: By row: by how much the runs may differ anyway, as half of a 95 % interval of the logarithm.
    between: tuple[float, ...]


@dataclass(frozen=True)
class _Tested:
    """The pairs that both results have enough rounds of; arrays are by pair."""

    indices: Sequence[int]
    logs: Differences  #: Logarithms of NEW by BASE.
    p: Floats  #: Adjusted.
    floor: Floats  #: Of the logarithms: by the relative or the absolute floor, whichever is more.
    same_code: npt.NDArray[np.bool_]


def judge(
    pairs: Sequence[Pair], missing: Missing, options: Options, *, paired: bool, same_environment: bool = False
) -> Judged:
    """A row with its verdict for each pair.

    Args:
      missing: Why what is only in BASE is not in NEW.
      paired: Whether both were measured at once: then rounds with the same number are compared.
      same_environment: Whether both were measured on the same machine by the same runtime.
    """
    trusted = same_environment and options.trust_code
    rows = [present(pair, missing, options) for pair in pairs]
    tested = _test(pairs, rows, options, paired=paired)
    reach = reach_of([rows[index] for index in tested.indices], tested.logs, tested.same_code, options, paired=paired)
    threshold = np.maximum(tested.floor, reach.at(reach.beyond))
    logs = tested.logs
    numbers = np.array([logs.mean, logs.low, logs.high, tested.p, tested.floor, threshold]).T.tolist()
    for index, found in zip(tested.indices, numbers, strict=True):
        rows[index] = _told(
            rows[index], *found, options=options, is_same=trusted and _is_same(rows[index], pairs[index])
        )
    return Judged(tuple(rows), _criteria(reach, options), _between(reach, tested.indices, len(rows)))


def _criteria(reach: Reach, options: Options) -> Criteria:
    return Criteria(
        options.floor,
        options.absolute_floor,
        options.alpha,
        reach.scale,
        reach.source,
        reach.beyond,
        math.exp(reach.together),
    )


def _between(reach: Reach, indices: Sequence[int], rows: int) -> tuple[float, ...]:
    """What rows may differ by anyway; what was not tested is like the others."""
    halves = reach.at(normal_quantile(CONFIDENCE))
    found = [float(np.median(halves)) if halves.size else 0.0] * rows
    for index, half in zip(indices, halves.tolist(), strict=True):
        found[index] = half
    return tuple(found)


def _test(pairs: Sequence[Pair], rows: Sequence[Row], options: Options, *, paired: bool) -> _Tested:
    indices: list[int] = []
    olds: list[Sequence[float]] = []
    news: list[Sequence[float]] = []
    floors: list[float] = []
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
            shortest = min(base.timing.seconds, new.timing.seconds)
            floors.append(max(_relative_floor(row, options), options.absolute_floor / shortest))
            same.append(bool(row.same_code))
    logs = differences(olds, news, paired=paired)
    return _Tested(indices, logs, adjusted(logs.p), np.log1p(floors), np.array(same, dtype=np.bool_))


def _relative_floor(row: Row, options: Options) -> float:
    """The smallest relative difference that counts: what a benchmark's own limit is about is no less."""
    return options.floor if row.limit is None else min(options.floor, row.limit)


def _rounds(base: Timing, new: Timing, *, paired: bool) -> tuple[Sequence[float], Sequence[float]]:
    """Time of each round that is compared."""
    if not paired:
        return base.fastest, new.fastest
    old = dict(zip(base.rounds, base.fastest, strict=True))
    both = [(old[number], time) for number, time in zip(new.rounds, new.fastest, strict=True) if number in old]
    return [each for each, _ in both], [each for _, each in both]


def _is_same(row: Row, pair: Pair) -> bool:
    """Whether the same code ran on the same data."""
    return bool(row.same_code) and len({each.dispatch.data for each in pair if each and each.dispatch}) < 2


def _told(
    row: Row,
    log: float,
    low: float,
    high: float,
    p: float,
    floor: float,
    threshold: float,
    *,
    options: Options,
    is_same: bool,
) -> Row:
    """The row of a tested pair. All but `p` are logarithms."""
    verdict: Verdict = "noisy"
    reason = None
    if p < options.alpha and abs(log) >= threshold and is_same:
        reason = "code, data, runtime and machine are the same: what differs is noise"
    elif p < options.alpha and abs(log) >= threshold:
        verdict = "slower" if log > 0 else "faster"
        if row.same_code:
            reason = "the code is the same: the machine or the runtime differs"
    elif -floor <= low and high <= floor:
        verdict = "same"
        if max(abs(low), abs(high)) > math.log1p(_relative_floor(row, options)):
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
