"""Trimmed means of rounds, and tests of their differences, for many rows at once.

Means are of logarithms, since noise is a factor, and of the middle half, since now and then a whole round is disturbed
(`results.estimate`). The test is Yuen's (K. K. Yuen, "The two-sample trimmed t for unequal population variances",
1974), as `scipy.stats.ttest_ind` has it with `trim`; here each side is computed once per number of rounds, since rows
of adaptive runs have all combinations of two numbers. `scipy.stats` itself is not imported: that alone takes as long as
comparing 20,000 rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from dispatchgen.results.estimate import CONFIDENCE, TRIM

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Means of rows, or differences of means."""

    mean: Floats
    variance: Floats  #: Of the mean.
    freedom: Floats  #: Degrees of freedom of the variance.

    def interval(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence intervals."""
        half = special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2) * np.sqrt(self.variance)
        return self.mean - half, self.mean + half

    def p_values(self) -> Floats:
        """How probable means this far from 0 are where the true mean is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.mean) / np.sqrt(self.variance)
        # Without any noise, any difference is one: the clock is coarser than the noise.
        t = np.where(self.variance > 0, t, np.where(self.mean == 0, 0.0, np.inf))
        return np.asarray(2 * special.stdtr(self.freedom, -t), dtype=np.float64)


def trimmed_means(rows: Sequence[Sequence[float]]) -> Means:
    """The trimmed means of the logarithms of each row; rows may have different lengths, of at least two."""
    found = Means(*(np.empty(len(rows)) for _ in range(3)))
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        by_length[len(row)].append(index)
    for length, indices in by_length.items():
        values = np.sort(np.log(np.array([rows[index] for index in indices], dtype=np.float64)), axis=1)
        cut = int(TRIM * length)
        kept = length - 2 * cut
        winsorized = np.clip(values, values[:, [cut]], values[:, [length - cut - 1]])
        found.mean[indices] = values[:, cut : length - cut].mean(axis=1)
        found.variance[indices] = winsorized.var(axis=1, ddof=1) * (length - 1) / (kept * (kept - 1))
        found.freedom[indices] = kept - 1
    return found


def difference(base: Means, new: Means) -> Means:
    """NEW - BASE of independent means, with Welch's degrees of freedom."""
    variance = base.variance + new.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = variance**2 / (base.variance**2 / base.freedom + new.variance**2 / new.freedom)
    return Means(new.mean - base.mean, variance, np.where(variance > 0, freedom, 1.0))


def adjusted(p_values: Floats) -> Floats:
    """The p-values for the false discovery rate to be controlled (Benjamini and Hochberg)."""
    order = np.argsort(p_values)[::-1]
    number = len(p_values)
    found = np.empty(number)
    found[order] = np.minimum.accumulate(p_values[order] * number / np.arange(number, 0, -1))
    return found


def scale_around_zero(values: Floats) -> float:
    """A robust standard deviation of values whose true mean is 0."""
    return float(np.median(np.abs(values)) / special.ndtri(0.75))
