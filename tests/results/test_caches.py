"""Dispatches that are measured warm, cold or both: tasks, rows, and what comes of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.errors import ManifestError
from dispatchgen.extract.schema import BackendDispatches, Dispatch
from dispatchgen.job import Options
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import Caches, Model, RunSettings, Source, Suite
from dispatchgen.results import lean
from dispatchgen.results.any_size import AtSizes, SizedBenchmark
from dispatchgen.results.caches import NOT_BUILT, SIZES_ARE_WARM, Cache, check_caches
from dispatchgen.results.fill import fill
from dispatchgen.results.frame import call_frame
from dispatchgen.results.measurements import Measured, Measurements, RoundSample
from dispatchgen.results.merge import merge
from dispatchgen.results.schema import CallResult, Results
from dispatchgen.results.settings import settings_of
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Sample, Target
from dispatchgen.results.tasks import tasks_of
from dispatchgen.results.verdict import verdict
from dispatchgen.selection.select import Target as Replaced
from dispatchgen.selection.variants import Variant
from made_up_results import results

from .made_up_subject import CALL, dispatch, subject
from .test_table import printed

#: Seconds, or why there are none, by variant, caches and benchmark.
Times = Mapping[tuple[str, Cache, str], float | str]


def cold_dispatch(name: str, count: int = 1) -> Dispatch:
    """A dispatch with a benchmark that has a cold function."""
    made = dispatch(name, x={"B2": count})
    cold = tuple(each.model_copy(update={"cold": f"{each.name}__cold"}) for each in made.benchmarks)
    return made.model_copy(update={"benchmarks": cold})


_A, _B = cold_dispatch("a", 3), cold_dispatch("b")
_VARIANT = Variant("fast a", "fast_a", (Replaced(_A, "object", "a.o"),))


def with_caches(made: Subject, caches: Caches) -> Subject:
    settings = made.runner.settings.model_copy(update={"caches": caches, "cold_memory": 1 << 20})
    return replace(made, runner=replace(made.runner, settings=settings))


def filled(made: Subject, times: Times) -> Results:
    """The results of the call with these times of dispatches; the whole model takes 10 s."""

    def measured(time: float | str) -> Measured:
        return (
            Measured(failure=time)
            if isinstance(time, str)
            else Measured((RoundSample(0, 0.0, 1, Sample((time,), (time,), 1)),))
        )

    found = {
        (Target("m", "cpu", "sync", "dispatch", variant, caches), name): measured(time)
        for (variant, caches, name), time in times.items()
    }
    found[Target("m", "cpu", "sync", "model"), "B2"] = measured(10.0)
    return fill(results([call_frame(made, CALL)]), Measurements(found))


def only_call(found: Results) -> CallResult:
    (call,) = found.calls
    return call


def test_tasks_of_both_are_in_the_group_of_the_dispatch() -> None:
    made = with_caches(subject((_A, _B), variants=(_VARIANT,)), "both")
    tasks = {task.id.removeprefix("m/cpu/sync/"): task for task in tasks_of(made)}
    assert list(tasks) == [
        *("dispatch/a", "dispatch/a/fast_a", "dispatch/a/cold", "dispatch/a/fast_a/cold"),
        *("dispatch/b", "dispatch/b/cold", "model/B2", "model/B2/fast_a"),
    ]
    assert {task.group for name, task in tasks.items() if name.startswith("dispatch/a")} == {"m/cpu/sync/dispatch/a"}
    assert tasks["dispatch/a/fast_a/cold"].target == Target("m", "cpu", "sync", "dispatch", "fast_a", "cold")
    assert tasks["dispatch/a/cold"].benchmarks == ("a__x",)
    alone = tasks_of(with_caches(subject((_A,)), "cold"))
    assert [task.id.removeprefix("m/cpu/sync/") for task in alone] == ["dispatch/a/cold", "model/B2"]


@pytest.mark.parametrize(("caches", "function"), [("warm", "a__x"), ("cold", "a__x__cold")])
def test_the_function_is_called_that_is_meant(tmp_path: Path, caches: Cache, function: str) -> None:
    """Rows have the name of the benchmark, whatever the function is called."""
    program = tmp_path / "iree-benchmark-module"
    program.write_text(
        f"""#!/bin/sh
echo "$@" >> {shlex.quote(str(tmp_path / "log"))}
for word in "$@"; do case $word in --benchmark_out=*) out=${{word#*=}};; esac; done
cat > "$out" <<JSON
{{"context": {{"num_cpus": 1, "mhz_per_cpu": 1}},
  "benchmarks": [{{"name": "BM_{function}/process_time/real_time", "run_name": "BM_{function}/process_time/real_time",
    "run_type": "iteration", "iterations": 1, "real_time": 2.0, "cpu_time": 2.0, "time_unit": "ms"}}]}}
JSON
"""
    )
    program.chmod(0o755)
    made = with_caches(subject((_A,), tree=BuildTree(tmp_path / "build"), program=program), "both")
    task = next(task for task in tasks_of(made) if task.target.kind == "dispatch" and task.target.caches == caches)
    outcome = task.run(["a__x"], 1)
    assert outcome.samples == {"a__x": Sample((0.002,), (0.002,), 1)}
    assert f"--benchmark_filter=^BM_({function})/" in (tmp_path / "log").read_text()


def test_cold_times_stand_beside_warm_ones() -> None:
    made = with_caches(subject((_A, _B), variants=(_VARIANT,)), "both")
    times: Times = {
        ("", "warm", "a__x"): 1.0,
        ("", "cold", "a__x"): 4.0,
        ("", "warm", "b__x"): 2.0,
        ("", "cold", "b__x"): "it crashed",
        ("fast_a", "warm", "a__x"): 0.5,
        ("fast_a", "cold", "a__x"): 3.0,
    }
    found = filled(made, times)
    call = only_call(found)
    a, b = sorted(call.dispatches, key=lambda row: row.name)
    assert a.timing and a.cold and (a.timing.seconds, a.cold.seconds, a.total_seconds) == (1.0, 4.0, 3.0)
    assert b.timing and (b.timing.seconds, b.failure, b.cold, b.cold_failure) == (2.0, None, None, "it crashed")
    assert (call.sum_seconds, call.coverage.measured, call.coverage.failed) == (5.0, 1, 1)
    (substitute,) = call.substitutions[0].dispatches
    assert (substitute.ratio, substitute.cold_ratio) == (0.5, 0.75)
    assert list(verdict(found, devices_named=False)) == [
        "1 dispatch could not be built or run",
        "1 substitution could not be built or run",  # its whole model was not run
    ]
    text = printed(found)
    assert "cold" in text and "failed b__x (main_b_f32), cold: it crashed" in text


def test_cold_alone_is_what_totals_and_coverage_are_of() -> None:
    found = filled(with_caches(subject((_A, _B)), "cold"), {("", "cold", "a__x"): 2.0, ("", "cold", "b__x"): 1.0})
    call = only_call(found)
    assert [(row.timing, row.failure, row.total_seconds) for row in call.dispatches] == [
        (None, None, 6.0),
        (None, None, 1.0),
    ]
    assert call.sum_seconds == 7.0 and call.sum_by_model == pytest.approx(0.7)
    assert (call.coverage.measured, call.coverage.failed) == (2, 0)
    assert list(verdict(found, devices_named=False)) == []
    text = printed(found)
    assert "failed" not in text and "time  " not in text


def test_rows_are_those_that_were_to_be_measured() -> None:
    times: Times = {
        ("", "warm", "a__x"): 1.0,
        ("", "cold", "a__x"): 4.0,
        ("fast_a", "warm", "a__x"): 1.0,
        ("fast_a", "cold", "a__x"): "it crashed",
    }
    expected: dict[Caches, list[tuple[str, str, bool, str | None]]] = {
        "warm": [("", "warm", True, None), ("fast_a", "warm", True, None)],
        "cold": [("", "cold", True, None), ("fast_a", "cold", False, "it crashed")],
        "both": [
            *(("", "warm", True, None), ("", "cold", True, None)),
            *(("fast_a", "warm", True, None), ("fast_a", "cold", False, "it crashed")),
        ],
    }
    for caches, rows in expected.items():
        data = filled(with_caches(subject((_A,), variants=(_VARIANT,)), caches), times).model_dump_json()
        read = lean.rows(msgspec.json.decode(data, type=lean.Results))
        assert rows == [
            (row.key.variant, row.key.caches, row.timing is not None, row.failure)
            for row in read
            if row.key.kind == "dispatch"
        ]


def test_a_build_without_cold_benchmarks_says_so() -> None:
    plain = dispatch("a", x={"B2": 1})
    made = with_caches(subject((plain,)), "both")
    assert [task.target.caches for task in tasks_of(made)] == ["warm", "warm"]
    (row,) = only_call(filled(made, {("", "warm", "a__x"): 1.0})).dispatches
    assert (row.failure, row.cold_failure) == (None, NOT_BUILT)


def test_functions_that_take_sizes_are_warm(tmp_path: Path) -> None:
    made = subject((dispatch("a", x={"B2": 1}),), calls=())
    sizes = {"a__x": SizedBenchmark("a__dims", (2,))}
    plan = replace(made.plan, at_sizes={("m", "cpu"): AtSizes((CALL,), made.index, sizes, tmp_path)})
    made = replace(made, plan=plan)
    assert [task.target.caches for task in tasks_of(with_caches(made, "both"))] == ["warm", "warm"]
    found = filled(with_caches(made, "both"), {("", "warm", "a__x"): 1.0})
    (row,) = only_call(found).dispatches
    assert (row.failure, row.cold, row.cold_failure) == (None, None, None)
    assert list(verdict(found, devices_named=False)) == []
    assert "warm only, by functions that take sizes: a__x" in printed(found)

    found = filled(with_caches(made, "cold"), {})
    (row,) = only_call(found).dispatches
    assert (row.failure, row.cold_failure) == (None, SIZES_ARE_WARM)
    assert "1 dispatch could not be built or run" in list(verdict(found, devices_named=False))


def test_merged_results_have_both() -> None:
    """One part was measured warm and cold, of the other only a failure is known."""
    made = with_caches(subject((_A, _B), variants=(_VARIANT,)), "both")
    times: Times = {("", caches, name): 1.0 for caches in ("warm", "cold") for name in ("a__x", "b__x")}
    times = {**times, ("fast_a", "warm", "a__x"): 0.5, ("fast_a", "cold", "a__x"): 0.25}
    whole = filled(made, times)
    missing = "not measured: the run was interrupted"
    first, second = dict(times), dict(times)
    for key in times:
        (second if key[2] == "a__x" else first)[key] = missing
    parts = [
        (name, filled(made, each).model_copy(update={"id": name, "session": name}))
        for name, each in (("1", first), ("2", second))
    ]
    merged = merge(parts).results
    for row, other in zip(merged.calls[0].dispatches, whole.calls[0].dispatches, strict=True):
        assert row.cold and other.cold and (row.cold.seconds, row.cold_failure) == (other.cold.seconds, None)
    (substitute,) = merged.calls[0].substitutions[0].dispatches
    assert (substitute.cold_ratio, substitute.cold_failure) == (0.25, None)


@pytest.mark.parametrize("caches", ["cold", "both"])
def test_models_without_cold_benchmarks_are_refused(caches: Caches) -> None:
    model = Model("m", "m", Source("m.mlir", "mlir"), run=RunSettings(caches=caches), line=7)
    suite = Suite(Path("benchmarks.yaml"), (), (model,))
    lock = Lock(model="m", made_from=MadeFrom(source="", settings={}, compiler=""), entry=None, calls=(), backends={})
    with pytest.raises(ManifestError, match="model m has no cold benchmarks to measure") as caught:
        check_caches(suite, {"m": lock})
    assert caught.value.problems[0].place is not None and caught.value.problems[0].place.line == 7
    with pytest.raises(ManifestError):
        Options(run_settings={"caches": caches}).plan(
            replace(suite, models=(replace(model, run=RunSettings()),)), {"m": lock}
        )
    check_caches(suite, {"m": lock.model_copy(update={"cold_memory": 1})})
    check_caches(replace(suite, models=(replace(model, run=RunSettings()),)), {"m": lock})


def test_settings_say_what_was_rotated_over() -> None:
    model = Model("m", "m", Source("m.mlir", "mlir"), cold_memory=5)
    assert (settings_of(model).caches, settings_of(model).cold_memory) == ("warm", None)
    cold = settings_of(replace(model, run=RunSettings(caches="both")))
    assert (cold.caches, cold.cold_memory) == ("both", 5)


def test_the_functions_of_a_dispatch_are_warm_and_cold() -> None:
    assert BackendDispatches(backend="cpu", dispatches=(_A,)).dispatches[0].functions == ["a__x", "a__x__cold"]
