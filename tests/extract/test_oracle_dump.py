"""Oracle: on static programs extraction finds what IREE's own dump pass finds, and writes modules that say the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from iree.compiler import ir as mlir

from configured import FLAGS, Configured
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.manifest.suite import Model, Source

pytestmark = pytest.mark.main_path

#: Export, workload, push constants, binding lengths.
Facts = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]

STATIC_MLP = """
!x = tensor<4x64xf32>
!w1 = tensor<64x128xf32>
!h = tensor<4x128xf32>
!w2 = tensor<128x32xf32>
!y = tensor<4x32xf32>
func.func @main(%x: !x, %w1: !w1, %w2: !w2) -> !y {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : !h
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : !h) -> !h
  %h = linalg.matmul ins(%x, %w1 : !x, !w1) outs(%f1 : !h) -> !h
  %e2 = tensor.empty() : !y
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : !y) -> !y
  %y = linalg.matmul ins(%h, %w2 : !h, !w2) outs(%f2 : !y) -> !y
  return %y : !y
}
"""


@pytest.mark.parametrize("bindings", ["isolated", "fused"])
def test_mlp(bindings: str, configured: Configured, tmp_path: Path) -> None:
    source = tmp_path / f"mlp_{bindings}.mlir"
    source.write_text(STATIC_MLP)
    assert check(configured, source, tmp_path, bindings) == 2


@pytest.mark.parametrize("sample", ["mlp/mlp_static.mlir"])
def test_static_sample(sample: str, configured: Configured, samples_dir: Path, tmp_path: Path) -> None:
    assert check(configured, samples_dir / sample, tmp_path) > 0


@pytest.mark.slow
def test_squeezenet(configured: Configured, squeezenet: Path, tmp_path: Path) -> None:
    assert check(configured, squeezenet, tmp_path) == 29


def check(configured: Configured, source: Path, folder: Path, bindings: str = "isolated") -> int:
    """Compares extraction with the dump pass; returns the number of executables."""
    flags = ["--iree-scheduling-optimize-bindings=true"] if bindings == "fused" else []
    dump = folder / "dump"
    command: list[str | Path] = [
        configured.tools.compile,
        *(f for f in FLAGS if not flags or "optimize-bindings" not in f),
        *flags,
    ]
    command += ["--compile-to=executable-configurations", f"--iree-hal-dump-executable-benchmarks-to={dump}"]
    module = folder / "configured.mlir"
    subprocess.run([*command, source, "-o", module], check=True)
    dumped = {facts for path in dump.iterdir() for facts in facts_of_module(path.read_bytes())}
    with ir.read_module(module) as operation:
        program = Program(operation)
        extraction = extract(program, calls_of(program, Model("m", "m", Source("m.mlir", "mlir"))), "cpu")
        found = set(facts_of_lock(extraction))
        emitted = {facts for name, text in extraction.modules() for facts in renamed(extraction, name, text)}
    assert not extraction.lock.skipped
    assert emitted == found, "the modules say what the lock says"
    # The pass keeps one of several sites with equal workload; all others it has as we have them.
    assert dumped <= found
    assert {(export, workload) for export, workload, *_ in dumped} == {(e, w) for e, w, *_ in found}
    return len({dispatch.executable for dispatch in extraction.lock.dispatches})


def facts_of_lock(extraction: Extraction) -> Iterator[Facts]:
    for dispatch in extraction.lock.dispatches:
        for benchmark in dispatch.benchmarks:
            constants = tuple(value for _, value in benchmark.constants)
            yield dispatch.export, benchmark.workload, constants, benchmark.bindings


def renamed(extraction: Extraction, name: str, text: str) -> Iterator[Facts]:
    """The facts of one of our modules, with IREE's symbol in the place of the stable name."""
    (dispatch,) = (dispatch for dispatch in extraction.lock.dispatches if dispatch.name == name)
    assert dispatch.export not in text, "no symbol that shifts remains in the module"
    with mlir.Context(), mlir.Location.unknown():
        for export, *rest in facts_of_module(text.encode()):
            assert export == name
            yield (dispatch.export, *rest)  # type: ignore[misc]


def facts_of_module(data: bytes) -> Iterator[Facts]:
    """What each benchmark function of a module does, read from its operations."""
    with mlir.Context(), mlir.Location.unknown():
        module = mlir.Module.parse(data).operation
        for function in ir.walk(module, "util.func"):
            if "iree.benchmark" not in str(function.attributes["iree.reflection"]):
                continue
            (workgroups,) = ir.walk(function, "hal.executable.calculate_workgroups")
            (dispatch,) = ir.walk(function, "hal.command_buffer.dispatch")
            export = ir.symbol_ref(workgroups.attributes["entry_point"])[-1]
            view = dispatch.opview
            yield (
                export,
                tuple(map(constant, workgroups.opview.workload)),
                tuple(constant(value) & 0xFFFFFFFF for value in view.constants),
                tuple(map(constant, view.binding_lengths)),
            )


def constant(value: ir.Value) -> int:
    assert value.owner.name == "arith.constant"
    return ir.integer(value.owner.attributes["value"])
