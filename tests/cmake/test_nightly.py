"""Presets that are measured as a whole: targets and tests of CMake, with times of the test's choice."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cmake_project import Project
from stand_in_benchmark import StandIn
from suite_folder import layers_program
from support import IreeTools, run_cli

pytestmark = pytest.mark.slow

_MANIFEST = """\
version: 1
backends:
  cpu: {target_device: local, local_backend: llvm-cpu, devices: [local-sync]}
models:
  m: {source: m.mlir}
presets:
  quick: {budget: 10m, baseline: main, run: {rounds: 4, precision: 50%, repetitions: 1, batch_size: 1}}
  cpu: {backends: [cpu]}
"""
_DISPATCH = "matmul_4x16x8_f32"
_TARGET = "iree-dispatch-benchmarks-preset-quick"


class _Suite(Project):
    """A project whose manifest, lock and build file are those of the command line."""

    def generate(self) -> str:
        assert run_cli("generate", "--cmake", self.folder).code == 0
        return (self.folder / "CMakeLists.txt").read_text()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> StandIn:
    """IREE's programs, with the one for benchmarks replaced."""
    program = StandIn(tmp_path_factory.mktemp("tools")).install()
    for name in ("iree-compile", "iree-run-module"):
        real = iree_tools.compile if name == "iree-compile" else iree_tools.run_module
        (program.folder / name).write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
        (program.folder / name).chmod(0o755)
    return program


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, program: StandIn, checkout: Path) -> Project:
    """A suite that was measured once, which is its baseline."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "m.mlir").write_text(layers_program((8, 16)))
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    assert run_cli("lock", folder).code == 0
    project = _Suite(
        folder, environment={"PYTHONPATH": str(checkout)}, definitions={"IREE_HOST_BIN_DIR": program.folder}
    )
    project.generate()
    project.configure()
    first = project.build(f"{_TARGET}-nightly", check=False)
    assert first.returncode != 0
    assert "1 of 1 dispatches measured, 1 of 1 whole models;" in first.stdout
    assert "error: there is no baseline `main`" in first.stdout
    assert f"try: cmake --build {project.build_dir} --target {_TARGET}-baseline-save" in first.stdout
    project.build(f"{_TARGET}-baseline-save")
    assert len(list((folder / "baselines" / "main").iterdir())) == 1
    return project


def test_a_selection_alone_has_no_job(suite: Project) -> None:
    listed = suite.test("-N", "-L", "test-type=(nightly|baseline)").stdout
    names = re.findall(r": (\S+/preset/\S+)", listed)
    assert names == [f"iree-dispatch-benchmarks/preset/quick/{name}" for name in ("nightly", "baseline")]
    assert "preset/quick" not in suite.test("-N", "-L", "preset=quick").stdout, "only single benchmarks"


def test_the_tests_compare_with_the_baseline(suite: Project) -> None:
    outcome = suite.test("-L", "nightly=quick", "--output-on-failure")
    assert outcome.returncode == 0, outcome.stdout
    outputs = suite.build_dir / "nightly" / "quick"
    files = {path.name for path in outputs.iterdir() if path.is_file()}
    assert files == {"comparison.json", "comparison.md", "junit.xml", "report.html", "report.md", "results.json"}
    assert "2 same" in outputs.joinpath("comparison.md").read_text()


def test_what_is_slower_fails_and_is_named(suite: Project, program: StandIn) -> None:
    program.takes(_DISPATCH, 150)
    outcome = suite.test("-L", "test-type=nightly")
    program.mend()
    assert outcome.returncode == 8
    assert f"1 benchmark is slower:\n    m on cpu, local-sync, static: {_DISPATCH}: +4" in outcome.stdout
    checked = suite.build(f"{_TARGET}-baseline-check", check=False)
    assert checked.returncode != 0, "of what was measured last"
    assert "1 benchmark is slower" in checked.stdout

    # Targets take no options: variables of the environment stand for them.
    (baseline,) = suite.folder.glob("baselines/main/*.json")
    text = baseline.read_text()
    accepting = replace(suite, environment={**suite.environment, "DISPATCHGEN_ACCEPT_SLOWER": "*_f32 matmul_*"})
    assert "taken, slower as accepted: 1 benchmark" in accepting.build(f"{_TARGET}-baseline-update").stdout
    assert baseline.read_text() != text
    replacing = replace(suite, environment={**suite.environment, "DISPATCHGEN_REPLACE_BASELINE": "1"})
    assert "wrote " in replacing.build(f"{_TARGET}-baseline-save").stdout
    baseline.write_text(text)


def test_a_stale_lock_stops_it(suite: Project) -> None:
    source = suite.folder / "m.mlir"
    text = source.read_text()
    source.write_text(f"{text}// edited\n")
    outcome = suite.test("-L", "nightly=quick")
    source.write_text(text)
    assert outcome.returncode == 8
    assert "model m: its lock is stale: the source file changed" in outcome.stdout
    assert f"try: dispatchgen lock {suite.folder}/benchmarks.yaml --model m" in outcome.stdout
    assert "100% tests" not in outcome.stdout
    assert not (suite.build_dir / "nightly" / "quick" / "results.json").exists()
    assert outcome.stdout.count("***Failed") == 2, "nothing is compared that an earlier night left"
