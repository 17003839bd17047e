"""By how much two runs differ where the code does not: what the rounds within a run cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dispatchgen.comparison.options import Options
from dispatchgen.comparison.schema import Between, Row
from dispatchgen.comparison.statistics import (
    Differences,
    Floats,
    scale_around_median,
    scale_around_zero,
)
from dispatchgen.results.estimate import CONFIDENCE

#: Fewest rows of the same code, or rows at all, that what runs differ by is estimated from.
_FEWEST_ROWS = 10
#: What runs differ by, at least, where nothing tells: standard deviation of the logarithm of their ratio.
_UNKNOWN = 0.02
#: Among all rows, a tail may be changes, and is not looked at: by what factor the noise is wider than its middle tells,
#: of benchmarks some of which differ from run to run by four times as much as others.
_TAIL = 1.3


@dataclass(frozen=True)
class Reach:
    """How far rows reach whose code is the same; all as logarithms of NEW by BASE."""

    source: Between
    scales: Floats  #: By row: standard deviation.
    scale: float | None  #: The same where it is one for all rows that nothing of their own is known of.
    together: float  #: By what rows moved together, at the median; 0: not known, or no matter.
    beyond: float  #: How many standard deviations are needed.

    def at(self, deviations: float) -> Floats:
        """By how much rows differ, at so many standard deviations."""
        # Around zero, the scale has what rows moved by together in it.
        return deviations * self.scales + (abs(self.together) if self.source == "all" else 0.0)


def reach_of(
    rows: Sequence[Row], logs: Differences, same_code: npt.NDArray[np.bool_], options: Options, *, paired: bool
) -> Reach:
    """What is known of it, for rows that were tested.

    Args:
      same_code: Of each row, whether its module is the same in both.
      paired: Whether both were measured at once: then there is nothing between the runs.
    """
    number = len(rows)
    beyond = options.beyond(number)
    own = np.array([options.noise.get(row.key_in_base, math.nan) for row in rows]) * math.sqrt(2)  # of two runs
    known = ~np.isnan(own)
    if not paired and number and 2 * known.sum() >= number:
        # The others were added later, by one run: they are taken to be as those that differ the most.
        return Reach("repeated", np.where(known, own, np.quantile(own[known], CONFIDENCE)), None, 0.0, beyond)
    judges = ~np.array([row.ignored for row in rows], dtype=np.bool_)
    source, scales, together = _among(logs, judges, same_code & judges, paired=paired)
    scale = float(scales[0]) if number and source in ("same-code", "all") else None
    return Reach(source, np.where(known, own, scales), scale, together, beyond)


def _among(
    logs: Differences, judges: npt.NDArray[np.bool_], same_code: npt.NDArray[np.bool_], *, paired: bool
) -> tuple[Between, Floats, float]:
    """What these results tell: from what, the scale by row, and by what rows moved together."""
    every = np.ones(len(logs.mean))
    if paired:
        return "at-once", 0 * every, 0.0
    if same_code.sum() >= _FEWEST_ROWS:
        same = logs.mean[same_code]
        return "same-code", scale_around_zero(same) * every, float(np.median(same))
    if judges.sum() >= _FEWEST_ROWS:
        moved = logs.mean[judges]
        return "all", _TAIL * scale_around_median(moved) * every, float(np.median(moved))
    return "rounds", np.maximum(logs.spread, _UNKNOWN), 0.0
