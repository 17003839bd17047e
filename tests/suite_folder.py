"""Small suites in a folder, with locks made by the real compiler, for tests of the rules of each build system."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import onnx

from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.make import make_lock
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, write_lock
from dispatchgen.manifest.suite import Backend, Device, Model, Preset, RunSettings, Source, Suite
from support import REPOSITORY

HOST = Backend(
    name="host",
    id="host",
    target_device="local",
    local_backend="llvm-cpu",
    compile_flags=("--iree-llvmcpu-target-cpu=generic",),
    devices=(Device("local-sync", "local-sync"),),
)


def layers_program(widths: Sequence[int]) -> str:
    """A program of dense layers, one dispatch each: `widths` are the widths of the input and of each layer."""
    shapes = [f"tensor<{inner}x{outer}xf32>" for inner, outer in pairwise(widths)]
    arguments = ", ".join(f"%w{i}: {shape}" for i, shape in enumerate(shapes))
    lines = [f"func.func @main(%x0: tensor<4x{widths[0]}xf32>, {arguments}) -> tensor<4x{widths[-1]}xf32> {{"]
    lines.append("  %zero = arith.constant 0.0 : f32")
    for i, (inner, outer) in enumerate(pairwise(widths)):
        result = f"tensor<4x{outer}xf32>"
        lines += [
            f"  %e{i} = tensor.empty() : {result}",
            f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {result}) -> {result}",
            f"  %x{i + 1} = linalg.matmul ins(%x{i}, %w{i} : tensor<4x{inner}xf32>, {shapes[i]})",
            f"    outs(%f{i} : {result}) -> {result}",
        ]
    lines += [f"  return %x{len(widths) - 1} : tensor<4x{widths[-1]}xf32>", "}", ""]
    return "\n".join(lines)


def write_onnx(path: Path, graph: str = "main") -> None:
    """Writes a model of one matrix product. The importer calls its function like the graph."""
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("a", [4, 8]), ("b", [8, 16]), ("c", [4, 16]))
    ]
    node = onnx.helper.make_node("MatMul", ["a", "b"], ["c"])
    program = onnx.helper.make_graph([node], graph, values[:2], values[2:])
    opset = [onnx.helper.make_opsetid("", 17)]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.helper.make_model(program, opset_imports=opset, ir_version=8), path)


def layers_model(name: str, **settings: object) -> Model:
    """The model of a `layers_program` in `models/<name>.mlir`."""
    values: dict[str, object] = {"backends": ("host",), "run": RunSettings(min_time="1x"), **settings}
    return Model(name=name, id=name, source=Source(f"models/{name}.mlir", "mlir"), **values)  # type: ignore[arg-type]


@dataclass
class SuiteFolder:
    """A suite in a folder."""

    folder: Path
    models: list[Model] = field(default_factory=list, kw_only=True)
    backends: tuple[Backend, ...] = field(default=(HOST,), kw_only=True)
    presets: tuple[Preset, ...] = field(default=(), kw_only=True)

    @property
    def suite(self) -> Suite:
        return Suite(self.folder / "benchmarks.yaml", self.backends, tuple(self.models), self.presets)

    def write_layers(self, name: str, widths: Sequence[int], comment: str = "") -> None:
        """Writes the program of a model that `layers_model` describes."""
        path = self.folder / "models" / f"{name}.mlir"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(comment + layers_program(widths))

    def lock(self, *names: str) -> None:
        """Makes or renews the locks of these models; none: of all."""
        tools = find_tools()
        for model in self.models:
            if not names or model.id in names:
                path = self.suite.lock_path(model)
                previous = read_lock(path) if path.exists() else None
                write_lock(path, make_lock(tools, self.suite, model, previous))

    def locks(self) -> Mapping[str, Lock]:
        """The lock of each model, by the model's id."""
        return {model.id: read_lock(self.suite.lock_path(model)) for model in self.models}

    def dispatches(self, model: str, backend: str = "host") -> dict[str, str]:
        """Dispatch -> hash of its content, as the model's lock lists them."""
        lock = read_lock(self.folder / "locks" / f"{model}.json")
        return {dispatch.name: dispatch.content for dispatch in lock.backends[backend].dispatches}


def copy_checkout(folder: Path) -> Path:
    """Copies the package and the rules; returns the folder for PYTHONPATH."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("generator", "genrules"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignore)
    return folder / "generator"
