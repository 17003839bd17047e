"""The tests that the rules add: what is measured, skipped and failed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cmake_project import GENERATORS, Project
from dispatchgen.iree.tools import find_tools
from dispatchgen.manifest.suite import Backend, Device, Preset, RunSettings
from suite_folder import HOST, layers_model

pytestmark = pytest.mark.slow

_DEVICES = (
    Device("local-sync", "local-sync"),
    Device("task", "local-task", run_flags=("--task_topology_group_count=1",), labels=("threads",)),
    Device("absent", "nosuchdriver"),
)
_HOST = Backend("host", "host", HOST.target_device, HOST.local_backend, HOST.compile_flags, _DEVICES, ("cpu",))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Project:
    """A model on three devices, of which one is absent."""
    settings = RunSettings(min_time="2x", repetitions=3, batch_size=4)
    project = Project(
        tmp_path_factory.mktemp("suite"),
        backends=(_HOST,),
        models=[layers_model("m", labels=("large", "with space;and $ENV{HOME}"), run=settings)],
        presets=(Preset("nightly", "nightly", labels=("cpu",)),),
        environment={"PYTHONPATH": str(checkout)},
    )
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    project.configure()
    project.build()
    return project


def _name(project: Project) -> str:
    (name,) = project.dispatches("m")
    return name


def _result(project: Project, device: str, name: str) -> Path:
    return project.build_dir / "results" / "m" / "host" / device / f"{name}.json"


def test_dispatches_and_calls_are_measured_on_each_device(built: Project) -> None:
    outcome = built.test("-LE", "device=absent")
    assert outcome.returncode == 0, outcome.stdout
    assert "100% tests passed" in outcome.stdout
    for device in ("local-sync", "task"):
        for name in (_name(built), "static"):
            data = json.loads(_result(built, device, name).read_text())
            times = [run for run in data["benchmarks"] if run["run_type"] == "iteration"]
            assert len(times) == 3
            iterations = 2 if name == "static" else 4  # a batch of dispatches counts as that many
            assert all(run["iterations"] == iterations and run["real_time"] > 0 for run in times)
            kind = "call" if name == "static" else "dispatch"
            assert data["context"][kind] == name
            assert (data["context"]["model"], data["context"]["device"]) == ("m", device)


def test_absent_device_is_skipped_and_leaves_no_result(built: Project) -> None:
    stale = _result(built, "absent", _name(built))
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.write_text("{}")
    outcome = built.test("-L", "device=absent")
    assert outcome.stdout.count("(Skipped)") == 4, outcome.stdout
    assert "Passed" not in outcome.stdout
    assert not stale.exists()


@pytest.mark.parametrize("damage", ["no benchmark", "missing", "not a module"])
def test_nothing_measured_fails_and_leaves_no_result(built: Project, damage: str) -> None:
    module = built.build_dir / "m" / "host" / f"{_name(built)}.vmfb"
    result = _result(built, "local-sync", _name(built))
    saved = module.read_bytes()
    assert built.test("-R", f"local-sync/{_name(built)}").returncode == 0
    assert result.exists()
    try:
        if damage == "no benchmark":
            shutil.copy(module.with_name("model.vmfb"), module)  # its function takes inputs
        elif damage == "missing":
            module.unlink()
        else:
            module.write_bytes(b"")
        outcome = built.test("-R", f"local-sync/{_name(built)}")
    finally:
        module.write_bytes(saved)
    assert outcome.returncode != 0
    assert "0% tests passed, 2 tests failed out of 2" in outcome.stdout
    assert not result.exists()


def test_call_with_wrong_inputs_fails(built: Project) -> None:
    flags = built.build_dir / "m" / "host" / "dispatches" / "static.flags"
    saved = flags.read_text()
    try:
        flags.write_text(saved.replace("4x8xf32", "4x9xf32"))
        outcome = built.test("-R", "local-sync/model/static")
    finally:
        flags.write_text(saved)
    assert "0% tests passed, 2 tests failed out of 2" in outcome.stdout
    assert not _result(built, "local-sync", "static").exists()


def test_labels_and_properties(built: Project) -> None:
    described = json.loads("{" + _json_of(built))
    tests = {test["name"]: {p["name"]: p["value"] for p in test["properties"]} for test in described["tests"]}
    timed = tests[f"iree-dispatch-benchmarks/m/host/task/{_name(built)}"]
    assert set(timed["LABELS"]) == {
        *("test-type=dispatch-benchmark", "driver=local-task", "device=task", "model=m", "backend=host"),
        *("preset=nightly", "cpu", "large", "with space;and $ENV{HOME}", "threads"),
    }
    assert timed["RUN_SERIAL"] is True
    assert timed["TIMEOUT"] == 900.0
    smoke = tests[f"iree-dispatch-benchmarks/m/host/local-sync/{_name(built)}/smoke"]
    assert "test-type=dispatch-smoke" in smoke["LABELS"]
    assert "threads" not in smoke["LABELS"]
    types = {label for test in tests.values() for label in test["LABELS"] if label.startswith("test-type=")}
    assert {label.partition("=")[2] for label in types} == {
        *("dispatch-smoke", "dispatch-benchmark", "model-smoke", "model-benchmark")
    }


def _json_of(project: Project) -> str:
    return project.test("--show-only=json-v1").stdout.partition("{")[2]


def test_ctest_builds_on_demand(tmp_path: Path, checkout: Path) -> None:
    project = Project(
        tmp_path,
        models=[layers_model("m")],
        definitions={"DISPATCHGEN_BUILD_ON_TEST": "ON", "DISPATCHGEN_TEST_TIMEOUT": "77"},
        environment={"PYTHONPATH": str(checkout)},
    )
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    project.configure()
    outcome = project.test("-L", "test-type=dispatch-smoke")
    assert outcome.returncode == 0, outcome.stdout
    assert "iree-dispatch-benchmarks/m/host/build" in outcome.stdout
    assert '"value" : 77.0' in project.test("--show-only=json-v1").stdout


@pytest.fixture(params=GENERATORS)
def small(request: pytest.FixtureRequest, tmp_path: Path, checkout: Path) -> Project:
    """A model of two dispatches that was built and timed, in a folder of its own."""
    project = Project(
        tmp_path / "suite", request.param, models=[layers_model("m")], environment={"PYTHONPATH": str(checkout)}
    )
    project.write_layers("m", (8, 16, 24))
    project.lock()
    project.generate()
    project.configure()
    project.build()
    assert project.test().returncode == 0
    return project


def _results(project: Project) -> set[str]:
    return {path.stem for path in (project.build_dir / "results").rglob("*.json")}


def test_what_an_earlier_build_left_of_a_program_that_fails_is_not_measured(small: Project) -> None:
    program = small.folder / "models" / "m.mlir"
    text = program.read_text()
    program.write_text(text + "garbage\n")
    assert small.build(check=False).returncode != 0
    outcome = small.test()
    assert "0% tests passed" in outcome.stdout
    assert _results(small) == set()

    program.write_text(text)
    small.build()
    assert small.test().returncode == 0
    assert _results(small) == {*small.dispatches("m"), "static"}


def test_what_an_earlier_build_left_of_a_lock_that_does_not_fit_is_not_measured(small: Project) -> None:
    small.write_layers("m", (8, 16, 32))
    assert small.build(check=False).returncode != 0
    assert "0% tests passed" in small.test().stdout
    assert _results(small) == set()


def test_what_an_earlier_build_left_of_a_dispatch_that_fails_is_not_measured(small: Project, tmp_path: Path) -> None:
    failing, *_ = small.dispatches("m")
    _use_compiler(small, tmp_path / "bin", f'case "$*" in *dispatches/{failing}.mlir*) exit 1;; esac')
    assert small.build(check=False).returncode != 0
    outcome = small.test("-L", "test-type=dispatch")
    assert outcome.returncode != 0
    assert not any(f"/{failing}" in line for line in outcome.stdout.splitlines() if "Passed" in line)
    assert failing not in _results(small)


def _use_compiler(project: Project, folder: Path, script: str) -> None:
    """Makes the build use another iree-compile: the real one behind lines of a shell script."""
    folder.mkdir()
    compiler = folder / "iree-compile"
    compiler.write_text(f'#!/bin/sh\n{script}\nexec "{find_tools().iree_compile}" "$@"\n')
    compiler.chmod(0o755)
    project.definitions = {**project.definitions, "IREE_HOST_BIN_DIR": folder}
    project.configure()
