"""What people read."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

import made_up_results
from dispatchgen.results import table
from dispatchgen.results.schema import (
    BuildFailure,
    CallResult,
    DeviceUsed,
    Measuring,
    NotRun,
    Results,
    Shard,
    SubstitutedDispatch,
    SubstitutionResult,
    WholeModel,
)
from dispatchgen.results.table import format_share
from dispatchgen.results.text import format_seconds
from dispatchgen.results.verdict import verdict

from .made_up_subject import CALL, dispatch, result

DEVICE = DeviceUsed(id="sync", uri="local-sync", run_flags=())


def results(*calls: CallResult, not_run: tuple[NotRun, ...] = (), failures: tuple[BuildFailure, ...] = ()) -> Results:
    return made_up_results.results(calls).model_copy(update={"not_run": not_run, "build_failures": failures})


def printed(data: Results) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200).print(table.render(data), highlight=False)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 ns"),
        (1.2345e-9, "1.23 ns"),
        (99.96e-9, "100 ns"),
        (999.9e-9, "1.00 us"),
        (12.345e-6, "12.3 us"),
        (0.9994e-3, "999 us"),
        (1.5, "1.50 s"),
        (4321.0, "4321 s"),
        (None, "-"),
    ],
)
def test_times_have_the_unit_that_suits_them(seconds: float | None, text: str) -> None:
    assert format_seconds(seconds) == text


def test_shares_are_percent() -> None:
    assert (format_share(0.12345), format_share(None)) == ("12.3 %", "-")


def test_a_call_shows_rows_sum_and_coverage() -> None:
    call = result(
        (dispatch("a", x={"B2": 3}), dispatch("b", x={"initializer": 1})), {"a__x": 2e-6, "b__x": 1e-3}, model=8e-6
    )
    lines = [line.split() for line in printed(results(call)).splitlines()]
    assert ["m", "on", "cpu,", "sync,", "B2"] in lines
    assert ["a__x", "a_f32", "3", "2.00", "us", "6.00", "us", "75.0", "%"] in lines
    assert ["b__x", "b_f32", "1", "1.00", "ms", "1.00", "ms"] in lines
    text = printed(results(call))
    assert "sum of dispatches 6.00 us, whole model 8.00 us: 75.0 %" in text
    assert "1 of 1 dispatches\n" in text
    assert text.index("when the model is loaded (not in the sum)") < text.index("b__x")


def test_failures_are_named_with_their_reason() -> None:
    call = result((dispatch("a", x={"B2": 1}),), {}, failures={"a__x": "compile: first\nsecond"}, model=None)
    text = printed(results(call))
    assert "  failed a__x (main_a_f32): compile: first\n      second\n" in text
    assert "0 of 1 dispatches, 1 failed" in text
    assert "whole model: not measured: crashed" in text


def test_why_a_step_of_the_build_failed_is_told_once() -> None:
    """Of a substitution it is the reason of its dispatches, its whole model, and the combinations that it is in."""
    reason = "one\ntwo"
    failure = f"substitute: {reason}"
    row = SubstitutedDispatch(
        name="a",
        benchmark="a__x",
        operation="a_f32",
        kind="object",
        file="a.o",
        sha256=None,
        same=None,
        count=1,
        original=None,
        timing=None,
        ratio=None,
        agreement=None,
        target_differences=(),
        notes=(),
        failure=failure,
    )
    whole = WholeModel(timing=None, failure=failure)
    substitutions = (
        SubstitutionResult(
            name="s", id="s", members=(), acting=("s",), dispatches=(row,), whole_model=whole, same=False, ratio=None
        ),
        SubstitutionResult(
            name="both",
            id="both",
            members=("s",),
            acting=("s",),
            dispatches=(),
            whole_model=whole,
            same=False,
            ratio=None,
        ),
    )
    call = result((dispatch("a", x={"B2": 1}),), {"a__x": 1.0}).model_copy(update={"substitutions": substitutions})
    broken = BuildFailure(step="substitute", model="m", backend="cpu", dispatch="a", substitution="s", reason=reason)
    text = printed(results(call, failures=(broken,)))
    assert text.count("one\n") == 1
    assert "failed: substitute m on cpu with s a: one\n    two\n" in text
    assert "  failed a__x: substitute: failed, see below\n" in text
    assert text.count("whole model: not measured: substitute: failed, see below\n") == 2
    assert printed(results(call)).count("one\n") == 3, "it is told where nothing else tells it"


def test_users_names_are_no_markup() -> None:
    missing = NotRun(model="[red]m[/red]", backend=":x:", device=DEVICE, cause="absent-device", reason="[bold]no")
    assert "[red]m[/red] on :x:: device sync (local-sync) is absent: [bold]no" in printed(results(not_run=(missing,)))


def test_an_absent_device_is_named_with_where_to_find_those_there_are() -> None:
    absent = NotRun(model="m", backend="cpu", device=DEVICE, cause="absent-device", reason="no")
    text = printed(results(not_run=(absent, absent)))
    assert text.count("device sync (local-sync) is absent: no\n") == 2
    assert text.count("`dispatchgen doctor` lists the devices") == 1
    compiled = NotRun(model="m", backend="cpu", device=None, cause="compile-only", reason="no", notes=("s: same a",))
    text = printed(results(not_run=(compiled,)))
    assert "dispatchgen doctor" not in text
    assert "skipped: m on cpu: built, not run: no\n  s: same a\n" in text


def test_a_whole_run_is_judged() -> None:
    good = result((dispatch("a", x={"B2": 1}),), {"a__x": 1.0})
    bad = result((dispatch("a", x={"B2": 1}),), {}, failures={"a__x": "no"})
    absent = NotRun(model="m", backend="cpu", device=DEVICE, cause="absent-device", reason="no")
    broken = NotRun(model="m", backend="gpu", device=None, cause="build-failed", reason="no")
    failure = BuildFailure(step="build", model=None, backend=None, dispatch=None, reason="no")
    assert list(verdict(results(good), devices_named=True)) == []
    assert list(verdict(results(good, not_run=(absent,)), devices_named=False)) == []
    assert list(verdict(results(good, not_run=(absent,)), devices_named=True)) == [
        "devices that were asked for are absent: sync"
    ]
    assert list(verdict(results(not_run=(absent,)), devices_named=False)) == ["nothing was measured"]
    assert list(verdict(results(good, bad), devices_named=False)) == ["1 dispatch could not be built or run"]
    assert list(verdict(results(good, not_run=(broken,)), devices_named=False)) == [
        "nothing was run of 1 model that could not be built"
    ]
    assert list(verdict(results(good, failures=(failure,)), devices_named=False)) == ["the build failed"]


def held(*data: str) -> str:
    """What is printed of a dispatch whose buffers held that."""
    benchmarked = dispatch("a", S={CALL.name: 1})
    (benchmark,) = benchmarked.benchmarks
    benchmark = benchmark.model_copy(update={"data": data})
    call = result((benchmarked.model_copy(update={"benchmarks": (benchmark,)}),), {"a__S": 1.0})
    return printed(results(call))


def test_what_buffers_held_is_said() -> None:
    assert "data: random f32, seed 0; input 0: ids.npy; zeros elsewhere\n" in held(
        "random f32, seed 0", "zeros", "input 0: ids.npy", "random f32, seed 0"
    )
    assert "data:" not in held()


def test_many_kinds_of_data_are_counted() -> None:
    assert "; and 3 more; zeros elsewhere" in held(*(f"random positions from 0 to {i}, seed 0" for i in range(9)))


def test_overridden_sizes_are_told() -> None:
    call = result((dispatch("a", x={"B2": 1}),), {"a__x": 1.0}, call=CALL.model_copy(update={"overrides": {"n": 5}}))
    text = printed(results(call))
    assert "share of sum" in text
    assert (
        "sum of dispatches 1.00 s, whole model 10.0 s\noverridden: n is 5; the whole model computes its own\n" in text
    )


def test_a_shard_may_have_nothing_to_measure() -> None:
    """Of many, some are empty; one whose rows have no time is not."""
    shard = Measuring(shard=Shard(index=2, count=9))
    empty = results().model_copy(update={"measuring": shard})
    assert list(verdict(empty, devices_named=False)) == []
    assert printed(empty) == "nothing of this suite is in shard 2/9\n", "what is left out does not look measured"
    bad = results(result((dispatch("a", x={"B2": 1}),), {}, model=None)).model_copy(update={"measuring": shard})
    assert "nothing was measured" in list(verdict(bad, devices_named=False))
    assert "nothing of this suite" not in printed(bad)


def test_how_well_times_are_known_is_shown() -> None:
    """With rounds enough; and what was not controlled."""
    call = result((dispatch("a", x={"B2": 1}),), {"a__x": 1.0})
    (row,) = call.dispatches
    few = printed(results(call))
    assert "known to" not in few
    assert "measured once: how far times differ by chance is not known" in few
    rounds = made_up_results.timing(made_up_results.rounds_of(2e-6, noise=0.02))
    known = call.model_copy(
        update={
            "dispatches": (row.model_copy(update={"timing": rounds}),),
            "whole_model": WholeModel(timing=rounds),
        }
    )
    data = results(known)
    environment = data.environment.model_copy(update={"uncontrolled": ("the clock",)})
    text = printed(data.model_copy(update={"environment": environment}))
    assert rounds.low is not None and rounds.high is not None and rounds.noise is not None
    half = math.log(rounds.high / rounds.low) / 2
    (line,) = (line.split() for line in text.splitlines() if line.startswith("a__x"))
    assert f"±{half * 100:.1f}" in line
    assert f"{rounds.noise * 100:.1f}" in line
    assert text.endswith("\nnot controlled: the clock\n")
    assert "measured" not in text.splitlines()[-2]
