"""Differences of rows of any lengths are those of single tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dispatchgen.comparison.statistics import adjusted, differences, scale_around_median, scale_around_zero
from dispatchgen.results.estimate import block_size, estimate, fastest_of_blocks

_TIMES = st.floats(1e-7, 1e3, allow_nan=False)
_ROUNDS = st.lists(_TIMES, min_size=3, max_size=45, unique=True)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(_ROUNDS, _ROUNDS), min_size=1, max_size=6))
def test_each_row_is_tested_by_itself(rows: list[tuple[list[float], list[float]]]) -> None:
    found = differences([old for old, _ in rows], [new for _, new in rows], paired=False)
    for index, (old, new) in enumerate(rows):
        size = block_size(min(len(old), len(new)))
        logs = [np.log(fastest_of_blocks(rounds, size)) for rounds in (new, old)]
        trim = 0.2499 if 4 in map(len, logs) else 0.25  # of four, two would be left
        expected = stats.ttest_ind(*logs, equal_var=False, trim=trim)
        interval = expected.confidence_interval(0.95)
        assert found.p[index] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
        assert (found.low[index], found.high[index]) == pytest.approx(interval, rel=1e-6, abs=1e-9)
        assert found.mean[index] == pytest.approx(stats.trim_mean(logs[0], trim) - stats.trim_mean(logs[1], trim))


@settings(deadline=None, max_examples=60)
@given(_ROUNDS)
def test_pairs_are_one_sample_of_ratios(rounds: list[float]) -> None:
    found = differences([[2.0] * len(rounds)], [[2 * each for each in rounds]], paired=True)
    expected = estimate(rounds)
    assert np.exp(found.mean[0]) == pytest.approx(expected.seconds)
    assert np.exp(found.low[0]) == pytest.approx(expected.low)
    assert np.exp(found.high[0]) == pytest.approx(expected.high)


@pytest.mark.parametrize("paired", [False, True])
def test_without_noise_any_difference_is_one(paired: bool) -> None:
    found = differences([[2.0] * 5] * 2, [[2.0] * 5, [2.1] * 5], paired=paired)
    assert list(found.p) == [1.0, 0.0]
    assert list(found.low) == list(found.high) == list(found.mean)


def test_nothing_is_compared_where_there_is_nothing() -> None:
    assert not differences([], [], paired=False).mean.size
    assert not adjusted(np.empty(0)).size


def test_scales_are_standard_deviations() -> None:
    chance = np.random.default_rng(0)
    values = chance.normal(0, 0.02, 1000)
    assert scale_around_zero(values) == pytest.approx(0.02, rel=0.1)
    assert scale_around_median(values + 0.3) == pytest.approx(0.02, rel=0.1)
    assert scale_around_zero(np.full(10, 0.1)) == pytest.approx(0.148, rel=0.01)
    # What varies more in some of them is in the tail.
    uneven = chance.normal(0, np.where(np.arange(1000) % 5, 0.005, 0.04))
    assert scale_around_zero(uneven) > 2 * scale_around_median(uneven)
    # A tenth that is of another kind does not matter.
    values[:100] = 5
    assert scale_around_median(values) == pytest.approx(0.02, rel=0.2)


def test_more_rounds_than_three_tell_more() -> None:
    rounds = np.exp(np.random.default_rng(0).normal(0, 0.01, (200, 2, 8)))
    widths, of_one = [], []
    for number in range(3, 9):
        old, new = rounds[:, 0, :number].tolist(), rounds[:, 1, :number].tolist()
        found = differences(old, new, paired=False)
        widths.append(np.median(found.high - found.low))
        of_one.append(np.median([estimate(each).half_width for each in old]))
    for each in (widths, of_one):
        assert max(each[1:]) < 0.9 * each[0]
