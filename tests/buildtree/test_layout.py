"""Which step of the build makes which file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.buildtree.layout import BuildTree, Step

TREE = BuildTree(Path("/build"))


@pytest.mark.parametrize(
    ("output", "step"),
    [
        ("m/imported.mlir.stamp", Step("import", "m")),
        ("m/cpu/configured.mlir.stamp", Step("configure", "m", "cpu")),
        ("m/cpu/dispatches.stamp", Step("extract", "m", "cpu")),
        ("m/cpu/dispatches/a.mlir", Step("extract", "m", "cpu")),
        ("m/cpu/a.vmfb", Step("compile", "m", "cpu", "a")),
        ("m/cpu/model.vmfb", Step("compile", "m", "cpu")),
        ("/build/m/cpu/a.vmfb", Step("compile", "m", "cpu", "a")),
        ("m/cpu/substitutions/s/s.o.stamp", Step("object", "m", "cpu", None, "s")),
        ("m/cpu/substitutions/s/a.spv.stamp", Step("object", "m", "cpu", "a", "s")),
        ("m/cpu/substitutions/s/tuned.mlir.stamp", Step("configure", "m", "cpu", None, "s")),
        ("m/cpu/substitutions/s/dispatches/a.stamp", Step("substitute", "m", "cpu", "a", "s")),
        ("m/cpu/substitutions/s/dispatches/a.executable.mlir", Step("substitute", "m", "cpu", "a", "s")),
        ("m/cpu/substitutions/s/dispatches/tuned.stamp", Step("substitute", "m", "cpu", None, "s")),
        ("m/cpu/substitutions/s/configured.mlir.stamp", Step("substitute-model", "m", "cpu", None, "s")),
        ("m/cpu/substitutions/s/a.vmfb", Step("compile", "m", "cpu", "a", "s")),
        ("m/cpu/substitutions/s/a.check.vmfb", Step("compile-check", "m", "cpu", "a", "s")),
        ("m/cpu/substitutions/s/model.vmfb", Step("compile", "m", "cpu", None, "s")),
        ("results/m/cpu/substitutions/s", Step("making results/m/cpu/substitutions/s")),
        ("dispatchgen/code.stamp", Step("making dispatchgen/code.stamp")),
    ],
)
def test_a_step_is_told_by_its_output(output: str, step: Step) -> None:
    assert TREE.step_of(output) == step


def test_the_layout_and_the_steps_agree() -> None:
    assert TREE.step_of(str(TREE.index("m", "cpu"))) == Step("extract", "m", "cpu")
    assert TREE.step_of(str(TREE.flag_file("m", "cpu", "B2"))) == Step("extract", "m", "cpu")
    assert TREE.step_of(str(TREE.dispatch_module("m", "cpu", "a"))) == Step("compile", "m", "cpu", "a")
    assert TREE.step_of(str(TREE.model_module("m", "cpu"))) == Step("compile", "m", "cpu")
    assert TREE.step_of(str(TREE.dispatch_module("m", "cpu", "a", "s"))) == Step("compile", "m", "cpu", "a", "s")
    assert TREE.step_of(str(TREE.check_module("m", "cpu", "s", "a"))) == Step("compile-check", "m", "cpu", "a", "s")
    assert TREE.step_of(str(TREE.model_module("m", "cpu", "s"))) == Step("compile", "m", "cpu", None, "s")
    assert TREE.step_of(str(TREE.record("m", "cpu", "s", "a"))) == Step("substitute", "m", "cpu", "a", "s")
    assert TREE.step_of(str(TREE.check_spec("m", "cpu", "s", "a"))) == Step("substitute", "m", "cpu", "a", "s")


def test_a_step_reads_well() -> None:
    assert str(Step("compile", "m", "cpu", "a")) == "m on cpu: a: compile"
    assert str(Step("compile", "m", "cpu", "a", "s")) == "m on cpu with s: a: compile"
    assert str(Step("import", "m")) == "m: import"
