from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dispatchgen.results.estimate import estimate


@given(st.lists(st.floats(1e-6, 1e-5), min_size=4, max_size=40, unique=True))
def test_it_is_what_scipy_has(rounds: list[float]) -> None:
    logs = np.log(rounds)
    test = stats.ttest_ind(logs, np.zeros_like(logs), equal_var=False, trim=0.25)
    low, high = test.confidence_interval(0.95)
    found = estimate(rounds)
    assert found.low is not None and found.high is not None
    assert found.seconds == pytest.approx(math.exp(stats.trim_mean(logs, 0.25)), rel=1e-9)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((low, high), rel=1e-6)
    assert found.noise == pytest.approx(stats.median_abs_deviation(logs, scale="normal"), abs=1e-9)


def test_slow_rounds_are_trimmed_and_widen_the_interval() -> None:
    quiet = [1.00, 1.01, 1.02, 1.03, 1.00, 1.01, 1.02, 1.03]
    slow = [*quiet[:-2], 1.4, 1.4]
    assert estimate(slow).seconds < 1.03
    found, disturbed = estimate(quiet), estimate(slow)
    assert found.half_width is not None and disturbed.half_width is not None
    assert found.half_width < disturbed.half_width


@given(st.lists(st.floats(1.0, 1.5), min_size=4, max_size=30))
def test_the_interval_is_around_the_time(rounds: list[float]) -> None:
    found = estimate(rounds)
    assert found.low is not None and found.high is not None and found.half_width is not None
    assert found.low <= found.seconds * (1 + 1e-12) and found.seconds <= found.high * (1 + 1e-12)
    assert found.half_width >= 0


def test_fewer_than_three_rounds_have_no_interval() -> None:
    assert estimate([1.0, 4.0]).seconds == pytest.approx(2.0)
    assert estimate([1.0, 4.0]).half_width is None
    assert estimate([3.0]).seconds == 3.0
    assert estimate([2.0] * 3).half_width == 0
    assert math.isclose(estimate([0.0, 0.0, 5.0]).seconds, 0.0)
