"""How often verdicts are wrong, on simulated noise: one-sided, with a slow state that stays a while."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import lean_results
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.schema import Comparison
from dispatchgen.results import lean

_BENCHMARKS = 100
_ROUNDS = 20
_COMPARISONS = 50
#: Benchmarks of each comparison whose code is changed.
_CHANGED = 10
#: The slow state of the machine: how much slower, what part of the time, and for how many processes on average.
_SLOW, _PART, _BURST = 1.3, 0.1, 15


def _rounds(chance: np.random.Generator) -> npt.NDArray[np.float64]:
    """Times by benchmark and round: a millisecond, and noise of 1 % and the slow state on top.

    A round runs all benchmarks in another order. A burst of the slow state meets neighbours, and may last into the next
    round.
    """
    turns = chance.random(_ROUNDS * _BENCHMARKS)
    enter, leave = _PART / (1 - _PART) / _BURST, 1 / _BURST
    slow, state = np.zeros(len(turns), dtype=bool), False
    for turn, drawn in enumerate(turns):
        state = drawn >= leave if state else drawn < enter
        slow[turn] = state
    order = chance.permuted(np.tile(np.arange(_BENCHMARKS), (_ROUNDS, 1)), axis=1)
    by_round = np.empty((_ROUNDS, _BENCHMARKS), dtype=bool)
    np.put_along_axis(by_round, order, slow.reshape(_ROUNDS, _BENCHMARKS), axis=1)
    noise = 1 + np.abs(chance.normal(0, 0.01, (_BENCHMARKS, _ROUNDS)))
    return np.asarray(1e-3 * noise * np.where(by_round.T, _SLOW, 1.0))


def _run(seed: int, run: str, *, session: str | None, slower: float) -> lean.Results:
    """A run in which the first benchmarks are slower by that factor."""
    chance = np.random.default_rng((seed, run == "new"))
    times = _rounds(chance)
    times[:_CHANGED] *= slower
    named = {f"kernel_{index}": list(map(float, row)) for index, row in enumerate(times)}
    code = {name: run if slower != 1 and index < _CHANGED else "same" for index, name in enumerate(named)}
    return lean_results.of_rounds(named, id=run, session=session, code=code)


def _comparison(seed: int, *, session: str | None, slower: float = 1.0) -> Comparison:
    base = _run(seed, "base", session=session, slower=1.0)
    return compare(base, _run(seed, "new", session=session, slower=slower))


@pytest.mark.parametrize("session", [None, "at once"])
def test_the_same_is_hardly_ever_called_faster_or_slower(session: str | None) -> None:
    wrong = 0
    for seed in range(_COMPARISONS):
        counts = _comparison(seed, session=session).counts
        wrong += counts["faster"] + counts["slower"]
    assert wrong < 0.01 * _COMPARISONS * _BENCHMARKS


@pytest.mark.parametrize("session", [None, "at once"])
def test_a_kernel_that_is_slower_by_a_tenth_is_found(session: str | None) -> None:
    found = wrong = 0
    for seed in range(_COMPARISONS):
        rows = _comparison(seed, session=session, slower=1.1).rows
        found += sum(row.verdict == "slower" for row in rows[:_CHANGED])
        wrong += sum(row.verdict in ("slower", "faster") for row in rows[_CHANGED:])
    assert found >= 0.95 * _COMPARISONS * _CHANGED
    assert wrong < 0.01 * _COMPARISONS * (_BENCHMARKS - _CHANGED)


def test_a_run_that_is_slow_as_a_whole_gives_no_verdict() -> None:
    base = _run(0, "base", session=None, slower=1.0)
    chance = np.random.default_rng(1)
    times = {f"kernel_{index}": (1.3 * row).tolist() for index, row in enumerate(_rounds(chance))}
    new = lean_results.of_rounds(times, id="new", code=dict.fromkeys(times, "same"))
    comparison = compare(base, new)
    assert comparison.counts["slower"] == comparison.counts["same"] == 0
    assert any("the machine or the runtime differs" in note for note in comparison.notes)
