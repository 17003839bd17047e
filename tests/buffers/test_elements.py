"""What the bindings of kernels hold, in modules by the real compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import support
from configured import Configured
from dispatchgen.buffers import elements
from dispatchgen.iree import ir

Kernels = Mapping[str, ir.Operation]


@pytest.fixture(scope="module")
def configured(iree_tools: support.IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    return Configured(iree_tools, tmp_path_factory.mktemp("configured"))


def _kernels(module: ir.Operation) -> Kernels:
    """The executables, by the function that dispatches them: each has one."""
    return {ir.symbol(op).partition("_dispatch_")[0]: op for op in ir.body(module) if op.name == "hal.executable"}


@pytest.fixture(scope="module")
def kernels(configured: Configured, models_dir: Path) -> Iterator[Kernels]:
    with ir.read_module(configured.module(models_dir / "elements.mlir")) as module:
        yield _kernels(module)


def types(kernel: ir.Operation, bindings: int, constants: Sequence[int] = ()) -> list[list[tuple[int, str]]]:
    return [elements.pieces(kernel, binding, constants) for binding in range(bindings)]


def test_each_binding_has_elements_of_its_type(kernels: Kernels) -> None:
    assert types(kernels["gather"], 3) == [[(0, "f32")], [(0, "i64")], [(0, "f32")]]
    assert types(kernels["narrow"], 4) == [[(0, "i4")], [(0, "bf16")], [(0, "f8E4M3FN")], [(0, "f32")]]
    assert types(kernels["iota"], 2) == [[(0, "i32")], [(0, "i32")]]
    assert types(kernels["iota"], 3)[2] == [], "there is no such binding"


def test_several_tensors_in_one_buffer_have_offsets_from_push_constants(
    configured: Configured, models_dir: Path
) -> None:
    path = configured.module(models_dir / "elements.mlir", ["--iree-scheduling-optimize-bindings=true"])
    with ir.read_module(path) as module:
        kernel = _kernels(module)["results"]
        loads = len(ir.walk(kernel, "hal.interface.constant.load"))
        # Every size and offset is 64: what is loaded in two halves, the high one 0, is an offset of 64 bytes.
        assert [(64, "i8")] in types(kernel, 3, [64, 0] * (loads // 2))
        assert elements.pieces(kernel, 2, ()) == [], "without the constants the offset is not known"
