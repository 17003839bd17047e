"""Tests of differences between rounds of many rows at once: scipy's.

Rounds become blocks, and means are of logarithms and of the middle half: `results.estimate` has it, and why. Blocks of
both sides have the same number of rounds: the fastest of many is faster than that of few. The test is Yuen's
(K. K. Yuen, "The two-sample trimmed t for unequal population variances", 1974): `scipy.stats.ttest_ind` with `trim`.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy import stats

from dispatchgen.results.estimate import CONFIDENCE, TRIM, block_size, trimmed

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Differences:
    """Differences of logarithms, by row."""

    mean: Floats
    low: Floats  #: Lower end of the confidence interval.
    high: Floats  #: Its upper end.
    p: Floats  #: How probable one this large is where there is none.
    spread: Floats  #: Standard deviation, robust, of the difference of two blocks.


def differences(base: Sequence[Sequence[float]], new: Sequence[Sequence[float]], *, paired: bool) -> Differences:
    """By what the rounds of NEW differ from those of BASE, row by row.

    Args:
      base: Times of the rounds of each row, at least two; rows may have different lengths.
      new: The same of NEW.
      paired: Whether the rounds of a row belong together, one by one.
    """
    found = Differences(*(np.empty(len(base)) for _ in range(5)))
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (old, later) in enumerate(zip(base, new, strict=True)):
        groups[len(old), len(later)].append(index)
    for lengths, indices in groups.items():
        size = block_size(min(lengths))
        old_logs, new_logs = (
            np.log(_fastest_of_blocks(np.array([rows[index] for index in indices]), size)) for rows in (base, new)
        )
        if paired:  # a test of one sample: zeros have no variance
            old_logs, new_logs = np.zeros_like(old_logs), new_logs - old_logs
        of_group = _tested(old_logs, new_logs)
        for all_rows, values in zip(vars(found).values(), vars(of_group).values(), strict=True):
            all_rows[indices] = values
    return found


def _fastest_of_blocks(rounds: Floats, size: int) -> Floats:
    """`results.estimate.fastest_of_blocks`, of many rows at once."""
    number = rounds.shape[1] // size
    starts = range(0, rounds.shape[1], number)
    padded = np.pad(rounds, ((0, 0), (0, len(starts) * number - rounds.shape[1])), constant_values=np.inf)
    return np.asarray(padded.reshape(len(rounds), len(starts), number).min(axis=1))


def _tested(old: Floats, new: Floats) -> Differences:
    trim = _trim(old.shape[1], new.shape[1])
    mean = np.asarray(stats.trim_mean(new, trim, axis=1) - stats.trim_mean(old, trim, axis=1))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rounds that are equal: below
        test = stats.ttest_ind(new, old, axis=1, equal_var=False, trim=trim)
        low, high = test.confidence_interval(CONFIDENCE)
    # Without any noise any difference is one: the clock is coarser than the noise.
    p = np.where(np.isnan(test.pvalue), mean == 0, test.pvalue)
    spread = np.hypot(*(stats.median_abs_deviation(each, axis=1, scale="normal") for each in (old, new)))
    return Differences(mean, np.where(np.isnan(low), mean, low), np.where(np.isnan(high), mean, high), p, spread)


def _trim(*blocks: int) -> float:
    """The part that is trimmed of both sides: a hair less than `TRIM` where that left too few blocks of one."""
    return TRIM if all(int(TRIM * each) == trimmed(each) for each in blocks) else math.nextafter(TRIM, 0)


def adjusted(p_values: Floats) -> Floats:
    """The p-values for the false discovery rate to be controlled (Benjamini and Hochberg)."""
    return np.asarray(stats.false_discovery_control(p_values)) if p_values.size else p_values


def scale_around_zero(values: Floats) -> float:
    """A standard deviation of values whose true mean is 0: robust, but no less than their tail shows.

    Values that differ in how much they vary have a wider tail than the middle of them tells.
    """
    deviations = np.abs(values)
    tail = np.quantile(deviations, CONFIDENCE) / normal_quantile(CONFIDENCE)
    return float(max(np.median(deviations) / normal_quantile(0.5), tail))


def scale_around_median(values: Floats) -> float:
    """A robust standard deviation of values, of which up to half may be of another kind."""
    return float(stats.median_abs_deviation(values, scale="normal"))


def normal_quantile(part: float) -> float:
    """Within how many standard deviations this part of normal values is, on both sides together."""
    return NormalDist().inv_cdf((1 + part) / 2)
