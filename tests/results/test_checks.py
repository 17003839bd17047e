"""Comparing outputs once per run, by programs that stand for iree-run-module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.agreement.run import Checker
from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, CheckSpec
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.results.checks import checks_of, run_checks
from dispatchgen.results.frame import call_frame
from dispatchgen.results.proof import Examined
from dispatchgen.results.schema import Agreement
from dispatchgen.results.subject import Subject
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant
from made_up_results import results

from .made_up_subject import CALL, dispatch, subject

_DISPATCH = dispatch("a", B2={"B2": 1}, more={"B2": 1})
_CHECKED = Variant("s", "s", (Target(_DISPATCH, "source", "a.mlir"),), tolerance=0.5)


@pytest.fixture
def checked(tmp_path: Path) -> Subject:
    """A model whose substitute is to be compared; there is nothing to run."""
    tree = BuildTree(tmp_path / "build")
    binding = CheckedBinding(length=4, written=True, pieces=())
    benchmarks = tuple(CheckedBenchmark(name=name, bindings=(binding,)) for name in ("a__B2", "a__more"))
    spec = tree.check_spec("m", "cpu", "s", "a")
    spec.parent.mkdir(parents=True)
    spec.write_text(CheckSpec(dispatch="a", guard=0, tolerance=0.5, benchmarks=benchmarks).model_dump_json())
    return subject((_DISPATCH,), variants=(_CHECKED,), tree=tree)


def agreements(checked: Subject) -> Sequence[Agreement | None]:
    """What the rows of the call have after all that is to be compared was."""
    frame = results([call_frame(checked, CALL)])
    started: list[tuple[int, int, str]] = []
    found = run_checks(frame, list(checks_of(checked)), lambda *progress: started.append(progress))
    assert started == [(0, 1, "m on cpu, sync: a, s")]
    return [row.agreement for row in found.calls[0].substitutions[0].dispatches]


def failed(reason: str) -> Agreement:
    return Agreement(tolerance=0.5, worst=None, agrees=False, failure=reason)


def test_an_absent_device_is_told_of_all_benchmarks(checked: Subject, tmp_path: Path) -> None:
    """Of those too that are not tried any more, and nothing more is compared on it."""
    program = tmp_path / "iree-run-module"
    program.write_text(f"#!/bin/sh\necho >> {tmp_path}/runs\necho \"creating device 'cuda'\" >&2\nexit 1\n")
    program.chmod(0o755)
    absent = replace(checked, checker=Checker(program, "cuda"))
    frame = results([call_frame(absent, CALL)])
    found = run_checks(frame, 2 * list(checks_of(absent)), lambda *_: None)
    rows = found.calls[0].substitutions[0].dispatches
    assert [row.agreement for row in rows] == [failed("creating device 'cuda'")] * 2
    assert (tmp_path / "runs").read_text() == "\n"


def test_what_was_not_built_cannot_be_compared(checked: Subject) -> None:
    module = checked.built.tree.check_module("m", "cpu", "s", "a")
    state = BuildState(substituted={module: "compile-check: no"})
    broken = replace(checked, built=replace(checked.built, state=state))
    assert agreements(broken) == [failed("compile-check: no")] * 2


def test_a_spec_that_cannot_be_read_is_told(checked: Subject) -> None:
    checked.built.tree.check_spec("m", "cpu", "s", "a").write_text("no JSON")
    found = agreements(checked)
    assert all(each is not None and not each.agrees and each.failure for each in found)


@pytest.mark.parametrize("proof", [Examined(same="text"), Examined(failure="object: no")])
def test_what_is_not_run_is_not_compared(checked: Subject, proof: Examined) -> None:
    proofs = replace(checked.proofs, dispatches={("s", "a"): proof})
    assert list(checks_of(replace(checked, proofs=proofs))) == []


def test_nothing_is_compared_unless_asked_for() -> None:
    assert list(checks_of(subject((_DISPATCH,), variants=(replace(_CHECKED, tolerance=None),)))) == []
