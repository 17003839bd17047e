"""Names and equalities of dims, from sources."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from iree.compiler import ir as mlir

from dispatchgen.extract.assumptions import Assumption
from dispatchgen.extract.signature import Argument
from dispatchgen.extract.source_dims import SourceDim, SourceDims, source_dims, symbol_names

TORCH = """
func.func @f(%x: !torch.vtensor<[?,?],f32>, %y: !torch.vtensor<[?,?],f32>, %z: !torch.vtensor<[?,4],f32>) {
  %a = torch.symbolic_int "batch" {min_val = 1, max_val = 8} : !torch.int
  %b = torch.symbolic_int "s1" {min_val = 2, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %x, [%a, %b], affine_map<()[s0, s1] -> (s0, s1 * 16 - 1)> : !torch.vtensor<[?,?],f32>
  torch.bind_symbolic_shape %y, [%b, %a], affine_map<()[s0, s1] -> (s1 * s0, (s0 + 3) * 2)> : !torch.vtensor<[?,?],f32>
  return
}
func.func @g(%x: !torch.vtensor<[?],f32>) {
  return
}
"""
BATCH, S1 = Assumption(1, 8), Assumption(2, 2**63 - 1)


def test_torch(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TORCH)
    found = source_dims(path, "mlir")
    assert found.of("f", 0, 0) == SourceDim("batch", assumption=BATCH)
    assert found.of("f", 0, 1) == SourceDim("s1", 16, -1, S1)
    assert found.of("f", 1, 0) == SourceDim("s1 * batch"), "not linear in one symbol: it stands for itself"
    assert found.of("f", 1, 1) == SourceDim("s1", 2, 6, S1)
    assert found.of("f", 2, 0) is None and found.of("g", 0, 0) is None
    assert [str(found.of("f", *place)) for place in ((0, 1), (1, 1))] == ["s1 * 16 - 1", "s1 * 2 + 6"]


def test_torch_as_bytecode(tmp_path: Path, models_dir: Path) -> None:
    path = tmp_path / "m.mlirbc"
    with mlir.Context():
        module = mlir.Module.parse((models_dir / "torchsym.mlir").read_text())
        with path.open("wb") as file:
            module.operation.write_bytecode(file)
    assert source_dims(path, "mlirbc").of("main", 0, 1) == SourceDim("s1", 16, 0, Assumption(1, 256))


@pytest.mark.parametrize("text", ["", "func.func @main() { return }", "// bind_symbolic_shape\nno.dialect @x"])
def test_sources_that_say_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(text)
    assert source_dims(path, "mlir").of("main", 0, 0) is None


def write_onnx(path: Path) -> None:
    kind = onnx.TensorProto.FLOAT
    dims = {"x": ["batch", 4, None], "w": [4], "y": ["batch"], "z": ["?"], "out": None}
    *inputs, output = [onnx.helper.make_tensor_value_info(name, kind, each) for name, each in dims.items()]
    weight = onnx.helper.make_tensor("w", kind, [4], [0.0] * 4)
    node = onnx.helper.make_node("Identity", ["x"], ["out"])
    graph = onnx.helper.make_graph([node], "main", inputs, [output], [weight])
    onnx.save(onnx.helper.make_model(graph), path)


def test_onnx(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    write_onnx(path)
    found = source_dims(path, "onnx")
    assert [found.of("any name", 0, dim) for dim in range(3)] == [SourceDim("batch"), None, None]
    assert found.of("main", 1, 0) == SourceDim("batch"), "weights are no inputs"
    assert found.of("main", 2, 0) is None, "a name that says that there is none"


def argument(*dims: int | None) -> Argument:
    return Argument("f32", dims)


def test_symbols_are_named_as_in_the_source() -> None:
    plain, scaled = SourceDim("batch"), SourceDim("batch", 2)
    source = SourceDims({"f": {0: [plain, None, SourceDim("unk__3")], 1: [scaled, plain, SourceDim("maxlen")]}})
    arguments = {"f": [argument(None, None, None), argument(None, None, None)], "g": [argument(None, 4)]}
    names = list(symbol_names(arguments, source))
    assert names == ["BATCH", "B", "C", "BATCH_2", "BATCH", "MAXLEN", "G"]


def test_symbols_of_many_dims() -> None:
    names = list(symbol_names({"f": [argument(*[None] * 30)]}, SourceDims()))
    assert names[:2] + names[25:28] == ["A", "B", "Z", "D26", "D27"]
    assert len(set(names)) == 30
