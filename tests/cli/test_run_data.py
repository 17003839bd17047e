"""`dispatchgen run` with data: what the manifest says, up to the results, also at sizes that nothing lists."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
run: {min_time: 1x}
"""
_HELD = ["input 1: random f32 from -2 to 2, seed 3", "input 0: random positions from 0 to 999, seed 0", "zeros"]


def run(folder: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """The calls in the results, and what was printed."""
    command = [sys.executable, "-m", "dispatchgen", "run", "--json", "results.json", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=support.TIMEOUT)
    assert result.returncode == 0, result.stderr
    calls: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())["calls"]
    return calls, result.stdout


@pytest.mark.slow
def test_results_say_what_buffers_held(models_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "embed.mlir").write_bytes((models_dir / "embed.mlir").read_bytes())
    (tmp_path / "benchmarks.yaml").write_text(_MANIFEST)
    listed, printed = run(tmp_path)
    assert f"data: {_HELD[0]}; {_HELD[1]}; zeros elsewhere" in " ".join(printed.split())
    # A size that is not listed has the functions and the data of the build, and inputs of its own.
    other, _ = run(tmp_path, "--shape", "B=1,S=30")
    for call in (*listed, *other):
        assert call["fills"] == {"0": "random, seed 0", "1": "random from -2 to 2, seed 3"}
        assert call["whole_model"]["timing"] is not None
        assert [row["data"] for row in call["dispatches"]] == [_HELD]
        assert all(row["timing"] is not None for row in call["dispatches"])
    assert [call["symbols"] for call in other] == [{"B": 1, "S": 30}]
