"""A suite of small models on all kinds of backends, copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import support
from suite_folder import layers_program

_MANIFEST = """\
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
  vmvx: {target_device: local, local_backend: vmvx}
  sm_80: {target_device: cuda, compile_flags: [--iree-cuda-target=sm_80]}
  gfx942: {target_device: hip, compile_flags: [--iree-rocm-target=gfx942]}
  vulkan: {target_device: vulkan}
  metal: {target_device: metal}
models:
  product:
    source: product.mlir
    inputs: [Nxf32, Nxf32]
    shapes: {N: [100, 5000]}
    backends: [cpu, vmvx, sm_80, gfx942, vulkan, metal]
  layers:
    source: layers.mlir
    backends: [cpu, gfx942]
"""


@pytest.fixture(scope="session")
def _locked(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("workbench")
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    (folder / "product.mlir").write_text((models_dir / "mul.mlir").read_text())
    (folder / "layers.mlir").write_text(layers_program([64, 32, 128]))
    locked = support.run_cli("lock", folder)
    assert locked.code == 0, locked.stderr
    return folder


@pytest.fixture
def suite_dir(_locked: Path, tmp_path: Path) -> Path:
    """The suite's folder: `product` is one dynamic dispatch, `layers` are two static ones. Both are locked."""
    return Path(shutil.copytree(_locked, tmp_path / "suite"))


@pytest.fixture
def manifest(suite_dir: Path) -> Path:
    """Its manifest."""
    return suite_dir / "benchmarks.yaml"
