"""Verdicts: what holds for all results."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lean_results
import made_up_results
from dispatchgen.comparison.compare import compare
from dispatchgen.comparison.conditions import failures, floor_of, parse
from dispatchgen.comparison.options import Options
from dispatchgen.comparison.schema import Comparison, Row
from dispatchgen.errors import ComparisonError
from dispatchgen.results.environment_schema import Software
from dispatchgen.results.lean import Key, Results
from dispatchgen.results.schema import Compiled

_SWAPPED = {"faster": "slower", "slower": "faster", "gone": "new", "new": "gone"}


def _rounds(seed: int, benchmark: int, *, noise: float, factor: float, rounds: int) -> list[float]:
    chance = random.Random(f"{seed} {benchmark}")
    return [1e-3 * factor * (1 + abs(chance.gauss(0, noise))) for _ in range(rounds)]


_Runs = tuple[dict[str, list[float]], dict[str, list[float]], dict[str, str]]


@st.composite
def _runs(draw: st.DrawFn) -> _Runs:
    """Rounds in BASE and NEW, and codes; some benchmarks are in one of them only."""
    sides: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    codes = {}
    for benchmark in range(draw(st.integers(1, 16))):
        name = f"kernel_{benchmark}"
        codes[name] = name
        noise = draw(st.sampled_from([0.0, 0.003, 0.02, 0.2]))
        factor = draw(st.sampled_from([1.0, 1.0, 1.0, 1.03, 1.1, 0.8]))
        present = draw(st.sampled_from(["both", "both", "both", "base", "new"]))
        for index, side in enumerate(sides):
            if present in ("both", ("base", "new")[index]):
                rounds = draw(st.sampled_from([2, 3, 5, 10, 11]))
                seed = 2 * draw(st.integers(0, 5)) + index
                side[name] = _rounds(seed, benchmark, noise=noise, factor=factor if index else 1, rounds=rounds)
    return *sides, codes


def _compared(
    base: Mapping[str, Sequence[float]],
    new: Mapping[str, Sequence[float]],
    codes: Mapping[str, str],
    *,
    at_once: bool,
    options: Options | None = None,
) -> Comparison:
    session = "together" if at_once else None
    first, second = (
        lean_results.of_rounds(side, id=run, session=session, code=codes) for run, side in (("a", base), ("b", new))
    )
    return compare(first, second, options or Options())


def _by_name(comparison: Comparison) -> dict[str, Row]:
    return {row.benchmark: row for row in comparison.rows}


@settings(deadline=None, max_examples=40)
@given(_runs(), st.booleans())
def test_swapping_the_results_swaps_verdicts_and_inverts_ratios(runs: _Runs, at_once: bool) -> None:
    base, new, codes = runs
    there = _compared(base, new, codes, at_once=at_once)
    back = _by_name(_compared(new, base, codes, at_once=at_once))
    for name, row in _by_name(there).items():
        other = back[name]
        assert other.verdict == _SWAPPED.get(row.verdict, row.verdict)
        assert other.p == pytest.approx(row.p)
        if row.ratio is not None:
            assert other.ratio == pytest.approx(1 / row.ratio)
        if row.low is not None and row.high is not None:
            assert (other.low, other.high) == pytest.approx((1 / row.high, 1 / row.low))


@settings(deadline=None, max_examples=40)
@given(_runs(), st.booleans(), st.sampled_from([1e-3, 0.5, 8.0, 1e4]))
def test_scaling_all_times_scales_times_only(runs: _Runs, at_once: bool, scale: float) -> None:
    base, new, codes = runs
    first = _compared(base, new, codes, at_once=at_once)
    options = Options(absolute_floor=scale * Options().absolute_floor)
    second = _compared(_scaled(base, scale), _scaled(new, scale), codes, at_once=at_once, options=options)
    assert second.counts == first.counts
    for one, other in zip(first.rows, second.rows, strict=True):
        assert other.verdict == one.verdict
        assert (other.ratio, other.low, other.high) == pytest.approx((one.ratio, one.low, one.high))
        assert (other.base, other.new) == pytest.approx(tuple(each and each * scale for each in (one.base, one.new)))


def _scaled(side: Mapping[str, Sequence[float]], scale: float) -> dict[str, list[float]]:
    return {name: [scale * each for each in rounds] for name, rounds in side.items()}


@settings(deadline=None, max_examples=30)
@given(_runs())
def test_results_beside_themselves_are_the_same_or_noisy(runs: _Runs) -> None:
    base, _, codes = runs
    results = lean_results.of_rounds(base, id="a", code=codes)
    again = msgspec.structs.replace(results, id="b", session="b")
    for new in (results, again):
        assert {row.verdict for row in compare(results, new).rows} <= {"same", "noisy"}


def _steady(factor: float, run: str, count: int = 12) -> dict[str, list[float]]:
    return {
        f"kernel_{index}": made_up_results.rounds_of(
            1e-3 * (factor if index == 0 else 1), noise=0.003, seed=(run, index)
        )
        for index in range(count)
    }


def _first(noise: float | None, *, at_once: bool = False) -> Row:
    base, new = _steady(1, "a"), _steady(1.08, "b")
    names = dict(zip(base, base, strict=True))
    key = Key("model", "cpu", "local", "static", "dispatch", "kernel_0", "", "warm")
    options = Options(noise={} if noise is None else {key: noise})
    return _compared(base, new, names, at_once=at_once, options=options).rows[0]


@pytest.mark.parametrize("at_once", [False, True])
def test_what_repeated_runs_differ_by_is_no_change(at_once: bool) -> None:
    assert _first(None, at_once=at_once).verdict == "slower"
    assert _first(0.01, at_once=at_once).verdict == "slower"
    noisy = _first(0.03, at_once=at_once)
    assert noisy.verdict == "noisy"
    assert noisy.threshold == pytest.approx(0.136, abs=0.001)  # e ^ (3 x 0.03 x the root of 2) - 1


def _of_code(id: str, seconds: float, sha256: str, software: Software, session: str | None) -> Results:
    """Results of one kernel whose module has this hash."""
    row = made_up_results.dispatch("kernel", made_up_results.rounds_of(seconds, noise=0.001, seed=id))
    row = row.model_copy(update={"compiled": Compiled(seconds=None, peak_bytes=None, size=1, sha256=sha256)})
    call = made_up_results.call([row])
    return lean_results.read(made_up_results.results([call], id=id, session=session, software=software))


@pytest.mark.parametrize("at_once", [False, True])
def test_the_same_code_is_called_slower_only_where_the_runtime_may_be_another(at_once: bool) -> None:
    def software(runtime: str | None) -> Software:
        return made_up_results.SOFTWARE.model_copy(update={"runtime": runtime})

    def verdict(before: str | None, after: str | None, *, trust_code: bool = True, code: str = "same") -> str:
        session = "s" if at_once else None
        base = _of_code("a", 1e-3, "same", software(before), session)
        return (
            compare(base, _of_code("b", 1.2e-3, code, software(after), session), Options(trust_code=trust_code))
            .rows[0]
            .verdict
        )

    assert verdict("3.13.0", "3.13.0") == "noisy"
    assert verdict("3.13.0", "3.13.0", trust_code=False) == "slower"
    assert verdict("3.13.0", "3.13.0", code="another") == "slower"
    assert verdict("3.13.0", "3.14.0") == "slower"
    assert verdict(None, None) == "slower"


def test_what_repeated_runs_differ_by_is_known_of_a_renamed_kernel_too() -> None:
    names = [made_up_results.dispatch(name, [1.1e-3] * 5, content="same") for name in ("before", "after")]
    base, new = (
        lean_results.read(made_up_results.results([made_up_results.call([row])], id=row.name)) for row in names
    )
    key = Key("model", "cpu", "local", "static", "dispatch", "before", "", "warm")
    row = compare(base, new, Options(noise={key: 0.05})).rows[0]
    assert row.renamed_from == "before"
    assert row.threshold == pytest.approx(math.expm1(3 * 0.05 * math.sqrt(2)))


def test_pairs_are_rounds_of_one_number() -> None:
    drift = [1.0, 1.3, 0.9, 1.2, 1.1, 1.4]
    base = {"kernel": [1e-3 * each for each in drift]}
    new = {"kernel": [1.05e-3 * each for each in drift]}
    assert _compared(base, new, {}, at_once=True).rows[0].verdict == "slower"
    assert _compared(base, new, {}, at_once=False).rows[0].verdict == "noisy"


def test_times_of_zero_are_not_compared() -> None:
    dispatch = made_up_results.dispatch("kernel", [1e-9] * 5)
    dispatch = dispatch.model_copy(update={"timing": made_up_results.timing([0.0] * 5)})
    base = lean_results.read(made_up_results.results([made_up_results.call([dispatch])]))
    row = compare(base, lean_results.of_rounds({"kernel": [1e-9] * 5}, id="b")).rows[0]
    assert (row.verdict, row.ratio, row.p) == ("noisy", None, None)
    assert "coarse" in (row.reason or "")


def _moved(slower: int, number: int, *, code: bool = False, factor: float = 1.3) -> Comparison:
    names = [f"kernel_{index}" for index in range(number)]
    base, new = (
        {
            name: made_up_results.rounds_of(1e-3 * (by if index < slower else 1), noise=0.003, seed=(run, index))
            for index, name in enumerate(names)
        }
        for run, by in (("a", 1.0), ("b", factor))
    )
    return _compared(base, new, dict.fromkeys(names, "same") if code else {}, at_once=False)


@pytest.mark.parametrize(("slower", "code"), [(11, False), (12, False), (20, False), (20, True)])
def test_what_is_slower_together_fails_a_check(slower: int, code: bool) -> None:
    comparison = _moved(slower, 20, code=code)
    assert comparison.counts["slower"] == 0
    assert comparison.criteria.together == pytest.approx(1.3, abs=0.01)
    assert comparison.counts["same"] == 20 - slower
    for condition, fails in (("slower", True), ("slower:25%", True), ("geomean:3%", True), ("slower:40%", False)):
        found = [each.message for each in failures(comparison, [parse(condition)])]
        assert [" together" in message for message in found] == [True] * fails
    assert not list(failures(comparison, [parse("failed")]))
    # By little, a machine is slower from day to day; and faster is no failure.
    for factor in (1.04, 0.7):
        assert not list(failures(_moved(slower, 20, code=code, factor=factor), [parse("slower")]))


def test_up_to_half_of_the_benchmarks_that_are_slower_are_found() -> None:
    comparison = _moved(8, 20)
    assert (comparison.counts["slower"], comparison.counts["same"]) == (8, 12)


def test_what_runs_of_few_benchmarks_differ_by_is_no_change() -> None:
    assert _moved(1, 4, factor=1.05).counts["slower"] == 0
    assert _moved(1, 4, factor=1.1).counts["slower"] == 1


def test_what_a_baseline_knows_nothing_of_is_like_what_differs_most() -> None:
    base, new = _steady(1, "a", 5), _steady(1, "b", 5)
    where = ("model", "cpu", "local", "static", "dispatch")
    known = {Key(*where, f"kernel_{index}", "", "warm"): 0.01 * index for index in range(1, 5)}
    comparison = _compared(base, new, {}, at_once=False, options=Options(noise=known))
    first, second, *_ = (row.threshold or 0.0 for row in comparison.rows)
    assert comparison.criteria.between_from == "repeated" and comparison.notes == ()
    assert first == pytest.approx(0.173, abs=0.01)  # e ^ (3 x 0.0385 x the root of 2) - 1
    assert second == pytest.approx(0.043, abs=0.001)


@pytest.mark.parametrize(("rounds", "base_rounds"), [(1, 10), (2, 10), (2, 2)])
def test_what_cannot_be_judged_is_no_success(rounds: int, base_rounds: int) -> None:
    base = {f"kernel_{index}": [1e-3] * base_rounds for index in range(12)}
    new = {f"kernel_{index}": [1e-2] * rounds for index in range(12)}
    [problem] = failures(_compared(base, new, {}, at_once=False), [])
    assert problem.message.startswith("nothing could be judged") and "and 2 more" in problem.message
    # Of some: where BASE has what is needed.
    comparison = _compared(base | {"whole": [1e-3] * 3}, new | {"whole": [1e-3] * 3}, {}, at_once=False)
    assert not list(failures(comparison, [parse("failed")]))
    found = [each.message for each in failures(comparison, [parse("slower")])]
    assert ["12 benchmarks were measured in too few rounds" in each for each in found] == [True] * (base_rounds > 2)


def test_a_limit_below_the_floor_lowers_it() -> None:
    base, new = _steady(1, "a"), _steady(1.015, "b")
    for options in (Options(limits=lambda _: 0.01), Options(floor=floor_of(0.02, [parse("slower:1%")]))):
        comparison = _compared(base, new, {}, at_once=True, options=options)
        assert comparison.rows[0].verdict == "slower"
        assert len(list(failures(comparison, [parse("slower:1%")]))) == 1
    assert _compared(base, new, {}, at_once=True).rows[0].verdict == "same"
    assert floor_of(0.02, [parse("slower"), parse("slower:5%"), parse("geomean:1%")]) == 0.02


def test_sums_are_of_what_is_known_in_both() -> None:
    """A count that is known in one result only, and rows of a baseline that are of several runs."""

    def results(run: str, counts: Mapping[str, int | None], *, whole: bool = True) -> Results:
        rows = [
            made_up_results.dispatch(name, made_up_results.rounds_of(1e-3, seed=(run, name))).model_copy(
                update={"count": count}
            )
            for name, count in counts.items()
        ]
        found = lean_results.read(made_up_results.results([made_up_results.call(rows)], id=run))
        call = msgspec.structs.replace(found.calls[0], whole=whole)
        return msgspec.structs.replace(found, calls=(call,))

    both = results("a", {"x": 2, "y": 3})
    lacking = results("b", {"x": 2, "y": None})
    for base, new in ((both, lacking), (lacking, both)):
        [effect] = compare(base, new).calls
        assert effect.ratio == pytest.approx(1, abs=0.01)
        assert (effect.dispatches, effect.left_out) == (1, 1)
    fused = {"xy": 1}
    [effect] = compare(results("a", {"x": 2, "y": 3} | fused, whole=False), results("b", fused)).calls
    assert effect.ratio == pytest.approx(1, abs=0.01)
    assert (effect.dispatches, effect.left_out) == (1, 2)


def test_intervals_of_sums_and_means_hold_what_runs_differ_by() -> None:
    missed = 0
    for seed in range(30):
        chance = random.Random(seed)
        base, new = (
            {
                f"kernel_{index}": made_up_results.rounds_of(1e-3 * by, noise=0.003, seed=(run, seed, index))
                for index in range(12)
            }
            for run, by in (("a", 1.0), ("b", math.exp(chance.gauss(0, 0.014))))
        )
        comparison = _compared(base, new, {}, at_once=False)
        mean = comparison.geometric_mean
        for each in (mean, *comparison.calls):
            assert each is not None and each.low is not None and each.high is not None
            missed += not each.low <= 1 <= each.high
        assert not any("geometric mean" in each.message for each in failures(comparison, [parse("geomean:0.5%")]))
    assert missed <= 3


def test_the_mean_is_of_dispatches_that_count() -> None:
    base, new = _steady(1, "a"), _steady(10, "b")
    codes = dict.fromkeys(base, "same")
    ignored = Options(limits=lambda key: math.inf if key.benchmark == "kernel_0" else None)
    mean = _compared(base, new, codes, at_once=True, options=ignored).geometric_mean
    assert mean is not None and mean.dispatches == 11
    assert mean.ratio == pytest.approx(1, abs=0.01)
    first = lean_results.of_rounds(base, id="a", session="together")
    call = first.calls[0]
    only = msgspec.structs.replace(call, dispatches=(), initializers=call.dispatches)
    initializers = msgspec.structs.replace(first, calls=(only,))
    assert compare(initializers, initializers).geometric_mean is None


def test_limits_are_kept_with_the_rows() -> None:
    base, new = _steady(1, "a"), _steady(1.08, "b")
    limits = {"kernel_0": 0.1, "kernel_1": float("inf")}
    comparison = _compared(base, new, {}, at_once=True, options=Options(limits=lambda key: limits.get(key.benchmark)))
    assert [(row.limit, row.ignored) for row in comparison.rows[:3]] == [(0.1, False), (None, True), (None, False)]


def test_all_differences_of_machines_are_told() -> None:
    base = made_up_results.results([], id="a")
    machine = made_up_results.MACHINE.model_copy(update={"memory_bytes": 1, "container": "docker"})
    new = made_up_results.results([], id="b", machine=machine)
    with pytest.raises(ComparisonError) as raised:
        compare(lean_results.read(base), lean_results.read(new))
    assert len(raised.value.problems) == 2
    assert raised.value.exit_code == 2
    forced = compare(lean_results.read(base), lean_results.read(new), Options(force=True))
    assert len(forced.differences.machine) == 2
