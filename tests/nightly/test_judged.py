"""What is no success of a night: that nothing, or not all, was there to be judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from dispatchgen.baseline.job import save
from dispatchgen.comparison.conditions import Condition
from dispatchgen.errors import ManifestError
from dispatchgen.manifest import load_suite
from dispatchgen.nightly.night import Night, judge, take
from dispatchgen.results.load import load
from dispatchgen.results.run import RunOptions
from dispatchgen.results.shard import parse_shard
from nightly_suite import Place

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(place: Place) -> Place:
    """The suite with a baseline of what its first night measured."""
    night = place.night()
    file = night.outputs.results
    save(night.whole, "main", [(file, load(file))])
    return place


def _results(night: Night) -> Any:
    return json.loads(night.outputs.results.read_text())


def test_the_only_shard_is_the_whole_night(kept: Place) -> None:
    kept.program.takes("matmul_4x24x16_f32", 150)
    night = kept.night()
    judged = kept.measure(night, measuring=RunOptions(shard=parse_shard("1/1")))
    assert judged.comparison is not None
    assert judged.problems
    results = _results(night)
    assert results["measuring"]["shard"] is None
    results["measuring"]["shard"] = {"index": 1, "count": 1}
    night.outputs.results.write_text(json.dumps(results))
    assert judge(night).comparison is not None, "wherever it is from"


def test_results_that_lack_a_model_of_the_preset_are_no_success(kept: Place) -> None:
    night = kept.night(baseline=None)
    results = _results(night)
    results["calls"] = [call for call in results["calls"] if call["model"] == "m"]
    part = kept.folder / "part.json"
    part.write_text(json.dumps(results))
    (problem,) = [*take(night, [part]), *judge(night).problems]
    assert problem.message == "the results have nothing of model n on cpu"
    assert "; there is no baseline to compare with; " in judge(night).summary


def _with_other_names(results: Any) -> None:
    """As of a night of another suite: no row is one of the baseline."""
    for call in results["calls"]:
        call["call"] = "another"


def _absent(results: Any) -> None:
    """As where no device answers."""
    results["not_run"] = [
        {
            "model": call["model"],
            "backend": call["backend"],
            "device": call["device"],
            "cause": "absent-device",
            "reason": "no driver",
        }
        for call in results["calls"]
    ]
    results["calls"] = []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with_other_names, "no benchmark was measured in both results: nothing was compared"),
        (_absent, "nothing was measured"),
    ],
)
def test_what_cannot_be_judged_is_no_success(kept: Place, change: Callable[[Any], None], message: str) -> None:
    night = kept.night()
    results = _results(night)
    change(results)
    night.outputs.results.write_text(json.dumps(results))
    night = replace(night, conditions=(Condition("slower"),))
    assert message in [problem.message for problem in judge(night).problems]


def test_too_few_rounds_judge_nothing(kept: Place) -> None:
    night = replace(
        kept.night(budget=None, run={"rounds": 2, "repetitions": 1, "batch_size": 1}),
        conditions=(Condition("failed"),),
    )
    (problem,) = kept.measure(night).problems
    assert problem.message.startswith("nothing could be judged:\n    ")
    assert ElementTree.parse(night.outputs.junit).getroot().get("failures") == "1"


def test_a_budget_that_is_too_small_is_no_success(kept: Place) -> None:
    night = replace(kept.night(budget=1e-9), conditions=(Condition("slower"),))
    messages = [problem.message for problem in kept.measure(night).problems]
    assert any(message.endswith("not measured: the budget was spent") for message in messages)
    assert any(message.startswith("nothing could be judged:") for message in messages)


def test_a_preset_that_selects_nothing_is_refused(kept: Place) -> None:
    text = kept.manifest.read_text()
    kept.manifest.write_text(text + "  none: {labels: [odd], budget: 1s}\n")
    with pytest.raises(ManifestError, match="nothing has the label `odd`"):
        load_suite(kept.manifest)
