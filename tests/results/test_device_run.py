"""Which whole models are run on a device, told by a program that stands for iree-benchmark-module."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.extract.schema import BackendDispatches, Call
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import Backend, Device, Model, RunSettings, Shape, Source, Suite
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.device_run import DeviceRun
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built
from dispatchgen.results.session import Session
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant

from .test_assemble import dispatch

_SHAPES = ("B2", "B7", "B9")
_FUNCTIONS = ("main", "main", "other")
_CALLS = tuple(
    Call(name=shape, function=function, shape=shape, symbols={}, inputs=())
    for shape, function in zip(_SHAPES, _FUNCTIONS, strict=True)
)
#: What it replaces is run by the first two calls.
_VARIANT = Variant("s", "s", (Target(dispatch("a", x={"B2": 1, "B7": 1}), "object", "a.o"),))


@pytest.fixture
def run(tmp_path: Path) -> DeviceRun:
    """A model without benchmarks and its variant; what is run notes its module and the call, and does not end."""
    tree = BuildTree(tmp_path / "build")
    for variant in (None, "s"):
        module = tree.model_module("m", "cpu", variant)
        module.parent.mkdir(parents=True)
        module.write_text(f"model of {variant}")
    program = tmp_path / "iree-benchmark-module"
    program.write_text(f'#!/bin/sh\necho "$2 $3" >> {tmp_path}/runs\nexec sleep 1000\n')
    program.chmod(0o755)
    device, once = Device("sync", "local-sync"), RunSettings(min_time="1x")
    model = Model("m", "m", Source("m.mlir", "mlir"), shapes=tuple(map(Shape, _SHAPES)), backends=("cpu",), run=once)
    suite = Suite(tmp_path / "benchmarks.yaml", (Backend("cpu", "cpu", "local", devices=(device,)),), (model,))
    index = BackendDispatches(backend="cpu", dispatches=())
    made_from = MadeFrom(source="", settings={}, compiler="")
    lock = Lock(model="m", made_from=made_from, entry=None, calls=_CALLS, backends={"cpu": index})
    plan = Plan(suite, {"m": lock}, {("m", "cpu"): (_VARIANT,)})
    session = Session(plan.processes(), lambda *_: None)
    built = Built(tree, BuildState(), "m", "cpu")
    checker = Checker(program, device.uri)
    return DeviceRun(plan, built, session, model, index, Runner(program, device, once, 0.5), checker)


def test_a_function_that_does_not_end_is_not_called_again(run: DeviceRun, tmp_path: Path) -> None:
    """Nor is a variant where it replaces nothing."""
    assert run.all_calls() is None
    folder = run.built.tree.folder("m", "cpu")
    ran = (("model.vmfb", "B2"), ("substitutions/s/model.vmfb", "B2"), ("model.vmfb", "B9"))
    expected = [f"--module={folder / module} --flagfile={folder}/dispatches/{call}.flags" for module, call in ran]
    assert (tmp_path / "runs").read_text().splitlines() == expected
    killed = "iree-benchmark-module did not end within 0.5 s and was killed"
    left = "it was not run, because B2 did not end in time"
    assert [call.whole_model.failure for call in run.session.calls] == [killed, left, killed]
    variants = [call.substitutions[0] for call in run.session.calls]
    assert [variant.whole_model.failure for variant in variants] == [killed, left, None]
    assert [variant.acting for variant in variants] == [("s",), ("s",), ()]


def test_processes_are_counted_in_calls_where_something_is_replaced(run: DeviceRun) -> None:
    run.all_calls()
    # The benchmark of what is replaced is planned, and the model does not have it.
    assert (run.session.done, run.session.total) == (5, 5 + 1)
