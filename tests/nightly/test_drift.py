"""Nights of builds whose dispatches are no longer those of the lock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dispatchgen.job import Options
from dispatchgen.lock.store import read_lock, write_lock
from dispatchgen.nightly.night import judge, measure
from nightly_suite import Place

pytestmark = pytest.mark.slow


def _lock_another_dispatch(place: Place) -> None:
    """Makes the lock of m one of a program with a softmax in place of the second layer."""
    path = place.folder / "locks" / "m.json"
    lock = read_lock(path)
    found = lock.backends["cpu"]
    changes = {"name": "softmax_4x24xf32", "operation": "softmax_4x24xf32", "content": "0" * 64}
    dispatches = tuple(
        each.model_copy(update=changes) if each.name == "matmul_4x24x16_f32" else each for each in found.dispatches
    )
    backends = {**lock.backends, "cpu": found.model_copy(update={"dispatches": dispatches})}
    write_lock(path, lock.model_copy(update={"backends": backends}))


def _night(place: Place, **settings: Any) -> tuple[list[str], dict[str, Any]]:
    """Locks another dispatch, builds and measures. What the night fails of, and the results."""
    _lock_another_dispatch(place)
    night = place.night(baseline=None)
    options = Options(tools=place.tools, build_dir=place.built, keep_locks=True, pin="none", **settings)
    problems = measure(night, options, place.said)
    messages = [problem.message for problem in [*problems, *judge(night).problems]]
    return messages, json.loads(night.outputs.results.read_text())


def test_where_drift_is_allowed_the_rest_is_measured_and_the_drift_told(place: Place) -> None:
    place.manifest.write_text(place.manifest.read_text().replace("source: m.mlir", "source: m.mlir, drift: allow"))
    before = (place.folder / "locks" / "n.json").read_bytes()
    messages, results = _night(place)
    assert messages == []
    (call,) = [call for call in results["calls"] if call["model"] == "m"]
    assert [row["name"] for row in call["dispatches"] if row["timing"]] == ["matmul_4x16x8_f32"]
    assert [row["name"] for row in call["dispatches"]] == ["matmul_4x16x8_f32"]
    assert call["coverage"]["left_out"] == 1
    assert call["whole_model"]["timing"] is not None
    notes = [line for line in place.said.lines if line.startswith("note: ")]
    assert "note: removed: softmax_4x24xf32" in notes
    assert "note: added: matmul_4x24x16_f32" in notes
    assert (place.folder / "locks" / "n.json").read_bytes() == before, "no lock is renewed"


def test_where_it_is_not_the_model_fails_and_the_others_are_measured(place: Place) -> None:
    messages, results = _night(place)
    assert messages == ["nothing was run of 1 model that could not be built"]
    (broken,) = results["not_run"]
    assert broken["model"] == "m"
    assert "dispatchgen lock" in broken["reason"], "the command that renews it"
    assert {call["model"] for call in results["calls"]} == {"n"}
