"""Counts, shares, sums and coverage, from the frame of a call and what was measured."""

from __future__ import annotations

import pytest

from dispatchgen.extract.schema import INITIALIZER, Skipped
from dispatchgen.results.fill import fill
from dispatchgen.results.frame import call_frame
from dispatchgen.results.measurements import Measurements
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant
from made_up_results import results

from .made_up_subject import CALL, dispatch, filled, measurements, result, subject, timing


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


def test_a_row_that_cannot_be_measured_keeps_its_failure() -> None:
    made = subject((dispatch("a", x={"B2": 1}),), failures={"a": "compile: no", None: "compile: never"})
    call = filled(made, {})
    assert [row.failure for row in call.dispatches] == ["compile: no"]
    assert (call.whole_model.timing, call.whole_model.failure) == (None, "compile: never")
    assert (call.coverage.measured, call.coverage.failed) == (0, 1)


def test_rows_that_were_taken_out_are_left_out() -> None:
    """As a shard does; what is left has no sum."""
    frame = call_frame(subject((dispatch("a", x={"B2": 1}), dispatch("b", x={"B2": 1}))), CALL)
    part = frame.model_copy(update={"dispatches": frame.dispatches[:1]})
    (call,) = fill(results([part]), measurements({("dispatch", "", "a__x"): 2.0, ("model", "", "B2"): 4.0})).calls
    assert call.coverage.model_dump() == {"dispatches": 2, "measured": 1, "skipped": 0, "failed": 0, "left_out": 1}
    assert (call.sum_seconds, call.sum_by_model) == (None, None)
    assert [row.share for row in call.dispatches] == [0.5]


def test_only_what_is_asked_for_is_in_the_frame() -> None:
    dispatches = (dispatch("a", x={"B2": 1}), dispatch("b", x={INITIALIZER: 2}), dispatch("c", x={"B2": 1}))
    variant = Variant("s", "s", tuple(Target(each, "object", "k.o") for each in dispatches[:2]))
    made = subject(dispatches, variants=(variant,), only_variants=True)
    call = filled(made, {("dispatch", "", "a__x"): 4.0, ("dispatch", "", "b__x"): 1.0})
    assert ([row.name for row in call.dispatches], [row.name for row in call.initializers]) == (["a"], ["b"])
    assert call.coverage.model_dump() == {"dispatches": 2, "measured": 1, "skipped": 0, "failed": 0, "left_out": 1}
    assert call.sum_seconds is None


def test_what_is_on_an_absent_device_is_not_run() -> None:
    dispatches = (dispatch("a", x={"B2": 1}),)
    frame = results([call_frame(subject(dispatches), CALL)])
    found = fill(frame, Measurements(absent={("cpu", "sync"): "no driver"}))
    assert found.calls == ()
    (missing,) = found.not_run
    assert (missing.model, missing.backend, missing.cause, missing.reason) == ("m", "cpu", "absent-device", "no driver")
    assert missing.device is not None
    assert missing.device.id == "sync"


def test_times_of_another_build_are_not_taken() -> None:
    frame = results([call_frame(subject((dispatch("a", x={"B2": 1}),)), CALL)])
    other = {(target._replace(build="beside"), name): found for (target, name), found in _ONE.measured.items()}
    (call,) = fill(frame, Measurements(other)).calls
    assert call.dispatches[0].failure == "it was not run"
    (call,) = fill(frame, Measurements({**other, **_ONE.measured}), build="beside").calls
    assert call.dispatches[0].timing == timing(3.0)


_ONE = measurements({("dispatch", "", "a__x"): 3.0})
