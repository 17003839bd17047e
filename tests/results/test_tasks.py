"""Which processes a model on a device takes, told by programs that stand for iree-benchmark-module."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.extract.schema import INITIALIZER, Call
from dispatchgen.results.any_size import AtSizes, SizedBenchmark
from dispatchgen.results.proof import Examined, ExaminedModel
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Task
from dispatchgen.results.tasks import tasks_of
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant

from .made_up_subject import COMPILED, dispatch, subject

_CALLS = tuple(
    Call(name=shape, function=function, shape=shape, symbols={}, inputs=())
    for shape, function in (("B2", "main"), ("B7", "main"), ("B9", "other"))
)
_A = dispatch("a", x={"B2": 1}, y={"B7": 1}, z={"elsewhere": 1})
_B = dispatch("b", x={INITIALIZER: 1})
#: What it replaces is run by the first two calls.
_VARIANT = Variant("s", "s", (Target(_A, "object", "a.o"),))
_COMBINATION = Variant("both", "both", members=(_VARIANT,))


def ids(subject: Subject) -> list[str]:
    return [task.id.removeprefix("m/cpu/sync/") for task in tasks_of(subject)]


def test_a_substitute_comes_right_after_its_original() -> None:
    made = subject((_A, _B), calls=_CALLS, variants=(_VARIANT, _COMBINATION))
    tasks = {task.id.removeprefix("m/cpu/sync/"): task for task in tasks_of(made)}
    assert list(tasks) == [
        *("dispatch/a", "dispatch/a/s", "dispatch/b"),
        *("model/B2", "model/B2/s", "model/B2/both", "model/B7", "model/B7/s", "model/B7/both", "model/B9"),
    ]
    assert tasks["dispatch/a"].benchmarks == tasks["dispatch/a/s"].benchmarks == ("a__x", "a__y")
    assert [task.group for task in tasks.values()][:3] == [*2 * ["m/cpu/sync/dispatch/a"], "m/cpu/sync/dispatch/b"]
    assert {tasks[name].group for name in ("model/B2", "model/B2/s", "model/B2/both")} == {"m/cpu/sync/model/B2"}
    assert (tasks["dispatch/a/s"].target.kind, tasks["dispatch/a/s"].target.variant) == ("dispatch", "s")
    assert (tasks["model/B7/both"].target.kind, tasks["model/B7/both"].benchmarks) == ("model", ("B7",))
    assert {task.sha256 for task in tasks.values()} == {COMPILED.sha256}


def test_whole_models_are_never_batched() -> None:
    auto = subject((_A,), calls=_CALLS[:1])
    settings = auto.runner.settings.model_copy(update={"batch_size": "auto"})
    tasks = list(tasks_of(replace(auto, runner=replace(auto.runner, settings=settings))))
    assert [(task.target.kind, task.batch_size) for task in tasks] == [("dispatch", "auto"), ("model", 1)]


def test_what_cannot_be_run_has_no_task() -> None:
    made = subject(
        (_A, _B),
        calls=_CALLS,
        variants=(_VARIANT, _COMBINATION),
        failures={"a": "compile: no"},
        examined_models={"s": ExaminedModel(failure="compile: no")},
    )
    assert [each for each in ids(made) if "B7" not in each] == [
        *("dispatch/a/s", "dispatch/b", "model/B2", "model/B2/both", "model/B9")
    ]


@pytest.mark.parametrize("proof", [Examined(same="code"), Examined(failure="object: no")])
def test_what_is_the_compilers_own_is_not_run(proof: Examined) -> None:
    made = subject(
        (_A,),
        calls=_CALLS[:1],
        variants=(_VARIANT,),
        examined={("s", "a"): proof},
        examined_models={"s": ExaminedModel(same=True)},
    )
    assert ids(made) == ["dispatch/a", "model/B2"]


def test_substitutes_alone_are_run_with_their_originals() -> None:
    assert ids(subject((_A, _B), calls=_CALLS[2:], variants=(_VARIANT,), only_variants=True)) == ["model/B9"]
    found = ids(subject((_A, _B), calls=_CALLS[:1], variants=(_VARIANT,), only_variants=True))
    assert found == ["dispatch/a", "dispatch/a/s", "model/B2", "model/B2/s"]


def test_tasks_of_builds_that_are_measured_in_turns_are_told_apart() -> None:
    """Their groups are the same: they are run one after the other."""
    first = subject((_A,), calls=_CALLS)
    one, other = list(tasks_of(first)), list(tasks_of(replace(first, build="beside")))
    assert [f"{task.id}@beside" for task in one] == [task.id for task in other]
    assert [task.group for task in one] == [task.group for task in other]
    assert {task.target.build for task in other} == {"beside"}


def stand_in(folder: Path, script: str) -> Path:
    program = folder / "iree-benchmark-module"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/runs\n{script}\n')
    program.chmod(0o755)
    return program


def run(task: Task, batch_size: int = 1) -> dict[str, str]:
    return dict(task.run(task.benchmarks, batch_size).failures)


def test_a_function_that_does_not_end_is_not_called_again(tmp_path: Path) -> None:
    """Of another module it is."""
    tree, program = BuildTree(tmp_path / "build"), stand_in(tmp_path, "exec sleep 1000")
    made = subject((), calls=_CALLS, variants=(_VARIANT,), tree=tree, program=program, timeout=0.3)
    tasks = {task.id.removeprefix("m/cpu/sync/model/"): task for task in tasks_of(made)}
    killed = "iree-benchmark-module did not end within 0.3 s and was killed"
    left = "it was not run, because B2 did not end in time"
    assert run(tasks["B2"]) == {"B2": killed}
    assert run(tasks["B7"]) == {"B7": left}
    assert tasks["B7"].run(("B7",), 1).hung == left
    assert run(tasks["B7/s"]) == {"B7": killed}
    assert run(tasks["B9"]) == {"B9": killed}
    assert len((tmp_path / "runs").read_text().splitlines()) == 3


def test_some_of_the_benchmarks_are_run_with_a_filter(tmp_path: Path) -> None:
    tree, program = BuildTree(tmp_path / "build"), stand_in(tmp_path, "kill -SEGV $$")
    task = next(iter(tasks_of(subject((_A,), calls=_CALLS, tree=tree, program=program))))
    task.run(("a__x",), 16)
    (ran,) = (tmp_path / "runs").read_text().splitlines()
    assert f"--module={tree.dispatch_module('m', 'cpu', 'a')} --batch_size=16 --benchmark_filter=^BM_(a__x)/" in ran


def test_where_memory_ran_out_the_largest_shape_is_named(tmp_path: Path) -> None:
    error = "iree/runtime/src/x.c:1: RESOURCE_EXHAUSTED; failed to allocate 9 bytes"
    program = stand_in(tmp_path, f'echo "{error}" >&2; exit 1')
    made = subject((_A, _B), calls=_CALLS, tree=BuildTree(tmp_path / "build"), program=program)
    several, one, *_ = (run(task) for task in tasks_of(made))
    note = "all shapes share a buffer that is large enough for a__x"
    assert [reason.endswith(note) for reason in (*several.values(), *one.values())] == [True, True, False]


def test_sizes_that_nothing_lists_are_run_by_a_function_that_takes_them(tmp_path: Path) -> None:
    tree, program = BuildTree(tmp_path / "build"), stand_in(tmp_path, "kill -SEGV $$")
    made = subject((_A,), calls=_CALLS[:1], tree=tree, program=program)
    sized = {"a__x": SizedBenchmark("a__any", (77,))}
    more = AtSizes(_CALLS[:1], made.index, sized, tmp_path)
    made = replace(made, plan=replace(made.plan, at_sizes={("m", "cpu"): more}))
    task = next(iter(tasks_of(made)))
    assert (task.id, task.benchmarks) == ("m/cpu/sync/dispatch/a/sizes/a__x", ("a__x",))
    assert run(task, batch_size=8) == {"a__x": "iree-benchmark-module: crashed (SIGSEGV)"}
    assert "--function=a__any --input=8 --input=77 " in (tmp_path / "runs").read_text()
