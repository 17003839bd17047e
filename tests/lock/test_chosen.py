"""Locks of models whose shapes are chosen, or that override sizes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from dispatchgen.errors import ModelError
from dispatchgen.extract.program import Program
from dispatchgen.iree.configure import configure
from dispatchgen.iree.ir import read_module
from dispatchgen.iree.tools import Tools, find_tools
from dispatchgen.lock.chosen import with_locked_shapes
from dispatchgen.lock.make import make_lock, settings_digest
from dispatchgen.lock.modules import Step, write_modules
from dispatchgen.lock.store import lock_text, write_lock
from dispatchgen.manifest.suite import AutoShapes, Backend, Input, Model, Shape, Source, Suite

pytestmark = pytest.mark.main_path

CPU = Backend("cpu", "cpu", "local", "llvm-cpu", ("--iree-llvmcpu-target-cpu=generic",))
VMVX = Backend("vmvx", "vmvx", "local", "vmvx")
NAME = "reduction_D_f32xi64"


@pytest.fixture(scope="module")
def tools() -> Tools:
    return find_tools()


def suite_of(folder: Path, source: Path, backends: tuple[Backend, ...] = (CPU,), **settings: object) -> Suite:
    """A suite of one model."""
    shutil.copy(source, folder)
    ids = tuple(backend.id for backend in backends)
    values: dict[str, object] = {"shapes": (), "backends": ids, "compile_flags": dict.fromkeys(ids, ()), **settings}
    model = Model(source.stem, source.stem, Source(source.name, "mlir"), **values)  # type: ignore[arg-type]
    return Suite(folder / "benchmarks.yaml", backends, (model,))


def test_shapes_are_chosen_once_for_all_backends(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, models_dir / "torchsym.mlir", (CPU, VMVX), auto=AutoShapes(4))
    lock = make_lock(tools, suite, suite.models[0])
    assert [call.symbols for call in lock.calls][:: len(lock.calls) - 1] == [
        {"BATCH": 1, "S1": 16},
        {"BATCH": 8, "S1": 4096},
    ]
    assert len(lock.calls) == 4
    assert lock.calls[0].inputs == ("1x16x64xf32", "64x128xf32")
    for backend in lock.backends.values():
        assert [set(benchmark.counts) for benchmark in backend.dispatches[0].benchmarks] == [
            {call.name} for call in lock.calls
        ]
    assert lock_text(lock) == lock_text(make_lock(tools, suite, suite.models[0], lock))


def test_the_build_takes_the_chosen_shapes_from_the_lock(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, models_dir / "assume.mlir", auto=AutoShapes(2))
    (model,) = suite.models
    lock = make_lock(tools, suite, model)
    path = suite.lock_path(model)
    path.parent.mkdir()
    write_lock(path, lock)
    configured = configure(tools, suite, model, CPU, tmp_path)
    assert write_modules(Step(configured, path, "cpu", tmp_path / "out")) == []
    text = (tmp_path / "out" / f"{lock.backends['cpu'].dispatches[0].name}.mlir").read_text()
    assert "A1_B16" in text and "A8_B4096" in text
    with read_module(configured) as module:
        program = Program(module)
        source = tmp_path / "assume.mlir"
        locked = with_locked_shapes(program, model, source, lock)
        other = with_locked_shapes(program, replace(model, auto=AutoShapes(1)), source, None)
    assert [shape.label for shape in locked.shapes] == ["A1_B16", "A8_B4096"]
    assert [shape.label for shape in other.shapes] == ["A1_B16"]
    assert with_locked_shapes(program, replace(model, auto=None), source, lock).shapes == ()


def test_the_settings_that_a_lock_is_made_from() -> None:
    model = Model("m", "m", Source("m.mlir", "mlir"), compile_flags={"cpu": ()})
    digests = {
        settings_digest(each, CPU)
        for each in (
            model,
            replace(model, auto=AutoShapes(4)),
            replace(model, auto=AutoShapes(5)),
            replace(model, auto=AutoShapes(4, {"B": 1})),
            replace(model, auto=AutoShapes(4, {}, {"B": range(1, 9)})),
            replace(model, auto=AutoShapes(4, {}, {"B": range(1, 9, 2)})),
            replace(model, overrides={NAME: 4}),
            replace(model, overrides={NAME: "K"}),
        )
    }
    assert len(digests) == 8


def test_overrides_are_locked_by_call(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        models_dir / "nonzero.mlir",
        inputs={None: (Input("f32", ("N",)),)},
        shapes=tuple(Shape(f"K{count}", {"N": 130, "K": count}) for count in (1, 130)),
        overrides={NAME: "K"},
    )
    lock = make_lock(tools, suite, suite.models[0])
    assert [call.overrides for call in lock.calls] == [{NAME: 1}, {NAME: 130}]
    (_, fill), skipped = lock.backends["cpu"].dispatches, lock.backends["cpu"].skipped
    assert not skipped
    assert [benchmark.bindings for benchmark in fill.benchmarks] == [(256,), (130 * 256,)]


def test_an_override_that_nothing_uses(tools: Tools, models_dir: Path, tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        models_dir / "nonzero.mlir",
        inputs={None: (Input("f32", ("N",)),)},
        shapes=(Shape("N4", {"N": 4}),),
        overrides={NAME: 3, f"{NAME}_2": 3},
    )
    with pytest.raises(ModelError, match=rf"override of `{NAME}_2` is not used: it reads `{NAME}`") as raised:
        make_lock(tools, suite, suite.models[0])
    assert len(raised.value.problems) == 1


#: Two inputs with the same batch, as torch.export has it: the compiler relies on it and checks nothing.
EQUAL = """
func.func @main(%x: !torch.vtensor<[?,4],f32>, %y: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %n = torch.symbolic_int "n" {min_val = 1, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0, 4)> : !torch.vtensor<[?,4],f32>
  torch.bind_symbolic_shape %y, [%n], affine_map<()[s0] -> (s0, 4)> : !torch.vtensor<[?,4],f32>
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4],f32> -> !torch.vtensor<[?,4],f32>
  return %0 : !torch.vtensor<[?,4],f32>
}
"""


def test_listed_shapes_that_contradict_the_source(tools: Tools, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "equal.mlir").write_text(EQUAL)
    inputs = {None: (Input("f32", ("B", 4)), Input("f32", ("C", 4)))}
    shapes = (Shape("same", {"B": 3, "C": 3}), Shape("other", {"B": 3, "C": 4}))
    suite = suite_of(tmp_path, folder / "equal.mlir", inputs=inputs, shapes=shapes)
    message = (
        r"all that is stated of `B`, `C`\n  B is 3 in the manifest\n  B is n in the source\n(.*\n)*  at shape other\n"
    )
    with pytest.raises(ModelError, match=message) as raised:
        make_lock(tools, suite, suite.models[0])
    assert len(raised.value.problems) == 1
    (model,) = suite.models
    assert make_lock(tools, suite, replace(model, shapes=shapes[:1])).calls
    chosen = make_lock(tools, suite, replace(model, shapes=(), auto=AutoShapes(3)))
    assert [call.symbols["B"] for call in chosen.calls][::2] == [1, 64]
    assert all(call.symbols["B"] == call.symbols["C"] for call in chosen.calls)


def test_an_onnx_model(tools: Tools, tmp_path: Path) -> None:
    """Its dims of one name are equal; it states no range, so the manifest does."""
    folder = tmp_path / "source"
    folder.mkdir()
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", size])
        for name, size in (("x", "width"), ("y", 1), ("z", "width"))
    ]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Mul", ["x", "y"], ["z"])], "g", values[:2], values[2:])
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(folder / "m.onnx"))
    inputs = {None: (Input("f32", ("A", "W")), Input("f32", ("B", 1)))}
    shapes = (Shape("other", {"A": 3, "W": 2, "B": 4}),)
    suite = suite_of(tmp_path, folder / "m.onnx", inputs=inputs, shapes=shapes)
    model = replace(suite.models[0], source=Source("m.onnx", "onnx"))
    with pytest.raises(ModelError, match=r"`A`, `B`\n  A is 3 in the manifest\n  A is batch in the source\n"):
        make_lock(tools, suite, model)
    auto = AutoShapes(4, {}, {"BATCH": range(1, 17), "WIDTH": range(16, 65, 16)})
    lock = make_lock(tools, suite, replace(model, inputs={}, shapes=(), auto=auto))
    assert [call.symbols for call in lock.calls][::3] == [{"BATCH": 1, "WIDTH": 16}, {"BATCH": 16, "WIDTH": 64}]
    assert all(call.symbols["WIDTH"] % 16 == 0 for call in lock.calls)
    with pytest.raises(
        ModelError, match=r"`WIDTH`.*: it needs a size, or a range\n.*\{auto: 4, BATCH: 1..16, WIDTH: 1"
    ):
        make_lock(
            tools, suite, replace(model, inputs={}, shapes=(), auto=replace(auto, ranges={"BATCH": range(1, 17)}))
        )
