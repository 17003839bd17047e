"""How long something takes, from rounds of measuring it.

Noise of a machine has one side: other work makes a run slower, nothing makes it faster. So the fastest repetition of a
round stands for the round, and rounds that were disturbed as a whole are trimmed: the middle half of the rounds counts,
in logarithms, since noise is a factor. The interval is that of Yuen's t-test (scipy's `ttest_ind` with `trim`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Part of the rounds that is trimmed at each end.
TRIM = 0.25
#: Fewest rounds that an interval is made of.
FEWEST = 3
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A time in seconds."""

    seconds: float
    low: float | None = None  #: Lower end of the confidence interval.
    high: float | None = None
    noise: float | None = None  #: Robust standard deviation of the logarithms of rounds.

    @property
    def half_width(self) -> float | None:
        """Half of the interval, relative to the time."""
        return None if self.low is None or self.high is None else math.log(self.high / self.low) / 2


def estimate(rounds: Sequence[float]) -> Estimate:
    """The time that rounds stand for.

    Args:
      rounds: Time of each, in seconds, at least one; times of 0 have no logarithm, and no interval.
    """
    if min(rounds) <= 0:
        return Estimate(sorted(rounds)[len(rounds) // 2])
    if len(rounds) < FEWEST:
        return Estimate(math.prod(rounds) ** (1 / len(rounds)))
    import numpy as np
    from scipy import stats

    logs = np.log(np.asarray(rounds, dtype=np.float64))
    middle = float(stats.trim_mean(logs, TRIM))
    noise = float(stats.median_abs_deviation(logs, scale="normal"))
    if np.ptp(logs) == 0:  # the clock is coarser than the noise
        return Estimate(math.exp(middle), math.exp(middle), math.exp(middle), 0.0)
    # Against zeros, which have no variance, it is the test of one sample.
    found = stats.ttest_ind(logs, np.zeros_like(logs), equal_var=False, trim=TRIM)
    low, high = found.confidence_interval(CONFIDENCE)
    return Estimate(math.exp(middle), math.exp(low), math.exp(high), noise)
