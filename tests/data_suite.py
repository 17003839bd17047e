"""A suite whose data lie in files, for tests of build systems."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from substituted_suite import FIRST, HEAD, dumped_source, write_files, write_layers
from support import IreeTools

_MANIFEST = f"""\
{HEAD}
models:
  m:
    source: models/m.mlir
    run: {{min_time: 1x}}
    inputs: [{{type: 4x8xf32, data: {{file: data/x.npy}}}}, 8x16xf32, 16x24xf32]
    data: {{bindings: {{{FIRST}: {{1: {{file: data/w.npy}}}}}}}}
    substitutions:
      edited: {{dispatch: {FIRST}, source: edited.mlir}}
"""
_SHAPES = {"x": (4, 8), "w": (8, 16)}

#: What extraction writes of the files, below `<model>/<backend>/dispatches`: `w` is in the first, `x` in both.
ARCHIVE, INPUT = f"{FIRST}.irpa", "static.input0.bin"


def write_suite(folder: Path, tools: IreeTools) -> None:
    """Writes all files of the suite but locks and build files."""
    edited = dumped_source(tools, write_layers(folder), FIRST)
    write_files(folder, {"benchmarks.yaml": _MANIFEST, "edited.mlir": edited})
    (folder / "data").mkdir()
    for name in _SHAPES:
        save(folder, name, 1)


def save(folder: Path, name: str, value: float) -> None:
    """Writes one of the files of data, `x` or `w`: all elements are one number."""
    np.save(folder / "data" / f"{name}.npy", np.full(_SHAPES[name], value, np.float32))
