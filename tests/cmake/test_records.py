"""Records of what steps took, in real builds."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from pathlib import Path

import pytest

from cmake_project import Project
from dispatchgen.buildtree.layout import (
    COMPILE,
    CONFIGURE,
    EXTRACT,
    IMPORT,
    OBJECT,
    SUBSTITUTE,
    SUBSTITUTE_MODEL,
    BuildTree,
    Step,
)
from dispatchgen.buildtree.records import StepRecord, read_record, recorded_steps
from dispatchgen.buildtree.state import BuildState
from dispatchgen.files import sha256_of
from dispatchgen.manifest.suite import Model, Selector, Source, Substitution
from dispatchgen.results.compiled import build_steps, compiled
from dispatchgen.results.proof import Built
from dispatchgen.selection.variants import Variant, all_variants
from substituted_suite import FIRST, KERNEL, SECOND, TUNING_SPEC, write_files, write_layers
from suite_folder import layers_model, write_onnx

pytestmark = pytest.mark.slow

#: What shells, Make, Ninja and CMake could take for something else.
_FOLDER = "a suite's $HOME (1) #2 100%"
_MIB = 1 << 20

#: Compiles after it had 200 MiB for a while.
_COMPILE = """\
import subprocess, sys, time
held = bytearray(200 << 20)
time.sleep(0.3)
subprocess.run(["cc", "-O1", "-fPIC", "-ffreestanding", "-c", sys.argv[1], "-o", sys.argv[2]], check=True)
"""


def _substitutions() -> tuple[Substitution, ...]:
    backends = ("host",)
    return (
        Substitution(
            "c",
            "c",
            "object",
            "kernels/matmul.c",
            selectors=(Selector(FIRST),),
            backends=backends,
            command=(sys.executable, "kernels/compile.py", "{source}", "{output}"),
            inputs=("kernels/scale.h", "kernels/compile.py"),
        ),
        Substitution("tuned", "tuned", "tuning_spec", "spec.mlir", selectors=(Selector(SECOND),), backends=backends),
    )


def _suite(folder: Path, model: Model, checkout: Path, definitions: dict[str, str]) -> Project:
    """A suite that is configured for Ninja."""
    environment = {"PYTHONPATH": str(checkout)}
    imported = dataclasses.replace(layers_model("o"), source=Source("o.onnx", "onnx"))
    project = Project(folder, "Ninja", models=[model, imported], definitions=definitions, environment=environment)
    write_layers(folder)
    write_onnx(folder / "o.onnx")
    files = {
        "kernels/matmul.c": KERNEL,
        "kernels/scale.h": "#define SCALE 1.0f\n",
        "kernels/compile.py": _COMPILE,
        "spec.mlir": TUNING_SPEC.format(columns=24, tile=8),
    }
    write_files(folder, files)
    project.lock()
    project.generate()
    project.configure()
    return project


@pytest.fixture(scope="module")
def model() -> Model:
    """A model with an object that a command builds, and a tuned dispatch."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler `cc`")
    return layers_model("m", substitutions=_substitutions())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, model: Model, checkout: Path) -> Project:
    """A build that records its steps."""
    folder = tmp_path_factory.mktemp("recorded") / _FOLDER
    project = _suite(folder, model, checkout, {"DISPATCHGEN_RECORD_STEPS": "ON"})
    project.build("iree-dispatch-benchmarks-m-host")
    project.build("iree-dispatch-import-o")
    return project


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, model: Model, checkout: Path) -> Project:
    """A build that does not, of one substitution."""
    project = _suite(tmp_path_factory.mktemp("plain") / _FOLDER, model, checkout, {})
    project.build("iree-dispatch-benchmarks-m-host-c")
    return project


def _built(project: Project, state: BuildState | None = None) -> Built:
    return Built(BuildTree(project.build_dir), state or BuildState(), "m", "host")


def _variants(project: Project) -> list[Variant]:
    return list(all_variants(project.suite, project.locks())["m", "host"])


def _records(project: Project) -> dict[Step, StepRecord]:
    steps = recorded_steps(BuildTree(project.build_dir), "m", "host")
    return {step: record for step, product in steps for record in [read_record(product)] if record is not None}


def test_every_step_but_copies_leaves_a_record(recorded: Project) -> None:
    def steps(substitution: str, *found: tuple[str, str | None]) -> set[Step]:
        return {Step(step, "m", "host", dispatch, substitution) for step, dispatch in found}

    assert _records(recorded).keys() == {
        Step(CONFIGURE, "m", "host"),
        Step(EXTRACT, "m", "host"),
        *(Step(COMPILE, "m", "host", name) for name in (None, FIRST, SECOND)),
        *steps("c", (OBJECT, None), (SUBSTITUTE, FIRST), (COMPILE, FIRST)),
        *steps("tuned", (CONFIGURE, None), (SUBSTITUTE, None), (COMPILE, SECOND)),
        *(step for name in ("c", "tuned") for step in steps(name, (SUBSTITUTE_MODEL, None), (COMPILE, None))),
    }
    assert all(record.seconds > 0 for record in _records(recorded).values())
    assert all(record.peak_bytes and record.peak_bytes > 5 * _MIB for record in _records(recorded).values())


def test_memory_and_time_of_a_users_command(recorded: Project) -> None:
    record = _records(recorded)[Step(OBJECT, "m", "host", None, "c")]
    assert record.seconds >= 0.3
    assert record.peak_bytes is not None
    assert 200 * _MIB <= record.peak_bytes < 300 * _MIB


def test_modules_are_the_same_and_without_the_option_there_are_no_records(recorded: Project, plain: Project) -> None:
    def modules(project: Project) -> dict[str, str]:
        files = project.build_dir.rglob("*.vmfb")
        return {file.relative_to(project.build_dir).as_posix(): sha256_of(file) for file in files}

    assert len(modules(plain)) == 4  # a dispatch and the whole model, without and with the substitute
    assert modules(recorded).items() >= modules(plain).items()
    assert not list(plain.build_dir.rglob("*.step.json*"))
    assert "record_step" not in (plain.build_dir / "build.ninja").read_text()


def test_results_have_what_is_up_to_date(recorded: Project) -> None:
    variants = _variants(recorded)
    steps = build_steps(_built(recorded), [FIRST, SECOND], variants)
    assert {Step(s.step, s.model, s.backend, s.dispatch, s.substitution) for s in steps} == _records(recorded).keys()
    assert steps == build_steps(_built(recorded), [FIRST, SECOND], variants)
    assert not [step for step in build_steps(_built(recorded), [SECOND], variants) if step.dispatch == FIRST]
    assert {step.substitution for step in build_steps(_built(recorded), [FIRST, SECOND], variants[:1])} == {None, "c"}
    failed = BuildState(modules={("m", "host", FIRST): "it failed"})
    left = build_steps(_built(recorded, failed), [FIRST, SECOND], [])
    assert [step.dispatch for step in left if step.step == COMPILE] == [SECOND, None]
    assert build_steps(_built(recorded, BuildState(models={("m", "host"): "it failed"})), [FIRST], variants) == ()


def test_compiled(recorded: Project, plain: Project) -> None:
    module = recorded.build_dir / "m" / "host" / f"{FIRST}.vmfb"
    found = compiled(_built(recorded), FIRST)
    assert found is not None
    assert (found.size, found.sha256) == (module.stat().st_size, sha256_of(module))
    record = _records(recorded)[Step(COMPILE, "m", "host", FIRST)]
    assert (found.seconds, found.peak_bytes) == (record.seconds, record.peak_bytes)
    without = compiled(_built(plain), FIRST)
    assert without is not None
    assert without == found.model_copy(update={"seconds": None, "peak_bytes": None})
    for dispatch, variant in ((None, None), (FIRST, "c"), (None, "c")):
        assert compiled(_built(recorded), dispatch, variant) is not None
    assert compiled(_built(recorded), "gone") is None
    assert compiled(_built(recorded, BuildState(modules={("m", "host", FIRST): "it failed"})), FIRST) is None
    substitute = BuildTree(recorded.build_dir).dispatch_module("m", "host", FIRST, "c")
    assert compiled(_built(recorded, BuildState(substituted={substitute: "it failed"})), FIRST, "c") is None


def test_records_stay_until_the_step_runs_again(recorded: Project) -> None:
    before = _records(recorded)
    target = "iree-dispatch-benchmarks-m-host"
    assert recorded.steps(target) == []
    assert _records(recorded) == before
    header = recorded.folder / "kernels" / "scale.h"
    header.write_text("#define SCALE 2.0f\n")
    steps = recorded.steps(target)
    after = _records(recorded)
    assert "Building m/host/substitutions/c/c.o" in steps
    changed = {step for step, record in after.items() if record != before[step]}
    assert Step(OBJECT, "m", "host", None, "c") in changed
    assert {step.substitution for step in changed} == {"c"}


def test_importing(recorded: Project) -> None:
    steps = recorded_steps(BuildTree(recorded.build_dir), "o", "host")
    ((step, product),) = steps
    assert step == Step(IMPORT, "o")
    assert read_record(product) is not None


def test_makefiles(tmp_path: Path, checkout: Path) -> None:
    definitions = {"DISPATCHGEN_RECORD_STEPS": "ON"}
    environment = {"PYTHONPATH": str(checkout)}
    models = [layers_model("m")]
    # CMake's own commands in Makefiles take no quotes in folders.
    folder = tmp_path / "a suite (1) $x"
    project = Project(folder, "Unix Makefiles", models=models, definitions=definitions, environment=environment)
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    project.configure()
    project.build()
    before = _records(project)
    assert {step.step for step in before} == {CONFIGURE, EXTRACT, COMPILE}
    assert len(before) == 4
    time.sleep(1.1)  # GNU make compares whole seconds where the file system keeps no more
    assert project.steps() == []
    assert _records(project) == before
    (folder / "locks" / "m.json").touch()
    assert project.steps() == ["Extracting m/host"]
    after = _records(project)
    assert {step.step for step, record in after.items() if record != before[step]} == {EXTRACT}
