"""`dispatchgen run` on a deployed model with a dynamic batch."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import support


@pytest.mark.slow
def test_every_dispatch_of_magika_is_measured(tmp_path: Path, samples_dir: Path) -> None:
    """All 13, none of which IREE dumps by itself, and the figures that compare them with the whole model."""
    suite = tmp_path / "magika"
    shutil.copytree(samples_dir / "magika", suite, ignore=shutil.ignore_patterns(".dispatchgen", "locks"))
    result = support.run_cli("run", suite, "--min-time", "1x", "--json", tmp_path / "results.json")
    assert result.code == 0, result.stderr
    calls = json.loads((tmp_path / "results.json").read_text())["calls"]
    assert len(calls) > 1
    for call in calls:
        assert call["coverage"] == {"dispatches": 13, "measured": 13, "skipped": 0, "failed": 0, "left_out": 0}
        assert call["skipped"] == []
        assert len(call["dispatches"]) == 13
        assert all(row["timing"]["seconds"] > 0 for row in call["dispatches"])
        assert call["whole_model"]["timing"]["seconds"] > 0
        assert call["sum_by_model"] == pytest.approx(call["sum_seconds"] / call["whole_model"]["timing"]["seconds"])
    assert result.stdout.count("13 of 13 dispatches") == len(calls)
