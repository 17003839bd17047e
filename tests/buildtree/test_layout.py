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


def test_a_step_reads_well() -> None:
    assert str(Step("compile", "m", "cpu", "a")) == "m on cpu: a: compile"
    assert str(Step("import", "m")) == "m: import"
