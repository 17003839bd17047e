"""Results that were measured elsewhere, as a night: all of it, of this suite, and none of it written over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dispatchgen.cli import dispatchgen
from dispatchgen.errors import ResultsError
from dispatchgen.nightly.night import judge, take
from dispatchgen.results.run import RunOptions
from dispatchgen.results.shard import parse_shard
from nightly_suite import Place

pytestmark = pytest.mark.slow


def _edited(place: Place, name: str, **measuring: Any) -> Path:
    """A copy of what the night measured, as of another run."""
    results = json.loads(place.night().outputs.results.read_text())
    results["measuring"] |= measuring
    path = place.folder / f"{name}.json"
    path.write_text(json.dumps(results | {"id": name}))
    return path


def test_where_shards_are_missing_nothing_is_compared(place: Place) -> None:
    part = _edited(place, "part", shard={"index": 1, "count": 3})
    own = place.night().outputs.results
    with pytest.raises(ResultsError, match="would be written over this one of them"):
        take(place.night(), [own, part])
    assert "shards" in own.read_text(), "it is as it was"
    own.write_bytes(part.read_bytes())
    for night, file in ((place.night(), own), (place.night("elsewhere"), part)):
        assert [each.message for each in take(night, [file])] == [
            f"the results of shard {index}/3 are missing" for index in (2, 3)
        ]
        judged = judge(night)
        assert (judged.comparison, judged.problems) == (None, [])
        assert "; shard 1/3 alone is not compared; " in judged.summary
    shards = [{"index": index, "count": 3} for index in (1, 2)]
    _edited(place, "two", shard=None, shards=shards).rename(own)
    assert "; 2 of 3 shards are not compared; " in judge(place.night()).summary
    judged = place.measure(place.night(), measuring=RunOptions(shard=parse_shard("7/1000")))
    assert judged.summary.startswith("nothing of this suite is in shard 7/1000; shard 7/1000 alone is not compared; ")
    assert judged.problems == []


def test_results_of_another_suite_are_no_success(place: Place) -> None:
    night = place.night(baseline=None)
    results = json.loads(night.outputs.results.read_text())
    results["calls"].append(results["calls"][0] | {"model": "other"})
    results["environment"]["software"]["flags"]["m/cpu"] = "0" * 64
    part = place.folder / "part.json"
    part.write_text(json.dumps(results))
    assert [problem.message for problem in take(night, [part])] == [
        "the results are not of this manifest and preset: they also have other on cpu",
        "the results are of other compile flags than the manifest has: m/cpu",
    ]
    results["environment"]["machine"]["memory_bytes"] += 1 << 40
    part.write_text(json.dumps(results | {"id": "other"}))
    with pytest.raises(ResultsError) as raised:
        take(night, [_edited(place, "copy"), part])
    assert "dispatchgen merge-results --force puts them together all the same" in [
        problem.hint for problem in raised.value.problems
    ], "a command that has the option"
    command = [str(each) for each in place.cli("--results", part)]
    for option in (["--resume"], ["--shard", "1/2"]):
        outcome = CliRunner().invoke(dispatchgen, [*command, *option])
        assert outcome.exit_code == 2
        assert "--results measures nothing: it excludes --resume and --shard" in outcome.output
