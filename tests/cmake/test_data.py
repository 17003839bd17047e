"""Data in files: they lie beside the modules that read them, and an edited one compiles nothing."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from cmake_project import Generator, Project
from data_suite import ARCHIVE, INPUT, save, write_suite
from substituted_suite import FIRST, lock_and_generate
from support import IreeTools

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> Path:
    """The folder of the suite, locked."""
    folder = tmp_path_factory.mktemp("suite")
    write_suite(folder, iree_tools)
    lock_and_generate(folder, "cmake")
    return folder


@pytest.fixture(scope="module")
def built(generator: Generator, tmp_path_factory: pytest.TempPathFactory, suite: Path, checkout: Path) -> Project:
    """The suite, built. Each test brings it up to date first; the last one breaks it."""
    folder = tmp_path_factory.mktemp("built") / "suite"
    shutil.copytree(suite, folder)
    project = Project(folder, generator, environment={"PYTHONPATH": str(checkout)})
    project.configure()
    project.build()
    return project


def _contents(project: Project) -> dict[str, bytes]:
    """What the build made for tests to read, by name."""
    folder = project.build_dir / "m" / "host"
    files = [*folder.rglob("*.vmfb"), *folder.rglob("*.irpa"), *folder.rglob("*.bin")]
    return {path.name if path.suffix != ".vmfb" else str(path): path.read_bytes() for path in files}


def test_data_lie_beside_what_reads_them(built: Project) -> None:
    assert {name for name in _contents(built) if not name.endswith(".vmfb")} == {ARCHIVE, INPUT}
    folder = built.build_dir / "m" / "host" / "dispatches"
    assert f"\n--input=4x8xf32=@{folder / INPUT}\n" in (folder / "static.flags").read_text()
    tests = json.loads(built.test("--show-only=json-v1").stdout)["tests"]
    reading = {test["name"] for test in tests if f"--parameters=data={folder / ARCHIVE}" in test["command"]}
    prefix = "iree-dispatch-benchmarks/m/host/local-sync/"
    timed = {f"{prefix}{FIRST}", f"{prefix}substitutions/edited/{FIRST}"}
    assert reading == timed | {f"{name}/smoke" for name in timed}
    result = built.test()
    assert (result.returncode, "100% tests passed" in result.stdout) == (0, True), result.stdout


def test_sizes_of_a_profile_are_run_with_the_recorded_data_and_without_the_model(built: Project) -> None:
    folder = built.build_dir / "profiled" / "host"
    (module,) = folder.rglob("*.vmfb")
    (archive,) = folder.rglob("*.irpa")
    assert module.stem == archive.stem != "model"
    tests = {test["name"]: test["command"] for test in json.loads(built.test("--show-only=json-v1").stdout)["tests"]}
    name = f"iree-dispatch-benchmarks/profiled/host/local-sync/{module.stem}"
    assert {test for test in tests if "/profiled/" in test} == {name, f"{name}/smoke"}
    assert f"--parameters=data={archive}" in tests[name]


def test_an_edited_file_changes_data_alone(built: Project) -> None:
    built.build()
    before = _contents(built)
    time.sleep(1.1)  # GNU make compares whole seconds where the file system keeps no more
    save(built.folder, "x", 2)
    assert built.steps() == ["Extracting m/host"]
    after = _contents(built)
    assert {name for name in before if before[name] != after[name]} == {ARCHIVE, INPUT}
    assert built.steps() == []
    result = built.test("-R", "smoke")
    assert result.returncode == 0, result.stdout


def test_a_file_that_does_not_fit_ends_the_build(built: Project) -> None:
    built.build()
    time.sleep(1.1)
    np.save(built.folder / "data" / "x.npy", np.zeros((4, 9), np.float32))
    result = built.build(check=False)
    assert result.returncode != 0
    assert "data/x.npy: its shape is 4x9; 4x8 is needed" in result.stdout
    assert built.test("-R", f"local-sync/{FIRST}/smoke").returncode != 0
