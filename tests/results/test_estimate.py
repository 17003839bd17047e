from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dispatchgen.results.estimate import block_size, estimate, fastest_of_blocks, middle


@given(st.lists(st.floats(1e-6, 1e-5), min_size=4, max_size=40, unique=True))
def test_it_is_what_scipy_has(rounds: list[float]) -> None:
    logs = np.log(fastest_of_blocks(rounds, block_size(len(rounds))))
    trim = 0.25 if len(logs) > 4 else 0.0  # of four, two would be left
    test = stats.ttest_ind(logs, np.zeros_like(logs), equal_var=False, trim=trim)
    low, high = test.confidence_interval(0.95)
    found = estimate(rounds)
    assert found.low is not None and found.high is not None
    assert found.seconds == pytest.approx(math.exp(stats.trim_mean(logs, trim)), rel=1e-9)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((low, high), rel=1e-6)
    assert found.noise == pytest.approx(stats.median_abs_deviation(np.log(rounds), scale="normal"), abs=1e-9)


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


def test_a_machine_that_is_slow_half_of_the_time_does_not_matter_in_many_rounds() -> None:
    chance = random.Random(0)
    rounds = [1.0 + chance.uniform(0, 0.01) + 0.4 * (chance.random() < 0.5) for _ in range(60)]
    found = estimate(rounds)
    assert found.seconds == middle(rounds) < 1.01
    assert found.half_width is not None and found.half_width < 0.005
    few = estimate(rounds[:10])
    assert few.half_width is not None and few.half_width > 0.1


@given(st.integers(1, 200), st.integers(1, 20))
def test_each_round_is_in_one_block(rounds: int, size: int) -> None:
    assume(size <= rounds)
    blocks = fastest_of_blocks([float(each) for each in range(rounds)], size)
    assert len(blocks) == rounds // size
    assert blocks == [float(each) for each in range(len(blocks))]  # its first, and the others behind it
    assert block_size(rounds) == 1 or rounds // block_size(rounds) >= 10


def test_fewer_than_three_rounds_have_no_interval() -> None:
    assert estimate([1.0, 4.0]).seconds == pytest.approx(2.0)
    assert estimate([1.0, 4.0]).half_width is None
    assert estimate([3.0]).seconds == 3.0
    assert estimate([2.0] * 3).half_width == 0
    assert math.isclose(estimate([0.0, 0.0, 5.0]).seconds, 0.0)
