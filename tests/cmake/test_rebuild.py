"""Work done after a change, counted from the build's own log, on Ninja and on Makefiles."""

from __future__ import annotations

import dataclasses
import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import iree.compiler
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cmake_project import Generator, Project, find_program
from dispatchgen.lock.modules import listed_digest
from dispatchgen.manifest.suite import Backend, Shape
from substituted_suite import TUNING_SPEC, write_files
from suite_folder import HOST, copy_checkout, layers_model
from support import REPOSITORY, IreeTools

pytestmark = pytest.mark.slow

_WIDTHS = (8, 16, 32, 24)
_NAMES = ("m0", "m1", "m2", "m3")

#: Each keeps something else in its modules.
_BACKENDS = (
    HOST,
    Backend("vmvx", "vmvx", "local", "vmvx"),
    Backend("vulkan", "vulkan", "vulkan"),
    Backend("cuda", "cuda", "cuda", compile_flags=("--iree-cuda-target=sm_80",)),
    Backend("hip", "hip", "hip", compile_flags=("--iree-rocm-target=gfx942",)),
    Backend("metal", "metal", "metal", compile_flags=("--iree-metal-compile-to-metallib=false",)),
)


@pytest.fixture(scope="module")
def built(generator: Generator, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Four models, built. Each test brings it up to date first, so their order does not matter."""
    environment = {"PYTHONPATH": str(copy_checkout(tmp_path_factory.mktemp("checkout")))}
    project = Project(tmp_path_factory.mktemp("suite"), generator, environment=environment)
    for name in _NAMES:
        project.write_layers(name, _WIDTHS)
        project.models.append(layers_model(name))
    project.lock()
    project.generate()
    project.configure()
    return project


def _bring_up_to_date(project: Project) -> None:
    project.build()
    time.sleep(1.1)  # GNU make compares whole seconds where the file system keeps no more


def _steps_of(model: str, *steps: str) -> list[str]:
    """These steps of a model, as `Project.steps` reports them."""
    return sorted(step.replace(" ", f" {model}/host/" if "vmfb" in step else f" {model}/host", 1) for step in steps)


def test_first_build_does_everything_once(built: Project) -> None:
    built.build()
    for name in _NAMES:
        folder = built.build_dir / name / "host"
        assert {path.stem for path in folder.glob("*.vmfb")} == {"model", *built.dispatches(name)}
        assert len(built.dispatches(name)) == len(_WIDTHS) - 1


def test_nothing_changed_runs_no_command(built: Project) -> None:
    _bring_up_to_date(built)
    assert built.steps() == []


def test_reconfiguring_runs_no_command(built: Project) -> None:
    _bring_up_to_date(built)
    built.generate()
    built.configure()
    assert built.steps() == []


def test_comment_configures_and_compiles_nothing(built: Project) -> None:
    _bring_up_to_date(built)
    path = built.folder / "models" / "m1.mlir"
    path.write_text("// A comment.\n" + path.read_text())
    steps = built.steps()
    assert "Configuring m1/host" in steps
    assert set(steps) <= {"Configuring m1/host", "Extracting m1/host"}
    assert built.steps() == []


def test_changed_layer_compiles_one_dispatch(built: Project) -> None:
    before = built.dispatches("m0")
    _bring_up_to_date(built)
    built.write_layers("m0", (*_WIDTHS[:-1], 40))
    built.lock("m0")
    built.generate()
    (new,) = built.dispatches("m0").keys() - before.keys()
    expected = _steps_of("m0", "Configuring ", "Extracting ", f"Compiling {new}.vmfb", "Compiling model.vmfb")
    assert built.steps() == expected
    assert built.steps() == []


def test_layer_in_front_leaves_names_and_modules_of_the_others(built: Project) -> None:
    _bring_up_to_date(built)
    before = built.dispatches("m2")
    folder = built.build_dir / "m2" / "host"
    modules = {name: (folder / f"{name}.vmfb").stat().st_mtime_ns for name in before}
    texts = {name: (folder / "dispatches" / f"{name}.mlir").read_bytes() for name in before}

    built.write_layers("m2", (48, *_WIDTHS))
    built.lock("m2")
    built.generate()
    after = built.dispatches("m2")
    (new,) = after.keys() - before.keys()
    assert {name: after[name] for name in before} == before
    expected = _steps_of("m2", "Configuring ", "Extracting ", f"Compiling {new}.vmfb", "Compiling model.vmfb")
    assert built.steps() == expected
    assert {name: (folder / f"{name}.vmfb").stat().st_mtime_ns for name in before} == modules
    assert {name: (folder / "dispatches" / f"{name}.mlir").read_bytes() for name in before} == texts


def test_manifest_entry_of_another_model_does_nothing_here(built: Project) -> None:
    _bring_up_to_date(built)
    models = list(built.models)
    index = next(i for i, model in enumerate(models) if model.id == "m3")
    try:
        built.models[index] = dataclasses.replace(models[index], labels=("new",))
        built.generate()
        assert built.steps() == []  # labels are of tests alone
        flag = {"host": ("--iree-opt-level=O2",)}
        built.models[index] = dataclasses.replace(models[index], compile_flags=flag)
        built.lock("m3")
        built.generate()
        steps = built.steps()
        assert steps
        assert all("m3/host" in step for step in steps)
    finally:
        built.models[:] = models
        built.lock("m3")
        built.generate()


@pytest.mark.parametrize(
    ("widths", "shape"), [((*_WIDTHS, 40), "static"), (_WIDTHS[:-1], "static"), (_WIDTHS, "renamed")]
)
def test_lock_without_generate_fails_the_build_and_says_so(built: Project, widths: Sequence[int], shape: str) -> None:
    _bring_up_to_date(built)
    models = list(built.models)
    index = next(i for i, model in enumerate(models) if model.id == "m1")
    try:
        built.write_layers("m1", widths)
        built.models[index] = dataclasses.replace(models[index], shapes=(Shape(shape),))
        built.lock("m1")
        failed = built.build(check=False)
        assert failed.returncode != 0
        assert (
            "error: the build file was generated from another lock: it lists other dispatches, calls or files\n"
            f"  at {built.folder / 'locks' / 'm1.json'}\n"
            f"  try: dispatchgen generate {built.folder}\n"
        ) in failed.stdout
        assert failed.stdout.count("error: ") == 1
        built.generate()
        built.build()
        assert built.steps() == []
        folder = built.build_dir / "m1" / "host" / "dispatches"
        assert {path.stem for path in folder.glob("*.mlir")} == set(built.dispatches("m1"))
        assert [path.stem for path in folder.glob("*.flags")] == [shape]
    finally:
        built.models[:] = models
        built.write_layers("m1", _WIDTHS)
        built.lock("m1")
        built.generate()


_NAME = st.text("aZ_09", min_size=1, max_size=4)


_NAMES_OF_KINDS = st.fixed_dictionaries({kind: st.sets(_NAME) for kind in ("ARCHIVES", "CALL_INPUTS", "DATA")})


@given(dispatches=st.sets(_NAME), calls=st.sets(_NAME), files=_NAMES_OF_KINDS)
@example(dispatches=set(), calls=set(), files={})
@example(dispatches=set(), calls=set(), files={"DATA": {"é/a b.npy"}})
@settings(max_examples=20, deadline=None)
def test_the_rules_digest_names_as_the_lock_does(
    dispatches: set[str], calls: set[str], files: dict[str, set[str]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        script = Path(name, "digest.cmake")
        lines = [
            f'include("{REPOSITORY}/genrules/cmake/private/steps.cmake")',
            *(f"list(APPEND _RULE_DISPATCHES {each})" for each in dispatches),
            *(f"list(APPEND _RULE_CALLS {each})" for each in calls),
            *(f'list(APPEND _RULE_{kind} "{each}")' for kind, names in files.items() for each in names),
            "_iree_dispatch_listed(_DIGEST)",
            'message(NOTICE "${_DIGEST}")',
        ]
        script.write_text("\n".join(lines))
        result = subprocess.run([find_program("cmake"), "-P", script], capture_output=True, text=True, check=True)
    prefixes = {"ARCHIVES": "archive", "CALL_INPUTS": "input", "DATA": "data"}
    listed = [f"{prefixes[kind]}={each}" for kind, names in files.items() for each in names]
    assert result.stderr.strip() == listed_digest(dispatches, calls, listed)


def test_changed_extraction_code_compiles_nothing(built: Project) -> None:
    _bring_up_to_date(built)
    code = Path(built.environment["PYTHONPATH"], "dispatchgen", "extract", "emit.py")
    code.write_text(code.read_text() + "# A comment.\n")
    assert built.steps() == sorted(["the code", *(f"Extracting {name}/host" for name in _NAMES)])
    assert built.steps() == []


_WRAPPER = """#!/bin/sh
if [ "$1" = --version ]; then
  cat "{version}"
else
  exec "{program}" "$@"
fi
"""


def test_new_compiler_version_does_everything(
    generator: Generator, tmp_path: Path, checkout: Path, iree_tools: IreeTools
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    version = tools / "version.txt"
    version.write_text("  IREE compiler version 3.13.0\n")
    wrapper = tools / "iree-compile"
    wrapper.write_text(_WRAPPER.format(version=version, program=iree_tools.compile))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    project = Project(
        tmp_path / "suite",
        generator,
        models=[layers_model("m")],
        definitions={"IREE_HOST_BIN_DIR": tools},
        environment={"PYTHONPATH": str(checkout)},
    )
    project.write_layers("m", (8, 16))
    project.lock()
    project.generate()
    assert str(wrapper) in project.configure().stdout
    compiles = ["Compiling m/host/model.vmfb", *(f"Compiling m/host/{name}.vmfb" for name in project.dispatches("m"))]
    assert project.steps() == sorted([*compiles, "Configuring m/host", "Extracting m/host", "the code"])
    assert project.steps() == []

    # The text of the version alone: the program keeps its time, as package managers leave it.
    time.sleep(1.1)
    version.write_text("  IREE compiler version 3.14.0\n")
    project.configure()
    assert project.steps() == sorted([*compiles, "Configuring m/host"])
    assert project.steps() == []

    # The program alone, without being asked for its version again.
    now = time.time() + 2
    os.utime(wrapper, (now, now))
    assert set(project.steps()) >= {*compiles, "Configuring m/host"}


def test_files_that_flags_name_are_inputs_of_the_steps_that_read_them(tmp_path: Path, checkout: Path) -> None:
    spec, linker = tmp_path / "specs" / "tuning.mlir", tmp_path / "tools" / "link"
    files = ("specs/tuning.mlir", "tools/link")
    flags = (f"--iree-codegen-tuning-spec-path={files[0]}", f"--iree-llvmcpu-embedded-linker-path={files[1]}")
    models = [
        layers_model("m", compile_flags={"host": flags}, flag_files={"host": files}),
        layers_model("n"),
    ]
    project = Project(tmp_path, models=models, environment={"PYTHONPATH": str(checkout)})
    for model in models:
        project.write_layers(model.id, (8, 16))
    (lld,) = (Path(folder, "_mlir_libs", "iree-lld") for folder in iree.compiler.__path__)
    script = f'#!/bin/sh\nexec "{lld}" "$@"\n'
    write_files(tmp_path, {files[0]: TUNING_SPEC.format(tile=8), files[1]: script})
    linker.chmod(0o755)
    project.lock()
    project.generate()
    project.configure()
    project.build()

    spec.write_text("// A comment.\n" + spec.read_text())
    assert project.steps() == ["Configuring m/host"]
    spec.write_text(TUNING_SPEC.format(tile=16))
    (name,) = project.dispatches("m")
    compiled = (f"Compiling {name}.vmfb", "Compiling model.vmfb")
    assert project.steps() == _steps_of("m", "Configuring ", "Extracting ", *compiled)
    linker.write_text(script + "# A comment.\n")
    assert project.steps() == _steps_of("m", "Configuring ", *compiled)


def test_clones_in_different_folders_have_the_same_bytes(tmp_path: Path, checkout: Path) -> None:
    trees = []
    for clone in ("one", "a much longer name of a folder/two"):
        model = layers_model("m", backends=tuple(backend.id for backend in _BACKENDS))
        environment = {"PYTHONPATH": str(checkout)}
        project = Project(tmp_path / clone, backends=_BACKENDS, environment=environment, models=[model])
        project.write_layers("m", _WIDTHS)
        project.lock()
        project.generate()
        project.configure()
        project.build()
        products = {"CMakeLists.txt", "locks/m.json"}
        for backend in _BACKENDS:
            folder, names = f"build/m/{backend.id}", project.dispatches("m", backend.id)
            products |= {f"{folder}/{name}.vmfb" for name in ("model", *names)}
            products |= {f"{folder}/dispatches/{name}.mlir" for name in names}
            products |= {f"{folder}/dispatches/{name}" for name in ("index.json", "static.flags")}
            products.add(f"{folder}/configured.mlir")
        trees.append({name: (project.folder / name).read_bytes() for name in products})
    assert trees[0].keys() == trees[1].keys()
    assert [name for name in trees[0] if trees[0][name] != trees[1][name]] == []
