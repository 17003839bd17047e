"""The statistics are those of scipy, for rows of any lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dispatchgen.comparison.statistics import adjusted, difference, scale_around_zero, trimmed_means

_TIMES = st.floats(1e-7, 1e3, allow_nan=False)
_ROUNDS = st.lists(_TIMES, min_size=3, max_size=23, unique=True)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(_ROUNDS, _ROUNDS), min_size=1, max_size=6))
def test_differences_are_those_of_yuens_test(rows: list[tuple[list[float], list[float]]]) -> None:
    found = difference(trimmed_means([old for old, _ in rows]), trimmed_means([new for _, new in rows]))
    low, high = found.interval()
    for index, (old, new) in enumerate(rows):
        expected = stats.ttest_ind(np.log(new), np.log(old), equal_var=False, trim=0.25)
        interval = expected.confidence_interval(0.95)
        assert found.p_values()[index] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
        assert (low[index], high[index]) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(_ROUNDS)
def test_one_sample_is_the_test_against_zeros(rounds: list[float]) -> None:
    found = trimmed_means([rounds])
    expected = stats.ttest_ind(np.log(rounds), np.zeros(len(rounds)), equal_var=False, trim=0.25)
    assert found.p_values()[0] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert found.mean[0] == pytest.approx(stats.trim_mean(np.log(rounds), 0.25))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_p_values_are_adjusted_as_scipy_does(p_values: list[float]) -> None:
    found = adjusted(np.array(p_values))
    assert list(found) == pytest.approx(list(stats.false_discovery_control(p_values)))


def test_without_noise_any_difference_is_one() -> None:
    flat, other = trimmed_means([[2.0] * 5, [2.0] * 5]), trimmed_means([[2.0] * 5, [2.1] * 5])
    found = difference(flat, other)
    assert list(found.p_values()) == [1.0, 0.0]
    low, high = found.interval()
    assert list(low) == list(high) == list(found.mean)


def test_nothing_is_compared_where_there_is_nothing() -> None:
    assert not trimmed_means([]).mean.size
    assert not adjusted(np.empty(0)).size


def test_the_scale_is_a_standard_deviation_and_does_not_mind_outliers() -> None:
    values = np.random.default_rng(0).normal(0, 0.02, 1000)
    values[:100] = 5
    assert scale_around_zero(values) == pytest.approx(0.02, rel=0.2)
    assert scale_around_zero(np.full(10, 0.1)) == pytest.approx(0.148, rel=0.01)
