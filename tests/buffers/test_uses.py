"""What kernels use the numbers for that they load, in modules by the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

import support
from configured import Configured
from dispatchgen.buffers.uses import UNKNOWN_BOUND, Source, bound_of, bounds
from dispatchgen.iree import ir

#: How `rows.mlir` makes a position of what it loads, and other ways.
_AS_IT_IS = "%row = arith.index_cast %in : i32 to index"
_WIDER = "%wide = arith.extsi %in : i32 to i64\n%row = arith.index_cast %wide : i64 to index"
_COMPUTED = (
    "%c3 = arith.constant 3 : i32\n%sum = arith.addi %in, %c3 : i32\n%row = arith.index_cast %sum : i32 to index"
)


@pytest.fixture(scope="module")
def configured(iree_tools: support.IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    return Configured(iree_tools, tmp_path_factory.mktemp("configured"))


def test_each_kernel_has_its_own_uses(configured: Configured, models_dir: Path) -> None:
    with ir.read_module(configured.module(models_dir / "elements.mlir")) as module:
        kernels = [op for op in ir.body(module) if op.name == "hal.executable"]
        found = {ir.symbol(op).partition("_dispatch_")[0]: dict(bounds(op)) for op in kernels}
    assert found == {
        "gather": {Source(1, "i64"): 10},
        "select": {Source(0, "i8"): 2},
        "iota": {},
        "narrow": {},
        "results": {},
    }


@pytest.mark.parametrize(
    ("size", "number", "bound"),
    [("64", _AS_IT_IS, 64), ("64", _WIDER, 64), ("64", _COMPUTED, UNKNOWN_BOUND), ("?", _AS_IT_IS, 77)],
)
def test_only_the_binding_that_is_an_index_is_bounded(
    configured: Configured, models_dir: Path, tmp_path: Path, size: str, number: str, bound: int
) -> None:
    """Other integers of that type stay any numbers: a kernel that does not use them is found."""
    source = tmp_path / f"{tmp_path.name}.mlir"  # configured modules are kept by name
    source.write_text((models_dir / "rows.mlir").read_text().replace("<64x", f"<{size}x").replace(_AS_IT_IS, number))
    with ir.read_module(configured.module(source)) as module:
        (kernel,) = (op for op in ir.body(module) if op.name == "hal.executable")
        found = bounds(kernel, [77, 0, 5, 0])
        static = bounds(kernel)
    assert dict(found) == {Source(1, "i32"): bound}
    assert dict(static) == {Source(1, "i32"): UNKNOWN_BOUND if size == "?" else bound}
    assert [bound_of(found, binding, "i32") for binding in range(3)] == [None, bound, None]


_FUNCTION = """\
func.func @kernel(%loaded: i32) -> index {
  %index = arith.index_cast %loaded : i32 to index
  return %index : index
}
"""


def test_where_the_trace_is_lost_all_elements_of_the_type_are_bounded() -> None:
    with ir.parse_module(_FUNCTION) as module:
        found = bounds(module)
        assert dict(found) == {Source(None, "i32"): UNKNOWN_BOUND}
        assert [bound_of(found, 3, element) for element in ("i32", "i64", "f32")] == [UNKNOWN_BOUND, None, None]


_LOOP = """\
#binding = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<bindings = [#binding, #binding]>
func.func @kernel() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %start = arith.constant 0 : i32
  %0 = hal.interface.binding.subspan layout(#layout) binding(1) offset(%c0) : memref<8xi32>
  %1 = iree_codegen.load_from_buffer %0 : memref<8xi32> -> tensor<8xi32>
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%partial = %start) -> i32 {
    %value = tensor.extract %1[%i] : tensor<8xi32>
    %next = arith.addi %partial, %value : i32
    scf.yield %next : i32
  }
  %index = arith.index_cast %sum : i32 to index
  return %index : index
}
"""


def test_the_trace_goes_through_loops() -> None:
    with ir.parse_module(_LOOP) as module:
        assert dict(bounds(module)) == {Source(1, "i32"): UNKNOWN_BOUND}


_ACCUMULATOR = """\
#binding = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<bindings = [#binding, #binding, #binding]>
func.func @kernel(%table: tensor<8xi32>) -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %0 = hal.interface.binding.subspan layout(#layout) binding(1) offset(%c0) : memref<8xi32>
  %1 = iree_codegen.load_from_buffer %0 : memref<8xi32> -> tensor<8xi32>
  %2 = hal.interface.binding.subspan layout(#layout) binding(2) offset(%c0) : memref<i32>
  %3 = iree_codegen.load_from_buffer %2 : memref<i32> -> tensor<i32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%1 : tensor<8xi32>) outs(%3 : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %index = arith.index_cast %out : i32 to index
    %value = tensor.extract %table[%index] : tensor<8xi32>
    %next = arith.addi %out, %in : i32
    linalg.yield %next : i32
  } -> tensor<i32>
  return %result : tensor<i32>
}
"""


def test_what_a_kernel_accumulates_is_not_what_it_loads() -> None:
    with ir.parse_module(_ACCUMULATOR) as module:
        assert dict(bounds(module)) == {Source(1, "i32"): UNKNOWN_BOUND, Source(2, "i32"): UNKNOWN_BOUND}


_FROM_THE_END = """\
#binding = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<bindings = [#binding, #binding]>
func.func @kernel(%table: tensor<8xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c0_i32 = arith.constant 0 : i32
  %c8_i32 = arith.constant 8 : i32
  %0 = hal.interface.binding.subspan layout(#layout) binding(1) offset(%c0) : memref<8xi32>
  %1 = iree_codegen.load_from_buffer %0 : memref<8xi32> -> tensor<8xi32>
  %2 = tensor.extract %1[%i] : tensor<8xi32>
  %is_negative = arith.cmpi slt, %2, %c0_i32 : i32
  %3 = arith.addi %2, %c8_i32 : i32
  %4 = arith.select %is_negative, %3, %2 : i32
  %5 = arith.index_cast %4 : i32 to index
  %6 = tensor.extract %table[%5] : tensor<8xf32>
  return %6 : f32
}
"""


@pytest.mark.parametrize(
    ("old", "new", "bound"),
    [
        ("", "", 8),
        ("slt", "sgt", UNKNOWN_BOUND),
        ("select %is_negative, %3, %2", "select %is_negative, %2, %3", UNKNOWN_BOUND),
    ],
)
def test_positions_may_count_from_the_end(old: str, new: str, bound: int) -> None:
    """As importers of ONNX and PyTorch have it: numbers that are not negative are taken as they are."""
    with ir.parse_module(_FROM_THE_END.replace(old, new)) as module:
        assert dict(bounds(module)) == {Source(1, "i32"): bound}


_SCATTER = """\
#binding = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<constants = 1, bindings = [#binding, #binding]>
func.func @kernel(%updates: tensor<5xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %constant = hal.interface.constant.load layout(#layout) ordinal(0) : i32
  %size = arith.index_castui %constant : i32 to index
  %0 = hal.interface.binding.subspan layout(#layout) binding(0) offset(%c0) : memref<5x1xi32>
  %1 = iree_codegen.load_from_buffer %0 : memref<5x1xi32> -> tensor<5x1xi32>
  %2 = hal.interface.binding.subspan layout(#layout) binding(1) offset(%c0) : memref<?xf32>{%size}
  %3 = iree_codegen.load_from_buffer %2 : memref<?xf32> -> tensor<?xf32>
  %4 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%updates, %1 : tensor<5xf32>, tensor<5x1xi32>) outs(%3 : tensor<?xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<?xf32>
  return %4 : tensor<?xf32>
}
"""


def test_scatter_writes_in_bounds() -> None:
    with ir.parse_module(_SCATTER) as module:
        assert dict(bounds(module, [12])) == {Source(0, "i32"): 12}
        assert dict(bounds(module)) == {Source(0, "i32"): UNKNOWN_BOUND}
