"""Data in a file: it is written beside each benchmark module that people get, and its commands name it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support import RunCli

_DISPATCH = "elementwise_D_f32"


@pytest.fixture
def root(manifest: Path) -> Path:
    """The folder of a suite whose buffers hold random numbers."""
    manifest.write_text(manifest.read_text().replace("    shapes: {N", "    data: {default: random}\n    shapes: {N"))
    return manifest.parent


def test_the_printed_commands_run_with_it(root: Path, run_cli: RunCli) -> None:
    printed = run_cli("repro", "product", "--dispatch", _DISPATCH, "--backend", "cpu", "-o", "my repro", cwd=root)
    assert printed.code == 0, printed.stderr
    done = subprocess.run(["sh"], input=printed.stdout, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.count("BM_") == 2, done.stdout
    assert (root / "my repro" / "dispatches" / f"{_DISPATCH}.irpa").stat().st_size > 5000 * 4


def test_a_dumped_benchmark_module_has_it_beside_it(root: Path, run_cli: RunCli) -> None:
    done = run_cli("dump", "product", "--backend", "cpu", "--stage", "benchmark", "-o", "out", cwd=root)
    assert done.code == 0, done.stderr
    names = [f"{_DISPATCH}.benchmark.{suffix}" for suffix in ("irpa", "mlir")]
    assert sorted(path.name for path in (root / "out").iterdir()) == names
    assert all(f"wrote out/{name}\n" in done.stderr for name in names)
