"""`dispatchgen run` of what is built already and of two builds in turns."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import support
from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.errors import OutputError
from dispatchgen.job import Options, run_job
from dispatchgen.manifest import load_suite

pytestmark = pytest.mark.slow

_MANIFEST = """
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
run: {rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}
models:
  mlp: {source: mlp.mlir, inputs: [2x64xf32, 64x128xf32, 128x32xf32]}
"""
_OTHER_FLAGS = ("cpu=generic]", "cpu=generic, --iree-vm-emit-polyglot-zip=false]")


@dataclass(frozen=True)
class Suite:
    """A suite that was built with one set of flags in `old`, and with another one in its own folder."""

    folder: Path

    @property
    def old(self) -> Path:
        return self.folder.parent / "old"

    def run(self, *arguments: str | Path) -> support.CliResult:
        return support.run_cli("run", self.folder, *arguments)

    def edit(self, old: str, new: str) -> None:
        manifest = self.folder / "benchmarks.yaml"
        manifest.write_text(manifest.read_text().replace(old, new))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Suite:
    suite = Suite(tmp_path_factory.mktemp("builds") / "suite")
    suite.folder.mkdir()
    shutil.copy(models_dir / "mlp.mlir", suite.folder)
    (suite.folder / "benchmarks.yaml").write_text(_MANIFEST)
    built = suite.run("--build-dir", suite.old)
    assert built.code == 0, built.stderr
    suite.edit(*_OTHER_FLAGS)
    built = suite.run("--beside", suite.old, "--rounds", "3")
    assert built.code == 0, built.stderr
    return suite


def results(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def timings(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The timings of the only call, by the benchmark's name; of the whole model, `model`."""
    (call,) = data["calls"]
    found = {row["benchmark"]: row["timing"] for row in call["dispatches"]}
    return {**found, "model": call["whole_model"]["timing"]}


def test_two_builds_are_measured_in_turns(suite: Suite) -> None:
    own, beside = results(suite.folder / ".dispatchgen/results.json"), results(suite.old / "results.json")
    assert own["session"] == beside["session"]
    assert own["id"] != beside["id"]
    first, second = timings(own), timings(beside)
    assert sorted(first) == sorted(second)
    assert len(first) == 3
    assert {tuple(timing["rounds"]) for timing in (*first.values(), *second.values())} == {(0, 1, 2)}
    for name, timing in first.items():
        # Each round has both, before the next one begins.
        pairs = list(zip(timing["at"], second[name]["at"], strict=True))
        assert all(max(pair) < min(following) for pair, following in itertools.pairwise(pairs))


def test_each_of_two_builds_says_what_it_was_made_with(suite: Suite) -> None:
    own, beside = results(suite.folder / ".dispatchgen/results.json"), results(suite.old / "results.json")
    made = [data["environment"]["software"]["flags"]["mlp/cpu"] for data in (own, beside)]
    assert made[0] != made[1]
    modules = [data["calls"][0]["whole_model"]["compiled"]["sha256"] for data in (own, beside)]
    assert modules[0] != modules[1]
    assert own["environment"]["machine"] == beside["environment"]["machine"]


def test_a_build_is_measured_as_it_is(suite: Suite, tmp_path: Path) -> None:
    """Nothing is compiled: there is no compiler that could."""
    tree, file = suite.folder / ".dispatchgen/build", tmp_path / "results.json"
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*.*")}
    built = suite.run("--built", tree, "--build-dir", tmp_path / "work", "--json", file)
    assert built.code == 0, built.stderr
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*.*")} == before
    assert set(timings(results(file))) == set(timings(results(suite.folder / ".dispatchgen/results.json")))
    assert not (tmp_path / "work" / "build").exists()


def test_a_build_of_another_lock_is_refused(suite: Suite, tmp_path: Path) -> None:
    (suite.folder / "locks" / "mlp.json").rename(tmp_path / "mlp.json")
    try:
        suite.edit("2x64xf32", "4x64xf32")
        assert support.run_cli("lock", suite.folder).code == 0
        refused = suite.run("--built", suite.folder / ".dispatchgen")
    finally:
        suite.edit("4x64xf32", "2x64xf32")
        (tmp_path / "mlp.json").rename(suite.folder / "locks" / "mlp.json")
    assert refused.code == 2
    assert "the build of model mlp on cpu is not of the lock" in refused.stderr
    assert "build it again" in refused.stderr


def test_what_is_no_build_is_refused(suite: Suite, tmp_path: Path) -> None:
    refused = suite.run("--beside", tmp_path)
    assert refused.code == 2
    assert "error: no finished build of dispatchgen is kept here\n" in refused.stderr
    refused = suite.run("--built", tmp_path)
    assert refused.code == 1
    assert "nothing was run of 1 model that could not be built" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def _refusal(suite: Suite, options: Options) -> str:
    """What is said of a run that is refused."""
    whole = load_suite(suite.folder)
    with pytest.raises(OutputError) as refused:
        run_job(whole, whole, options, ConsoleObserver(Console(stderr=True)))
    return str(refused.value)


def test_what_cannot_be_measured_beside_is_said_before_anything_is_built(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(suite.old)
    options = Options(build_dir=suite.old, beside=tmp_path / "link")
    assert "this build folder is to be measured beside itself" in _refusal(suite, options)
    options = Options(build_dir=tmp_path / "new", beside=suite.old)
    for file, other in [(suite.old / "results.json", None), (tmp_path / "x", tmp_path / "x")]:
        found = _refusal(suite, replace(options, file=file, beside_file=other))
        assert "the results of two builds are to be in one file" in found
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_a_build_that_did_not_end_is_not_told_to_be_the_one_before(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dispatchgen.job.run.make", interrupted)
    whole = load_suite(suite.folder)
    record = suite.old / "build.json"
    kept = record.read_bytes()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_job(whole, whole, Options(build_dir=suite.old), ConsoleObserver(Console(stderr=True)))
        for options in (Options(built=suite.old), Options(beside=suite.old)):
            found = _refusal(suite, replace(options, build_dir=tmp_path / "new"))
            assert "no finished build of dispatchgen is kept here" in found
    finally:
        record.write_bytes(kept)
