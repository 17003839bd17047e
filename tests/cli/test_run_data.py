"""`dispatchgen run` with data: what the manifest says, up to the results, also at sizes that nothing lists."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import support

_MANIFEST = """\
version: 1
models:
  embed:
    source: embed.mlir
    inputs:
      - {type: BxSxi64, data: random}
      - {type: 1000x256xf32, data: {random: [-2, 2], seed: 3}}
    shapes: [{B: 1, S: 8}, {B: 2, S: 64}]
  rows:
    source: table.mlir
    inputs: [{type: Ixi64, data: random}, {type: Vx8xf32, data: {file: table.npy}}]
    shapes: {I: 8, V: 10}
  pair:
    source: table.mlir
    inputs: ["2xi64=P Q", Wx8xf32]
    shapes: [{P: 0, Q: 1, W: 10}, {P: 2, Q: 3, W: 12}]
run: {rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}
"""
_UNFIT = "zeros (the data fit listed shapes only)"
_HELD = ["input 1: random f32 from -2 to 2, seed 3", "input 0: random positions from 0 to 999, seed 0", "zeros"]


def run(folder: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """The calls in the results, and what was printed."""
    command = [sys.executable, "-m", "dispatchgen", "run", "--json", "results.json", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=support.TIMEOUT)
    assert result.returncode == 0, result.stderr
    calls: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())["calls"]
    return calls, result.stdout


def shapes(*sizes: str) -> list[str]:
    return [text for each in sizes for text in ("--shape", each)]


@pytest.mark.slow
def test_results_say_what_buffers_held(models_dir: Path, tmp_path: Path) -> None:
    for name in ("embed.mlir", "table.mlir"):
        shutil.copy(models_dir / name, tmp_path)
    np.save(tmp_path / "table.npy", np.ones((10, 8), "f4"))
    (tmp_path / "benchmarks.yaml").write_text(_MANIFEST)
    (*listed, rows, pair, _), printed = run(tmp_path)
    assert f"data: {_HELD[0]}; {_HELD[1]}; zeros elsewhere" in " ".join(printed.split())
    # A size that is not listed has the functions and the data of the build, and inputs of its own.
    stale = tmp_path / ".dispatchgen/build/embed/cpu/sizes/B9_S9.flags"
    stale.parent.mkdir()
    stale.write_text("--function=main")
    (*other, fewer, others), _ = run(tmp_path, *shapes("B=1,S=30", "I=6,V=4", "P=1,Q=2,W=5"))
    for call in (*listed, *other):
        assert call["fills"] == {"0": "random, seed 0", "1": "random from -2 to 2, seed 3"}
        assert call["whole_model"]["timing"] is not None
        assert [row["data"] for row in call["dispatches"]] == [_HELD]
        assert all(row["timing"] is not None for row in call["dispatches"])
    assert [call["symbols"] for call in other] == [{"B": 1, "S": 30}]
    assert sorted(path.name for path in stale.parent.iterdir()) == [
        "B1_S30.flags",
        "B1_S30.input0.bin",
        "B1_S30.input1.bin",
    ]
    # Positions are in bounds of the listed table, its file and the values of positions fit no other shape.
    assert rows["dispatches"][0]["data"][:2] == ["input 1: table.npy", "input 0: random positions from 0 to 9, seed 0"]
    assert fewer["dispatches"][0]["data"] == [_UNFIT, _UNFIT, "zeros"]
    assert fewer["fills"] == {"0": "random, seed 0", "1": "zeros (table.npy: its shape is 10x8; 4x8 is needed)"}
    assert pair["dispatches"][0]["data"][1] == "input 0: as given"
    assert others["dispatches"][0]["data"] == ["zeros", _UNFIT, "zeros"]
    assert all(call["whole_model"]["timing"] is not None for call in (rows, pair, fewer, others))
    refused = support.run_cli("run", tmp_path, *shapes("P=1,Q=7,W=5"))
    assert refused.code == 2
    assert "input 0: element 1 is 7, the kernel needs positions from 0 to 4" in refused.stderr
