"""Oracle: the evaluated dispatches equal those of a recorded run, in order, with push constants and binding lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from configured import Configured
from oracle import assert_same

pytestmark = pytest.mark.main_path

#: Program, function, inputs. Dims are chosen so that no two of a call are equal.
CALLS = [
    ("assume", "main", ["3x48x64xf32", "64x128xf32"]),
    ("ctrl", "main", ["130x64xf32", "7x64xf32", "3"]),
    ("ctrl", "main", ["5x64xf32", "9x64xf32", "0"]),
    ("datadep", "main", ["64xf32", "2xi64=5 11"]),
    ("elements", "gather", ["10x4xf32", "7xi64"]),
    ("elements", "results", ["13xf32"]),
    ("embed", "main", ["3x17xi64", "1000x256xf32"]),
    ("initializer", "main", ["3x64xf32"]),
    ("merge", "main", ["6x256xf32", "6x256xf32", "64", "128"]),
    ("mlp", "main", ["42x64xf32", "64x128xf32", "128x32xf32"]),
    ("mlp", "main", ["1x64xf32", "64x128xf32", "128x32xf32"]),
    ("mlp_async", "main_async", ["42x64xf32", "64x128xf32", "128x32xf32"]),
    ("mul", "main", ["1000xf32", "1000xf32"]),
    ("multi", "attn", ["2x24x32xf32", "2x40x32xf32", "57xf32"]),
    ("nonzero", "main", ["130xf32=1"]),
    ("resources", "main", ["128xf32", "8xf32"]),
    ("rows", "main", ["64xf32", "8xi32", "8xi32"]),
    ("table", "main", ["7xi64", "10x8xf32"]),
    ("torchsym", "main", ["3x48x64xf32", "64x128xf32"]),
]


@pytest.mark.parametrize(("name", "function", "inputs"), CALLS)
def test_small_program(
    name: str, function: str, inputs: list[str], configured: Configured, models_dir: Path, tmp_path: Path
) -> None:
    if name == "ctrl" and configured.tools.version < (3, 13):
        pytest.skip("IREE 3.12 itself cannot run this program: OUT_OF_RANGE in hal.device.queue.execute")
    module = configured.module(models_dir / f"{name}.mlir")
    assert_same(configured, module, function, inputs, tmp_path, unknown_allowed=name == "nonzero")


def test_a_size_that_the_device_computes_and_an_override_gives(
    configured: Configured, models_dir: Path, tmp_path: Path
) -> None:
    module = configured.module(models_dir / "nonzero.mlir")
    numbers = "7xf32=1 0 2 0 0 3 4"
    assert_same(configured, module, "main", [numbers], tmp_path, overrides={"reduction_D_f32xi64": 4})


@pytest.mark.slow
def test_magika(configured: Configured, magika: Path, tmp_path: Path) -> None:
    module = configured.module(magika)
    for batch in (1, 3, 7):
        assert len(assert_same(configured, module, "tf2onnx", [f"{batch}x2048xi32"], tmp_path)) == 13


def test_every_program_is_compared(models_dir: Path) -> None:
    assert {path.stem for path in models_dir.glob("*.mlir")} == {name for name, *_ in CALLS}
