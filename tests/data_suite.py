"""A suite whose data and sizes lie in files, for tests of build systems: of NumPy, and a profile."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from substituted_suite import FIRST, HEAD, dumped_source, write_files, write_layers
from support import IreeTools, run_cli

_MANIFEST = f"""\
{HEAD}
models:
  m:
    source: models/m.mlir
    run: {{rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}}
    inputs: [{{type: 4x8xf32, data: {{file: data/x.npy}}}}, 8x16xf32, 16x24xf32]
    data: {{bindings: {{{FIRST}: {{1: {{file: data/w.npy}}}}}}}}
    substitutions:
      edited: {{dispatch: {FIRST}, source: edited.mlir}}
  profiled:
    source: models/profiled.mlir
    run: {{rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}}
    shapes: {{from: profiled.json}}
    data: {{default: recorded}}
"""
_PROFILED = """\
func.func @main(%ids: tensor<?xi64>, %table: tensor<10x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %ids, %c0 : tensor<?xi64>
  %empty = tensor.empty(%size) : tensor<?x4xf32>
  %rows = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    linalg.yield %value : f32
  } -> tensor<?x4xf32>
  return %rows : tensor<?x4xf32>
}
"""
_SHAPES = {"x": (4, 8), "w": (8, 16)}

#: What extraction writes of the files, below `<model>/<backend>/dispatches`: `w` is in the first, `x` in both.
ARCHIVE, INPUT = f"{FIRST}.irpa", "static.input0.bin"


def write_suite(folder: Path, tools: IreeTools) -> None:
    """Writes all files of the suite but locks and build files."""
    edited = dumped_source(tools, write_layers(folder), FIRST)
    files = {"benchmarks.yaml": _MANIFEST, "edited.mlir": edited, "models/profiled.mlir": _PROFILED}
    write_files(folder, files)
    (folder / "data").mkdir()
    for name in _SHAPES:
        save(folder, name, 1)
    inputs = ["--input", "3xi64=9", "--input", "10x4xf32=1"]
    capture = ["capture", "profiled", "--manifest", str(folder), *inputs, "--keep-data"]
    result = run_cli(*capture, "-o", str(folder / "profiled.json"))
    assert result.code == 0, result.stderr


def save(folder: Path, name: str, value: float) -> None:
    """Writes one of the files of data, `x` or `w`: all elements are one number."""
    np.save(folder / "data" / f"{name}.npy", np.full(_SHAPES[name], value, np.float32))
