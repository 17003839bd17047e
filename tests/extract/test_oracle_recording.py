"""Oracle: the evaluated dispatches equal those of a recorded run, in order, with push constants and binding lengths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from configured import Configured
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.program import Program
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import ir
from recording import record

pytestmark = pytest.mark.main_path

#: Program, function, inputs. Dims are chosen so that no two of a call are equal.
CALLS = [
    ("assume", "main", ["3x48x64xf32", "64x128xf32"]),
    ("ctrl", "main", ["130x64xf32", "7x64xf32", "3"]),
    ("ctrl", "main", ["5x64xf32", "9x64xf32", "0"]),
    ("datadep", "main", ["64xf32", "2xi64=5 11"]),
    ("embed", "main", ["3x17xi64", "1000x256xf32"]),
    ("merge", "main", ["6x256xf32", "6x256xf32", "64", "128"]),
    ("mlp", "main", ["42x64xf32", "64x128xf32", "128x32xf32"]),
    ("mlp", "main", ["1x64xf32", "64x128xf32", "128x32xf32"]),
    ("mlp_async", "main_async", ["42x64xf32", "64x128xf32", "128x32xf32"]),
    ("mul", "main", ["1000xf32", "1000xf32"]),
    ("multi", "attn", ["2x24x32xf32", "2x40x32xf32", "57xf32"]),
    ("nonzero", "main", ["130xf32=1"]),
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


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 6])
def test_magika(batch: int, configured: Configured, magika: Path, tmp_path: Path) -> None:
    module = configured.module(magika)
    dispatches = assert_same(configured, module, "tf2onnx", [f"{batch}x2048xi32"], tmp_path)
    assert dispatches == 13


def assert_same(
    configured: Configured,
    module: Path,
    function: str,
    inputs: Sequence[str],
    folder: Path,
    *,
    unknown_allowed: bool = False,
) -> int:
    """Compares evaluation with a recording; an unknown value, where allowed, equals anything. Returns how many ran."""
    recorded = record(configured.tools, configured.compiled(module), function, inputs, folder / "run.ireereplay")
    with ir.read_module(module) as operation:
        dispatched = evaluate(Program(operation), function, inputs).dispatched
    assert [(each.export, each.initializer) for each in dispatched] == [
        (each.export, each.during_load) for each in recorded
    ]
    for ours, theirs in zip(dispatched, recorded, strict=True):
        found = [*(value for _, value in ours.constants), *ours.lengths]
        expected = [*theirs.constants, *theirs.lengths]
        assert len(found) == len(expected)
        assert unknown_allowed or not any(isinstance(value, Unknown) for value in found)
        assert [e if isinstance(f, Unknown) else f for f, e in zip(found, expected, strict=True)] == expected
    assert recorded, "a run without a dispatch shows nothing"
    return len(recorded)
