"""A night: what it leaves, and what makes it a failure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dispatchgen.baseline.job import save
from dispatchgen.errors import CheckFailed
from dispatchgen.manifest.suite import Suite
from dispatchgen.nightly.night import Night, judge, measure, take
from dispatchgen.results.load import load
from dispatchgen.results.run import RunOptions
from dispatchgen.results.shard import parse_shard
from nightly_suite import Place
from support import RunCli, kill_all, started, wait_until

pytestmark = pytest.mark.slow


def _save(suite: Suite, name: str, file: Path) -> None:
    save(suite, name, [(file, load(file))])


@pytest.fixture
def kept(place: Place) -> Place:
    """The suite with a baseline of what its first night measured."""
    night = place.night()
    _save(night.whole, "main", night.outputs.results)
    return place


def _results(night: Night) -> Any:
    return json.loads(night.outputs.results.read_text())


def _rows(night: Night) -> dict[str, Any]:
    """What was measured: model and dispatch, or `whole model`, to the row."""
    rows: dict[str, Any] = {}
    for call in _results(night)["calls"]:
        rows |= {f"{call['model']}: {row['name']}": row for row in call["dispatches"]}
        rows[f"{call['model']}: whole model"] = call["whole_model"]
    return rows


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_the_first_night_measures_and_says_how_to_save_the_baseline(whole: Place) -> None:
    night = whole.night()
    judged = judge(night)
    (problem,) = judged.problems
    assert problem.message == "there is no baseline `main`"
    assert problem.hint == f"dispatchgen baseline save main {night.outputs.results} --manifest {whole.manifest}"
    assert judged.summary == f"3 of 3 dispatches measured, 2 of 2 whole models; {night.outputs.report}"
    assert _files(night.outputs.folder) == ["report.html", "report.md", "results.json"]
    assert {len(row["timing"]["rounds"]) for row in _rows(night).values()} == {4}
    assert judge(night, "bazel run //:x").problems[0].hint == "bazel run //:x"


def test_a_night_like_the_one_of_the_baseline(kept: Place) -> None:
    night = kept.night()
    judged = kept.measure(night)
    assert [str(problem) for problem in judged.problems] == []
    assert judged.summary == (
        f"3 of 3 dispatches measured, 2 of 2 whole models; against the baseline main: 5 same; {night.outputs.report}"
    )
    files = ["comparison.json", "comparison.md", "junit.xml", "report.html", "report.md", "results.json"]
    assert _files(night.outputs.folder) == files
    suites = ElementTree.parse(night.outputs.junit).getroot()
    assert suites.get("failures") == "0"


def test_what_is_slower_fails_and_is_named(kept: Place) -> None:
    kept.program.takes("matmul_4x24x16_f32", 150)
    night = kept.night()
    judged = kept.measure(night)
    (problem,) = judged.problems
    assert problem.message.startswith("1 benchmark is slower:\n    m on cpu, local-sync, static: matmul_4x24x16_f32: +")
    assert "1 slower, 4 same" in judged.summary
    assert "matmul_4x24x16_f32" in night.outputs.markdown.read_text()
    assert ElementTree.parse(night.outputs.junit).getroot().get("failures") == "1"
    assert "slower" in night.outputs.report.read_text()


def test_where_a_benchmark_fails_the_rest_is_measured(kept: Place) -> None:
    kept.program.fails("matmul_4x24x16_f32")
    night = kept.night()
    judged = kept.measure(night)
    rows = _rows(night)
    assert "it is broken" in rows["m: matmul_4x24x16_f32"]["failure"]
    assert [name for name, row in rows.items() if row["timing"] is None] == ["m: matmul_4x24x16_f32"]
    assert [problem.message.split("\n")[0] for problem in judged.problems] == [
        "1 dispatch could not be built or run",
        "1 benchmark fails that was measured before:",
    ]


def test_what_is_not_built_is_told_and_the_rest_is_measured(kept: Place) -> None:
    (kept.built / "build" / "m" / "cpu" / "dispatches.stamp").unlink()
    (kept.built / "build" / "n" / "cpu" / "model.vmfb").unlink()
    night = kept.night()
    messages = [problem.message.split("\n")[0] for problem in kept.measure(night).problems]
    assert messages[:2] == [
        "1 call of whole models could not be built or run",
        "nothing was run of 1 model that could not be built",
    ]
    (broken,) = _results(night)["not_run"]
    assert (broken["model"], broken["reason"]) == ("m", "it is not built, or its last build failed")
    assert _rows(night)["n: matmul_4x32x8_f32"]["timing"] is not None


def test_a_stale_lock_stops_it_before_anything_else(kept: Place) -> None:
    source = kept.folder / "m.mlir"
    source.write_text(source.read_text() + "// edited\n")
    (kept.folder / "locks" / "n.json").unlink()
    night = kept.night()
    with pytest.raises(CheckFailed) as caught:
        kept.measure(night)
    missing, stale = caught.value.problems
    assert missing.message == "model n: it has no lock file"
    assert stale.message == "model m: its lock is stale: the source file changed"
    assert stale.hint == f"dispatchgen lock {kept.manifest} --model m"
    assert kept.program.calls() == []
    assert _files(night.outputs.folder) == [], "nobody takes the last night for this one"
    with pytest.raises(CheckFailed) as caught:
        measure(night, kept.options(night), kept.said, "bazel run //:renew")
    assert {problem.hint for problem in caught.value.problems} == {"bazel run //:renew"}


def test_where_no_night_was_interrupted_it_is_measured_anew(kept: Place) -> None:
    night = kept.night()
    before = _results(night)["id"]
    assert kept.measure(night, measuring=RunOptions(resume=True)).problems == []
    assert _results(night)["id"] != before
    assert "note: no night was interrupted here: it is measured anew" in kept.said.lines


def test_shards_on_two_machines_are_one_night(kept: Place) -> None:
    parts = [kept.night(f"part{index}") for index in (1, 2)]
    for index, part in enumerate(parts, 1):
        judged = kept.measure(part, measuring=RunOptions(shard=parse_shard(f"{index}/2")))
        assert judged.comparison is None, "rows of the baseline are in the other"
        assert f"; shard {index}/2 alone is not compared; " in judged.summary
    assert len(kept.program.calls()) == 20, "each task is in one of them"
    night = kept.night("merged")
    assert take(night, [part.outputs.results for part in parts]) == []
    assert judge(night).problems == []
    whole = kept.night()
    assert [row | _TIMES for row in _rows(night).values()] == [row | _TIMES for row in _rows(whole).values()]
    (missing,) = take(night, [parts[0].outputs.results])
    assert missing.message == "the results of shard 2/2 are missing"


#: What differs from run to run.
_TIMES = {"timing": None, "total_seconds": None, "share": None, "overhead_seconds": None}


def test_a_night_that_was_killed_goes_on(kept: Place, run_cli: RunCli) -> None:
    kept.program.hangs_after(9)
    command = kept.cli("--built", kept.built)
    with started([sys.executable, "-m", "dispatchgen", *command], stderr=subprocess.PIPE) as process:
        wait_until(lambda: len(kept.program.calls()) == 10, process)
        kill_all(process)
    night = kept.night()
    assert _files(night.outputs.folder) == ["results.json.partial"]
    kept.program.mend()
    outcome = run_cli(*command, "--resume")
    assert outcome.code == 0, outcome.stderr
    assert len(kept.program.calls()) == 10 + (20 - 9), "what was measured is not measured again"
    assert {len(row["timing"]["rounds"]) for row in _rows(night).values()} == {4}
    assert "5 same" in outcome.stdout.splitlines()[-1]
