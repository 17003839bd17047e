"""What of substitutions can be used after a build with the real Ninja in which a step failed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatchgen.buildtree.build import BuildReport, StepFailure, build
from dispatchgen.buildtree.layout import BuildTree, Step
from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from dispatchgen.buildtree.state import state_after, variant_outputs
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant

_SUBSTITUTION = """
build m/cpu/substitutions/{s}/{object}.o.stamp: step {s}.object
build m/cpu/substitutions/{s}/dispatches/a.stamp: step {s}.substitute | m/cpu/substitutions/{s}/{object}.o.stamp
build m/cpu/substitutions/{s}/a.vmfb: step {s}.compile | m/cpu/substitutions/{s}/dispatches/a.stamp
build m/cpu/substitutions/{s}/a.check.vmfb: step {s}.check | m/cpu/substitutions/{s}/dispatches/a.stamp
build m/cpu/substitutions/{s}/configured.mlir.stamp: step {s}.program | m/cpu/substitutions/{s}/dispatches/a.stamp
build m/cpu/substitutions/{s}/model.vmfb: step {s}.model | m/cpu/substitutions/{s}/configured.mlir.stamp
"""
_RULES = """
rule step
  command = grep -q bad $in && echo "$in is bad" && exit 1 || cp $in $out
build m/cpu/a.vmfb: step a.source
build m/cpu/model.vmfb: step model.source
build m/cpu/substitutions/both/configured.mlir.stamp: step both.program | $
  m/cpu/substitutions/s/dispatches/a.stamp m/cpu/substitutions/t/dispatches/a.stamp
build m/cpu/substitutions/both/model.vmfb: step both.model | m/cpu/substitutions/both/configured.mlir.stamp
"""
_STEPS = ("object", "substitute", "compile", "check", "program", "model")
_DISPATCH = Dispatch(
    name="a", operation="", executable="", variant="", export="", content="", written=(), benchmarks=()
)
#: A kernel's object is named after the substitution, one that is copied after the dispatch.
_OBJECTS = {"s": "s", "t": "a"}
_SUBSTITUTIONS = (
    Variant("s", "s", (Target(_DISPATCH, "kernel", "k.c"),), tolerance=0.1),
    Variant("t", "t", (Target(_DISPATCH, "object", "k.o"),), tolerance=0.1),
)
_VARIANTS = (*_SUBSTITUTIONS, Variant("both", "both", members=_SUBSTITUTIONS))


@pytest.fixture(scope="module")
def programs() -> BuildPrograms:
    return find_build_programs()


@pytest.fixture
def tree(tmp_path: Path, programs: BuildPrograms) -> BuildTree:
    """A build tree in which all is built."""
    steps = (_SUBSTITUTION.format(s=s, object=name) for s, name in _OBJECTS.items())
    (tmp_path / "build.ninja").write_text(_RULES + "".join(steps))
    for name in ("a.source", "model.source", "both.program", "both.model"):
        (tmp_path / name).write_text("good\n")
    for substitution in ("s", "t"):
        for step in _STEPS:
            (tmp_path / f"{substitution}.{step}").write_text("good\n")
    built = BuildTree(tmp_path)
    assert unusable(programs, built) == {}
    return built


def locked(*dispatches: Dispatch) -> Lock:
    return Lock(
        model="m",
        made_from=MadeFrom(source="", settings={}, compiler=""),
        entry=None,
        calls=(Call(name="B1", function="main", shape="B1", symbols={"B": 1}, inputs=()),),
        backends={"cpu": BackendDispatches(backend="cpu", dispatches=dispatches)},
    )


def unusable(programs: BuildPrograms, tree: BuildTree) -> dict[str, str]:
    """Builds; returns why files of substitutions cannot be used, and checks that all else can."""
    report = build(programs, tree, [], jobs=2, timeout=None, on_progress=lambda _: None)
    state = state_after(programs, tree, report, {"m": locked(_DISPATCH)}, {("m", "cpu"): _VARIANTS})
    assert (state.models, state.modules) == ({}, {})
    folder = tree.folder("m", "cpu") / "substitutions"
    return {path.relative_to(folder).as_posix(): reason for path, reason in state.substituted.items()}


@pytest.mark.parametrize(
    ("bad", "files", "reason"),
    [
        ("s.object", ["s/a.vmfb", "s/a.check.vmfb", "s/model.vmfb", "both/model.vmfb"], "object: s.object is bad"),
        ("t.object", ["t/a.vmfb", "t/a.check.vmfb", "t/model.vmfb", "both/model.vmfb"], "object: t.object is bad"),
        ("s.substitute", ["s/a.vmfb", "s/a.check.vmfb", "s/model.vmfb", "both/model.vmfb"], "substitute: s.subs"),
        ("s.compile", ["s/a.vmfb"], "compile: s.compile is bad"),
        ("s.check", ["s/a.check.vmfb"], "compile-check: s.check is bad"),
        ("s.program", ["s/model.vmfb"], "substitute-model: s.program is bad"),
        ("t.model", ["t/model.vmfb"], "compile: t.model is bad"),
        ("both.program", ["both/model.vmfb"], "substitute-model: both.program is bad"),
    ],
)
def test_a_failure_is_of_what_needs_the_step_alone(
    programs: BuildPrograms, tree: BuildTree, bad: str, files: list[str], reason: str
) -> None:
    time.sleep(0.02)  # a later time for Ninja
    (tree.binary_dir / bad).write_text("bad\n")
    found = unusable(programs, tree)
    assert sorted(found) == sorted(files)
    assert all(text.startswith(reason) for text in found.values())


def test_a_failing_object_is_of_all_dispatches_that_share_it(programs: BuildPrograms, tree: BuildTree) -> None:
    second = _DISPATCH.model_copy(update={"name": "b"})
    targets = tuple(Target(each, "object", "k.o") for each in (_DISPATCH, second))
    step = Step("object", "m", "cpu", "a", "s")
    report = BuildReport((StepFailure(step, "no"),), complete=False)
    state = state_after(
        programs, tree, report, {"m": locked(_DISPATCH, second)}, {("m", "cpu"): (Variant("s", "s", targets),)}
    )
    missing = tree.dispatch_module("m", "cpu", "b", "s")
    assert state.substituted[missing] == "object: no"


def test_a_variant_is_run_from_these_files(tree: BuildTree) -> None:
    def outputs(*variants: Variant, is_called: bool = True) -> set[str]:
        folder = tree.folder("m", "cpu") / "substitutions"
        found = variant_outputs(tree, "m", "cpu", variants, is_called=is_called)
        return {path.relative_to(folder).as_posix() for path in found}

    assert outputs(_VARIANTS[0]) == {"s/a.vmfb", "s/a.check.vmfb", "s/model.vmfb"}
    # By the modules of its members it is proved that the program of a combination should differ.
    assert outputs(_VARIANTS[2]) == {"s/a.vmfb", "t/a.vmfb", "both/model.vmfb"}
    assert outputs(*_VARIANTS, is_called=False) == {
        f"{each}/a{kind}" for each in "st" for kind in (".vmfb", ".check.vmfb")
    }
