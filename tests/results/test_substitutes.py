"""What is run of a build's substitutions and what is not, told by the files that a build leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.agreement.run import Checker
from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, CheckSpec
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.extract.schema import Benchmark, Call, Dispatch
from dispatchgen.manifest.suite import Device, RunSettings
from dispatchgen.results.benchmark import Outcome, Runner
from dispatchgen.results.proof import Built, notes
from dispatchgen.results.schema import Agreement
from dispatchgen.results.substitutes import Substitute, SubstitutedModel, run_substitute, run_substituted_model
from dispatchgen.selection.select import Target, TargetKind
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted

_DISPATCH = Dispatch(
    name="a",
    operation="a",
    executable="e",
    variant="v",
    export="x",
    content="",
    written=(True,),
    benchmarks=tuple(
        Benchmark(name=f"a__{shape}", workload=(), constants=(), bindings=(4,), counts={shape: 1})
        for shape in ("B2", "B7")
    ),
)
_FUNCTIONS = ["a__B2", "a__B7"]
_CALL = Call(name="B2", function="main", shape="B2", symbols={}, inputs=())
_VARIANT = Variant("s", "s", (Target(_DISPATCH, "source", "a.mlir"),))
_COMBINATION = Variant("both", "both", members=(_VARIANT,))
_RECORD = Substituted(
    substitution="s",
    dispatch="a",
    kind="source",
    file="a.mlir",
    sha256="0" * 64,
    same=False,
    executable="e",
    export="x",
)


@pytest.fixture
def built(tmp_path: Path) -> Built:
    """A build in which substitutes differ."""
    tree = BuildTree(tmp_path)
    for path, content in (
        (tree.dispatch_module("m", "cpu", "a"), "a"),
        (tree.dispatch_module("m", "cpu", "a", "s"), "a of s"),
        (tree.model_module("m", "cpu"), "model"),
        (tree.model_module("m", "cpu", "s"), "model of s"),
        (tree.model_module("m", "cpu", "both"), "model of both"),
        (tree.record("m", "cpu", "s", "a"), _RECORD.model_dump_json()),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Built(tree, BuildState(), "m", "cpu")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Runs a program that crashes: whatever is run, is seen."""
    program = tmp_path / "iree-benchmark-module"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    return Runner(program, Device("sync", "local-sync"), RunSettings(min_time="1x"))


def run(built: Built, runner: Runner) -> Substitute:
    checker = Checker(Path("/nonexistent/iree-run-module"), "local-sync")
    output = built.tree.binary_dir / "result.json"
    return run_substitute(built, runner, checker, _VARIANT, _DISPATCH, _FUNCTIONS, output)


def test_another_kernel_is_run(built: Built, runner: Runner) -> None:
    found = run(built, runner)
    assert (found.same, found.record) == (None, _RECORD)
    assert found.outcome.failures == dict.fromkeys(_FUNCTIONS, "iree-benchmark-module: crashed (SIGSEGV)")


def test_an_absent_device_is_told_of_all_benchmarks(built: Built, runner: Runner, tmp_path: Path) -> None:
    """Of those too that are not tried any more."""
    program = tmp_path / "iree-run-module"
    program.write_text("#!/bin/sh\necho \"creating device 'cuda'\" >&2\nexit 1\n")
    program.chmod(0o755)
    binding = CheckedBinding(length=4, written=True, pieces=())
    benchmarks = tuple(CheckedBenchmark(name=name, bindings=(binding,)) for name in _FUNCTIONS)
    spec = CheckSpec(dispatch="a", guard=0, tolerance=0.5, benchmarks=benchmarks)
    built.tree.check_spec("m", "cpu", "s", "a").write_text(spec.model_dump_json())
    variant, output = replace(_VARIANT, tolerance=0.5), built.tree.binary_dir / "result.json"
    found = run_substitute(built, runner, Checker(program, "cuda"), variant, _DISPATCH, _FUNCTIONS, output)
    expected = Agreement(tolerance=0.5, worst=None, agrees=False, failure="creating device 'cuda'")
    assert found.agreements == dict.fromkeys(_FUNCTIONS, expected)


def test_the_same_text_is_not_run(built: Built, runner: Runner) -> None:
    record = _RECORD.model_copy(update={"same": True})
    built.tree.record("m", "cpu", "s", "a").write_text(record.model_dump_json())
    found = run(built, runner)
    assert (found.same, found.outcome.failures, found.record) == ("text", {}, record)


def test_the_same_code_is_not_run(built: Built, runner: Runner) -> None:
    built.dispatch("a", "s").write_text("a")
    found = run(built, runner)
    assert (found.same, found.outcome.failures) == ("code", {})


def test_without_the_original_a_substitute_is_run(built: Built, runner: Runner) -> None:
    """What an earlier build left of the original proves nothing."""
    built.dispatch("a", "s").write_text("a")
    broken = Built(built.tree, BuildState(modules={("m", "cpu", "a"): "compile: no"}), "m", "cpu")
    assert run(broken, runner).same is None
    built.dispatch("a").unlink()
    assert run(built, runner).same is None


@pytest.mark.parametrize("record", [None, "not JSON", '{"version": 1}'])
def test_without_a_record_nothing_is_run(built: Built, runner: Runner, record: str | None) -> None:
    path = built.tree.record("m", "cpu", "s", "a")
    path.unlink() if record is None else path.write_text(record)
    reason = "the build left no readable record of the substitute"
    assert run(built, runner).outcome.failures == dict.fromkeys(_FUNCTIONS, reason)


def test_what_was_not_substituted_or_not_built_fails_with_the_reason(built: Built, runner: Runner) -> None:
    record = _RECORD.model_copy(update={"skipped": "it is gone"})
    built.tree.record("m", "cpu", "s", "a").write_text(record.model_dump_json())
    assert run(built, runner).outcome.failures == dict.fromkeys(_FUNCTIONS, "it is gone")
    state = BuildState(substituted={built.dispatch("a", "s"): "object: no"})
    assert run(Built(built.tree, state, "m", "cpu"), runner).outcome.failures["a__B2"] == "object: no"


def crash(module: Path) -> Outcome:
    """Stands for running a call of a module: whatever is run, is seen."""
    return Outcome(failures={"main": f"{module.parent.name} crashed"})


@pytest.mark.parametrize("variant", [_VARIANT, _COMBINATION])
def test_a_whole_model_must_differ_where_a_dispatch_does(built: Built, variant: Variant) -> None:
    def failure() -> str | None:
        found = run_substituted_model(built, variant, _CALL, crash)
        assert not (found.same and found.outcome.failures)
        return "the same" if found.same else found.outcome.failures.get("main")

    assert failure() == f"{variant.id} crashed"
    built.whole_model(variant.id).write_text("model")
    nothing = "nothing is substituted: it is the compiler's own program, byte for byte, though not a"
    assert failure() == nothing
    built.dispatch("a", "s").write_text("a")
    assert failure() == "the same"
    built.dispatch("a", "s").unlink()
    assert failure() == "the same", "there is nothing that says otherwise"


@pytest.mark.parametrize("kind", ["object", "kernel"])
def test_a_whole_model_with_an_object_may_be_the_same(built: Built, kind: TargetKind) -> None:
    """The compiler's own object: the module of its dispatch is made in another way, the program is not."""
    unedited = Variant("s", "s", (Target(_DISPATCH, kind, "k.ptx"),))
    built.whole_model("s").write_text("model")
    assert run_substituted_model(built, unedited, _CALL, crash).same
    assert list(notes(built, unedited)) == ["s: whole model: the compiler's own, byte for byte"]
    edited = Variant("s", "s", (*unedited.targets, *_VARIANT.targets))
    assert not run_substituted_model(built, edited, _CALL, crash).same


def test_a_whole_model_is_run_in_calls_alone_where_something_is_replaced(built: Built) -> None:
    def at(variant: Variant, call: str) -> SubstitutedModel:
        return run_substituted_model(built, variant, _CALL.model_copy(update={"name": call}), crash)

    for variant in (_VARIANT, _COMBINATION):
        assert at(variant, "B7").outcome.failures == {"main": f"{variant.id} crashed"}
        assert at(variant, "B9") == SubstitutedModel()
    broken = Built(built.tree, BuildState(substituted={built.whole_model("s"): "compile: no"}), "m", "cpu")
    call = _CALL.model_copy(update={"name": "B9"})
    assert run_substituted_model(broken, _VARIANT, call, crash).outcome.failures == {"main": "compile: no"}


def test_a_hang_ends_the_runs_of_a_substitute_and_its_check(built: Built, runner: Runner, tmp_path: Path) -> None:
    """The time limit passes once."""
    runner.program.write_text(f"#!/bin/sh\necho >> {tmp_path}/runs\nexec sleep 1000\n")
    checker = Checker(Path("/nonexistent/iree-run-module"), "local-sync")
    hanging, variant = replace(runner, timeout=0.3), replace(_VARIANT, tolerance=0.5)
    found = run_substitute(built, hanging, checker, variant, _DISPATCH, _FUNCTIONS, tmp_path / "result.json")
    left = "it was not run, because a__B2 did not end in time"
    assert found.outcome.failures == {
        "a__B2": "iree-benchmark-module did not end within 0.3 s and was killed",
        "a__B7": left,
    }
    assert [found.agreements[name].failure for name in _FUNCTIONS] == [left, left]
    assert (tmp_path / "runs").read_text() == "\n"


def test_what_the_build_noted_is_told_of_what_is_not_run(built: Built) -> None:
    record = _RECORD.model_copy(update={"notes": ("it is old",)})
    built.tree.record("m", "cpu", "s", "a").write_text(record.model_dump_json())
    assert list(notes(built, _VARIANT)) == ["s: a: it is old"]


def test_what_is_the_same_is_noted_without_being_run(built: Built) -> None:
    assert [*notes(built, _VARIANT), *notes(built, _COMBINATION)] == []
    built.dispatch("a", "s").write_text("a")
    built.whole_model("s").write_text("model")
    assert list(notes(built, _VARIANT)) == [
        "s: same a: compiles to the compiler's own code",
        "s: whole model: the compiler's own, byte for byte",
    ]
    assert list(notes(built, _COMBINATION)) == []
