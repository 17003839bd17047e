"""`dispatchgen run` with cold caches, with the real compiler, CMake and Ninja."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import support
from cmake_project import find_program

pytestmark = pytest.mark.slow

_MANIFEST = """
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
run: {rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x, caches: both, cold_memory: 1MiB}
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: [2, 7]}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """A suite with cold benchmarks that was run once: its folder."""
    suite = tmp_path_factory.mktemp("cold") / "suite"
    suite.mkdir()
    shutil.copy(models_dir / "mlp.mlir", suite)
    (suite / "benchmarks.yaml").write_text(_MANIFEST)
    result = support.run_cli("run", suite)
    assert result.code == 0, result.stderr
    return suite


def _data(suite: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((suite / ".dispatchgen" / "results.json").read_text())
    return found


def _rows(suite: Path) -> Iterator[dict[str, Any]]:
    return (row for call in _data(suite)["calls"] for row in call["dispatches"])


def test_what_is_asked_for_is_measured(suite: Path) -> None:
    assert all(row["timing"] and row["cold"] for row in _rows(suite))
    settings = _data(suite)["calls"][0]["settings"]
    assert (settings["caches"], settings["cold_memory"]) == ("both", 1 << 20)
    result = support.run_cli("run", suite, "--caches", "cold")
    assert result.code == 0, result.stderr
    assert all(row["cold"] and not row["timing"] and row["total_seconds"] for row in _rows(suite))


def test_sizes_that_nothing_lists_are_warm(suite: Path) -> None:
    result = support.run_cli("run", suite, "--shape", "B=5", "--caches", "cold")
    assert result.code == 1
    assert "functions that take sizes are measured warm only" in result.stdout
    assert all(row["timing"] is None and row["cold"] is None for row in _rows(suite))


def test_tests_of_builds_run_cold_functions(suite: Path) -> None:
    """CTest and Bazel run all functions of a module."""
    folder = suite / ".dispatchgen" / "build"
    command = [find_program("ctest"), "--test-dir", str(folder), "-L", "test-type=dispatch-benchmark"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=support.TIMEOUT)
    assert result.returncode == 0, result.stdout
    for name in ("matmul_Dx128x64_f32", "matmul_Dx32x128_f32"):
        file = folder / "results" / "mlp" / "cpu" / "local-sync" / f"{name}.json"
        found = {each["name"].split("/")[0] for each in json.loads(file.read_text())["benchmarks"]}
        assert found == {f"BM_{name}__{shape}{end}" for shape in ("B2", "B7") for end in ("", "__cold")}
