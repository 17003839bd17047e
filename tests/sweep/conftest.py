"""A suite of small dynamic models on the backends that run anywhere, and some that do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

_MANIFEST = """\
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
  vmvx: {target_device: local, local_backend: vmvx, devices: [local-sync]}
  vulkan: {target_device: vulkan, devices: [vulkan]}
  cuda: {target_device: cuda, compile_flags: [--iree-cuda-target=sm_80], devices: [cuda]}
  metal: {target_device: metal}
run: {min_time: 1x}
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: 4}
    backends: [cpu, vmvx, vulkan, cuda, metal]
  linked:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: 4}
    backends: [cpu]
    compile_flags: [--iree-llvmcpu-embedded-linker-path=ld.sh]
  assume:
    source: assume.mlir
    inputs: [BxSx64xf32, 64x128xf32]
    shapes: {B: 2, S: 32}
    backends: [cpu]
  chosen:
    source: assume.mlir
    shapes: {auto: 3}
    backends: [cpu]
  ctrl:
    source: ctrl.mlir
    inputs: [Nx64xf32, Mx64xf32, index=I]
    shapes: {N: 5, M: 9, I: 1}
    backends: [cpu]
  embed:
    source: embed.mlir
    inputs: [BxSxi64, 1000x256xf32]
    shapes: {B: 2, S: 8}
    backends: [cpu]
  filled:
    source: embed.mlir
    inputs: [{type: BxSxi64, data: {file: positions.npy}}, 1000x256xf32]
    shapes: {B: 2, S: 8}
    data: {default: random, bindings: {"*": {0: 0.5}}}
    backends: [cpu]
"""


@pytest.fixture(scope="session")
def suite_dir(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """The suite's folder. It has no locks; executables that a test compiles stay for the next."""
    folder = tmp_path_factory.mktemp("sweep")
    np.save(folder / "positions.npy", np.arange(16).reshape(2, 8))
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    for name in ("mlp", "assume", "ctrl", "embed"):
        shutil.copy(models_dir / f"{name}.mlir", folder)
    return folder
