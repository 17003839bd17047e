"""How often verdicts are wrong, on simulated noise: one-sided within a run, slow states that last, and between runs."""

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


def _between(ratio: float) -> npt.NDArray[np.float64]:
    """Standard deviation of each benchmark from run to run: from 1 % by the ratio to 1 % times the ratio."""
    deviations = np.geomspace(0.01 / ratio, 0.01 * ratio, _BENCHMARKS)
    return np.random.default_rng(0).permutation(deviations)


def _run(
    seed: int, run: str, *, session: str | None, slower: float, between: float | None = None, same_code: bool = True
) -> lean.Results:
    """A run in which the first benchmarks are slower by that factor.

    Args:
      between: What `_between` takes; None: runs do not differ.
      same_code: Whether the modules are known: those of the other benchmarks are the same.
    """
    chance = np.random.default_rng((seed, run == "new"))
    times = _rounds(chance)
    times[:_CHANGED] *= slower
    if between is not None:
        times *= np.exp(chance.normal(0, _between(between)))[:, None]
    named = {f"kernel_{index}": list(map(float, row)) for index, row in enumerate(times)}
    if not same_code:
        return lean_results.of_rounds(named, id=run, session=session)
    code = {name: run if slower != 1 and index < _CHANGED else "same" for index, name in enumerate(named)}
    return lean_results.of_rounds(named, id=run, session=session, code=code)


def _comparison(
    seed: int, *, session: str | None, slower: float = 1.0, between: float | None, same_code: bool
) -> Comparison:
    base = _run(seed, "base", session=session, slower=1.0, between=between, same_code=same_code)
    return compare(base, _run(seed, "new", session=session, slower=slower, between=between, same_code=same_code))


#: Measured at once or not; what runs differ by: nothing, the same for all benchmarks, or up to four times as much for
#: some; whether it is known which code is the same.
_MEASURED = [("at once", None, True), (None, None, True), (None, 1.0, True), (None, 2.0, True), (None, 2.0, False)]


@pytest.mark.parametrize(("session", "between", "same_code"), _MEASURED)
def test_the_same_is_hardly_ever_called_faster_or_slower(
    session: str | None, between: float | None, same_code: bool
) -> None:
    wrong = 0
    for seed in range(_COMPARISONS):
        counts = _comparison(seed, session=session, between=between, same_code=same_code).counts
        wrong += counts["faster"] + counts["slower"]
    assert wrong < 0.005 * _COMPARISONS * _BENCHMARKS


@pytest.mark.parametrize(("session", "between", "same_code"), _MEASURED)
def test_a_kernel_that_is_slower_by_a_tenth_is_found(
    session: str | None, between: float | None, same_code: bool
) -> None:
    found = wrong = 0
    comparisons = _COMPARISONS // 2
    for seed in range(comparisons):
        rows = _comparison(seed, session=session, slower=1.1, between=between, same_code=same_code).rows
        found += sum(row.verdict == "slower" for row in rows[:_CHANGED])
        wrong += sum(row.verdict in ("slower", "faster") for row in rows[_CHANGED:])
    assert found >= (0.95 if between in (None, 1.0) else 0.8) * comparisons * _CHANGED
    assert wrong < 0.005 * comparisons * (_BENCHMARKS - _CHANGED)


def test_a_run_that_is_slow_as_a_whole_gives_no_verdict() -> None:
    base = _run(0, "base", session=None, slower=1.0)
    chance = np.random.default_rng(1)
    times = {f"kernel_{index}": (1.3 * row).tolist() for index, row in enumerate(_rounds(chance))}
    new = lean_results.of_rounds(times, id="new", code=dict.fromkeys(times, "same"))
    comparison = compare(base, new)
    assert comparison.counts["slower"] == comparison.counts["same"] == 0
    assert any("the machine or the runtime differs" in note for note in comparison.notes)
