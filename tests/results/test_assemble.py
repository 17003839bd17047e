"""Counts, shares, sums and coverage, from a lock and what was timed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from dispatchgen.extract.schema import INITIALIZER, BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.results.assemble import Measured, benchmarks_of, call_result
from dispatchgen.results.schema import CallResult, DeviceUsed, Settings, Timing, WholeModel

CALL = Call(name="B2", function="main", shape="B2", symbols={"B": 2}, inputs=("2x4xf32",))


def timing(seconds: float) -> Timing:
    return Timing(seconds=seconds, cpu_seconds=seconds, repetitions=(seconds,), iterations=1)


def dispatch(name: str, **counts: Mapping[str, int | None]) -> Dispatch:
    """A dispatch with a benchmark `<name>__<suffix>` for each keyword, with these counts per call."""
    return Dispatch(
        name=name,
        operation=f"{name}_f32",
        executable=f"main_{name}",
        variant="cpu",
        export=f"main_{name}_f32",
        content="0" * 64,
        written=(True,),
        benchmarks=tuple(
            Benchmark(name=f"{name}__{suffix}", workload=(2,), constants=(), bindings=(32,), counts=dict(of_calls))
            for suffix, of_calls in counts.items()
        ),
    )


def result(
    dispatches: tuple[Dispatch, ...],
    timings: Mapping[str, float],
    *,
    failures: Mapping[str, str] | None = None,
    model: float | None = 10.0,
    skipped: tuple[Skipped, ...] = (),
    uncounted: tuple[Skipped, ...] = (),
    only: Collection[str] | None = None,
    call: Call = CALL,
) -> CallResult:
    return call_result(
        model="m",
        device=DeviceUsed(id="sync", uri="local-sync", run_flags=()),
        settings=Settings(min_time=None, repetitions=1, batch_size=1),
        lock=BackendDispatches(backend="cpu", dispatches=dispatches, skipped=skipped, uncounted=uncounted),
        call=call,
        measured=Measured({name: timing(seconds) for name, seconds in timings.items()}, failures or {}),
        whole_model=WholeModel(timing=None if model is None else timing(model), failure=None if model else "crashed"),
        only=only,
    )


def test_the_sum_is_of_time_times_count_of_this_call_alone() -> None:
    dispatches = (dispatch("a", x={"B2": 3, "B7": 100}), dispatch("b", x={"B2": 1}), dispatch("c", x={"B7": 1}))
    call = result(dispatches, {"a__x": 2.0, "b__x": 3.0, "c__x": 50.0})
    assert [(row.benchmark, row.count, row.total_seconds) for row in call.dispatches] == [
        ("a__x", 3, 6.0),
        ("b__x", 1, 3.0),
    ]
    assert call.sum_seconds == 9.0
    assert call.sum_by_model == pytest.approx(0.9)
    assert [row.share for row in call.dispatches] == [pytest.approx(0.6), pytest.approx(0.3)]
    assert (call.coverage.dispatches, call.coverage.measured) == (2, 2)


def test_without_the_models_time_shares_are_of_the_sum() -> None:
    call = result((dispatch("a", x={"B2": 1}), dispatch("b", x={"B2": 1})), {"a__x": 1.0, "b__x": 3.0}, model=None)
    assert [row.share for row in call.dispatches] == [0.75, 0.25]
    assert call.sum_by_model is None
    assert call.whole_model.failure == "crashed"


def test_where_sizes_are_overridden_the_models_time_is_not_compared() -> None:
    dispatches = (dispatch("a", x={"B2": 1}), dispatch("b", x={"B2": 1}))
    overridden = CALL.model_copy(update={"overrides": {"sum_f32": 5}})
    call = result(dispatches, {"a__x": 1.0, "b__x": 3.0}, call=overridden)
    assert (call.overrides, call.sum_seconds, call.sum_by_model) == ({"sum_f32": 5}, 4.0, None)
    assert [row.share for row in call.dispatches] == [0.75, 0.25]
    assert call.whole_model.timing is not None


def test_what_is_skipped_at_load_is_told_of_at_every_call() -> None:
    skip = Skipped(executable="e", export="main", operation="main", calls=(INITIALIZER,), reason="read back")
    call = result((dispatch("a", x={"B2": 1}),), {"a__x": 1.0}, skipped=(skip,))
    assert [each.reason for each in call.skipped] == ["read back"]
    assert (call.coverage.dispatches, call.coverage.measured, call.coverage.skipped) == (2, 1, 1)


def test_an_unknown_count_is_not_in_the_sum() -> None:
    loop = Skipped(executable="main_a", export="main_a_f32", operation="a_f32", calls=("B2",), reason="a loop")
    elsewhere = Skipped(executable="main_b", export="main_b_f32", operation="b_f32", calls=("B7",), reason="a branch")
    dispatches = (dispatch("a", x={"B2": None}), dispatch("b", x={"B2": 2}))
    call = result(dispatches, {"a__x": 2.0, "b__x": 3.0}, uncounted=(loop, elsewhere))
    assert [(row.benchmark, row.count, row.total_seconds) for row in call.dispatches] == [
        ("b__x", 2, 6.0),
        ("a__x", None, None),
    ]
    assert call.sum_seconds == 6.0
    assert [each.reason for each in call.uncounted] == ["a loop"]
    assert (call.coverage.dispatches, call.coverage.measured) == (2, 2), "it was measured all the same"


def test_what_runs_once_at_load_is_apart() -> None:
    call = result((dispatch("a", x={INITIALIZER: 2}), dispatch("b", x={"B2": 1})), {"a__x": 5.0, "b__x": 1.0})
    assert [row.benchmark for row in call.dispatches] == ["b__x"]
    assert [(row.benchmark, row.count, row.share) for row in call.initializers] == [("a__x", 2, None)]
    assert call.sum_seconds == 1.0
    assert call.coverage.dispatches == 1


def test_a_failure_leaves_its_row_last_with_the_reason() -> None:
    dispatches = (dispatch("a", x={"B2": 1}), dispatch("b", x={"B2": 1}))
    call = result(dispatches, {"b__x": 1.0}, failures={"a__x": "compile: no"})
    assert [(row.benchmark, row.failure) for row in call.dispatches] == [("b__x", None), ("a__x", "compile: no")]
    assert call.dispatches[1].total_seconds is None
    assert (call.coverage.measured, call.coverage.failed) == (1, 1)


def test_a_dispatch_is_measured_only_if_all_its_workloads_are() -> None:
    call = result((dispatch("a", x={"B2": 1}, y={"B2": 2}),), {"a__x": 1.0})
    assert call.dispatches[1].failure == "it was not run"
    assert (call.coverage.dispatches, call.coverage.measured, call.coverage.failed) == (1, 0, 1)


def test_what_is_skipped_counts_at_its_calls_alone() -> None:
    skipped = (
        Skipped(executable="main_r", export="main_r", operation="r", calls=("B2",), reason="read back"),
        Skipped(executable="main_s", export="main_s", operation="s", calls=("B7",), reason="read back"),
        Skipped(
            executable="main_a",
            export="main_a_f32",
            operation="a_f32",
            calls=("B2",),
            reason="one of its sites is read back",
        ),
    )
    call = result((dispatch("a", x={"B2": 1}), dispatch("b", x={"B2": 1})), {"a__x": 1.0, "b__x": 1.0}, skipped=skipped)
    assert [skip.export for skip in call.skipped] == ["main_r", "main_a_f32"]
    coverage = {"dispatches": 3, "measured": 1, "skipped": 2, "failed": 0, "left_out": 0}
    assert call.coverage.model_dump() == coverage


def test_nothing_measured_has_no_sum() -> None:
    call = result((dispatch("a", x={"B2": 1}),), {})
    assert call.sum_seconds is None
    assert call.sum_by_model is None


def test_benchmarks_of_the_calls_and_of_loading_are_run() -> None:
    one = dispatch("a", x={"B2": 1}, y={"B7": 1}, z={INITIALIZER: 1})
    assert [benchmark.name for benchmark in benchmarks_of(one, ["B7"])] == ["a__y", "a__z"]
