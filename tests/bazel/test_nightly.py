"""Presets that are measured as a whole, on real Bazel."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bazel_project import BazelProject
from suite_folder import layers_program
from support import TIMEOUT, run_cli

pytestmark = [pytest.mark.slow, pytest.mark.bazel]

#: No time decides.
_MANIFEST = """\
version: 1
backends:
  cpu: {target_device: local, local_backend: llvm-cpu, devices: [local-sync]}
models:
  m: {source: my model.mlir}
presets:
  quick:
    budget: 10m
    baseline: main
    fail_on: [failed]
    run: {rounds: 3, precision: 90%, min_time: 1x, repetitions: 1, batch_size: 1}
"""
_PRESET = "//suite:iree-dispatch-benchmarks-preset-quick"
_OUTPUTS = "suite/iree-dispatch-benchmarks-preset-quick.nightly"
#: What only measuring reads.
_OF_MEASURING = (
    "measure-site-packages",
    *(f"dispatchgen/{name}/" for name in ("results", "comparison", "report", "job")),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BazelProject]:
    """A suite in a package, locked."""
    folder = tmp_path_factory.mktemp("nightly") / "workspace"
    suite = folder / "suite"
    suite.mkdir(parents=True)
    (suite / "my model.mlir").write_text(layers_program((8, 16)))
    (suite / "benchmarks.yaml").write_text(_MANIFEST)
    for command in (["lock"], ["generate", "--bazel"]):
        outcome = run_cli(*command, suite)
        assert outcome.code == 0, outcome.stderr
    with BazelProject(folder) as project:
        project.write_workspace()
        yield project


def test_a_preset_is_measured_saved_and_compared(project: BazelProject) -> None:
    first = project.test(f"{_PRESET}.nightly", check=False)
    assert first.returncode == 3, first.stdout
    assert "1 of 1 dispatches measured" in first.stdout
    assert "error: there is no baseline `main`" in first.stdout
    assert f"  try: bazel run {_PRESET}.baseline_save\n" in first.stdout

    saved = project.bazel("run", f"{_PRESET}.baseline_save").stdout
    (baseline,) = project.folder.glob("suite/baselines/main/*.json")
    assert f"wrote {baseline}" in saved

    project.test(f"{_PRESET}.nightly")
    assert project.undeclared_output(_OUTPUTS, "comparison.json")["rows"]
    assert len(project.undeclared_output(_OUTPUTS, "results.json")["calls"]) == 1


def test_a_stale_lock_stops_it_with_the_target_that_renews_it(project: BazelProject, tmp_path: Path) -> None:
    """The test is started as Bazel starts it, on links to the files as they are."""
    project.build(f"{_PRESET}.nightly")
    source = project.folder / "suite" / "my model.mlir"
    text = source.read_text()
    source.write_text(f"{text}// edited\n")
    program = project.bazel_bin / _OUTPUTS
    environment = {"PATH": "/usr/bin:/bin", "TEST_TMPDIR": str(tmp_path)}
    outcome = subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    source.write_text(text)
    assert outcome.returncode == 1
    assert "error: model m: its lock is stale: the source file changed" in outcome.stderr
    assert "  try: bazel run //suite:iree-dispatch-benchmarks.update\n" in outcome.stderr


def test_no_step_of_the_build_reads_what_only_measuring_needs(project: BazelProject) -> None:
    def files(target: str) -> list[str]:
        return project.bazel("query", f"deps(@iree_tools//:{target})").stdout.splitlines()

    assert [name for name in files("dispatchgen_files") if any(part in name for part in _OF_MEASURING)] == []
    assert any("measure-site-packages/scipy/" in name for name in files("measure_files"))
