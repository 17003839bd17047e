"""The generated CMakeLists.txt as a project, in a project of the user's, and with each way to find the tools."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cmake_project import GENERATORS, Generator, Project, find_program
from dispatchgen.manifest.names import MAX_NAME
from dispatchgen.manifest.suite import Backend, Device, Model, Preset, RunSettings, Shape, Source
from suite_folder import HOST, layers_model, layers_program
from support import IreeTools

pytestmark = pytest.mark.slow


def _project(folder: Path, checkout: Path, **settings: object) -> Project:
    project = Project(folder, environment={"PYTHONPATH": str(checkout)}, **settings)  # type: ignore[arg-type]
    for model in project.models:
        project.write_layers(model.id, (8, 16))
    project.lock()
    project.generate()
    return project


def _made(project: Project) -> set[str]:
    """Folders `<model>/<backend>` that hold compiled modules."""
    return {path.parent.relative_to(project.build_dir).as_posix() for path in project.build_dir.rglob("model.vmfb")}


def test_targets_select_and_nothing_is_in_all(tmp_path: Path, checkout: Path) -> None:
    vmvx = Backend("vmvx", "vmvx", "local", "vmvx")
    project = _project(
        tmp_path,
        checkout,
        backends=(HOST, vmvx),
        models=[layers_model("a", backends=("host", "vmvx")), layers_model("b", labels=("large",))],
        presets=(Preset("nightly", "nightly", labels=("large",)), Preset("none", "none", models=("a",), labels=("x",))),
    )
    project.configure()
    project.build("all")
    project.build("iree-dispatch-benchmarks-preset-none")
    assert _made(project) == set()
    project.build("iree-dispatch-benchmarks-preset-nightly")
    assert _made(project) == {"b/host"}
    project.build("iree-dispatch-benchmarks-a-vmvx")
    assert _made(project) == {"b/host", "a/vmvx"}
    project.build("iree-dispatch-benchmarks-a")
    assert _made(project) == {"b/host", "a/vmvx", "a/host"}
    assert project.steps() == []
    assert "a/vmvx" not in project.test("-N").stdout  # a backend without devices is only compiled


def test_inside_another_project_with_its_own_tools(tmp_path: Path, checkout: Path, iree_tools: IreeTools) -> None:
    suite = _project(tmp_path / "benchmarks", checkout, models=[layers_model("m")])
    (tmp_path / "CMakeLists.txt").write_text(
        textwrap.dedent(f"""\
        cmake_minimum_required(VERSION 3.25)
        project(mine LANGUAGES NONE)
        enable_testing()
        foreach(tool IN ITEMS iree-compile iree-benchmark-module)
          add_executable(${{tool}} IMPORTED GLOBAL)
        endforeach()
        set_target_properties(iree-compile PROPERTIES IMPORTED_LOCATION "{iree_tools.compile}")
        set_target_properties(iree-benchmark-module PROPERTIES IMPORTED_LOCATION "{iree_tools.benchmark_module}")
        add_subdirectory(benchmarks)
        """)
    )
    project = Project(tmp_path, models=suite.models, environment=suite.environment)
    assert "iree-compile 3." in project.configure().stdout
    project.build("iree-dispatch-benchmarks-m")
    outcome = project.test()
    assert outcome.returncode == 0, outcome.stdout
    assert "100% tests passed" in outcome.stdout
    assert (project.build_dir / "benchmarks/results/m/host/local-sync/static.json").is_file()
    assert project.steps() == []


def test_text_in_a_build_folder_elsewhere(tmp_path: Path, checkout: Path) -> None:
    """What `dispatchgen run` does: nothing is written beside the manifest."""
    suite = _project(tmp_path / "suite", checkout, models=[layers_model("m")])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (suite.folder / "CMakeLists.txt").rename(elsewhere / "CMakeLists.txt")
    definitions = {"DISPATCHGEN_PACKAGE_DIR": suite.folder, "DISPATCHGEN_CMAKE_DIR": checkout.parent / "genrules/cmake"}
    project = Project(elsewhere, definitions=definitions, environment=suite.environment)
    project.configure()
    project.build()
    assert _made(project) == {"m/host"}


def test_source_in_a_python_package_is_imported_once(tmp_path: Path, checkout: Path) -> None:
    """squeezenet, which `onnx` ships, with two backends."""
    source = Source("backend/test/data/light/light_squeezenet.onnx", "onnx", package="onnx")
    model = Model("net", "net", source, backends=("host", "vmvx"), run=RunSettings(min_time="1x"))
    backends = (HOST, Backend("vmvx", "vmvx", "local", "vmvx"))
    project = Project(tmp_path, models=[model], backends=backends, environment={"PYTHONPATH": str(checkout)})
    project.lock()
    assert '"package:onnx/backend/test/data/light/light_squeezenet.onnx"' in project.generate()
    project.configure()
    both = project.steps("iree-dispatch-extract-net-host") + project.steps("iree-dispatch-extract-net-vmvx")
    assert both.count("Importing net") == 1
    assert {"Extracting net/host", "Extracting net/vmvx"} <= set(both)


def test_source_in_a_namespace_of_several_folders(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [tmp_path / "one", tmp_path / "two"]
    for place in reversed(places):
        (place / "space").mkdir(parents=True)
        monkeypatch.syspath_prepend(place)
    (places[1] / "space" / "m.mlir").write_text(layers_program((8, 16)))
    model = replace(layers_model("m"), source=Source("m.mlir", "mlir", package="space"))
    environment = {"PYTHONPATH": os.pathsep.join(map(str, [*places, checkout]))}
    project = Project(tmp_path / "suite", models=[model], environment=environment)
    project.folder.mkdir()
    project.lock()
    project.generate()
    project.configure()
    project.build("iree-dispatch-extract-m-host")


def test_missing_tool_is_named_with_what_to_set(tmp_path: Path, checkout: Path) -> None:
    (tmp_path / "empty").mkdir()
    project = _project(tmp_path / "suite", checkout, models=[layers_model("m")])
    project.definitions = {"IREE_HOST_BIN_DIR": tmp_path / "empty"}
    outcome = project.configure(check=False)
    assert outcome.returncode != 0
    assert "iree-compile was not found" in outcome.stdout
    assert str(tmp_path / "empty") in outcome.stdout
    assert "Set IREE_HOST_BIN_DIR" in outcome.stdout
    assert "Traceback" not in outcome.stdout


def test_tools_of_different_versions_are_said(tmp_path: Path, checkout: Path) -> None:
    project = _project(tmp_path / "suite", checkout, models=[layers_model("m")])
    program = tmp_path / "bin" / "iree-compile"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '  IREE compiler version 9.1.0rc20300101 @ 0123abcd'\n")
    program.chmod(0o755)
    project.definitions = {"IREE_HOST_BIN_DIR": program.parent}
    said = " ".join(project.configure().stdout.split())
    assert "CMake Warning" in said
    for other in ("the Python bindings are 3.1", "iree-benchmark-module is 3.1"):
        assert f"dispatchgen: iree-compile is 9.1.0rc20300101 @ 0123abcd, {other}" in said


def test_python_without_dispatchgen_is_named(tmp_path: Path, checkout: Path) -> None:
    project = _project(tmp_path / "suite", checkout, models=[layers_model("m")])
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    project.definitions = {"Python3_EXECUTABLE": tmp_path / "venv" / "bin" / "python"}
    project.environment = {"PYTHONPATH": ""}
    outcome = project.configure(check=False)
    assert outcome.returncode != 0
    assert "dispatchgen is not installed" in outcome.stdout


_CALL = "iree_dispatch_benchmark_suite(NAME m_host MODEL m BACKEND host SRC m.mlir LOCK m.json COMPILE_FLAGS -x {})"


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([_CALL.format("DISPATCHES a a")], "two dispatches or calls have one name"),
        ([_CALL.format("DISPATCHES a CALLS a")], "two dispatches or calls have one name"),
        ([_CALL.format("DISPATCHES model")], "a dispatch cannot be named 'model'"),
        ([_CALL.format("DISPATCHES 'a$b'")], "is not a name made of"),
        ([_CALL.format("DEVICES local-sync")], "is not of the form <id>=<uri>"),
        ([_CALL.format(""), _CALL.format("")], "another suite or preset of this name"),
        ([_CALL.format("DISPATCHES configured")], "a dispatch cannot be named 'configured'"),
        (
            [_CALL.format("DISPATCHES a SUBSTITUTES s=a=sources=a.mlir")],
            "substitute 's=a=sources=a.mlir' is not of the",
        ),
        (
            [_CALL.format("DISPATCHES a SUBSTITUTES s=b=source=a.mlir")],
            "'s' replaces 'b', which is not among DISPATCHES",
        ),
        ([_CALL.format("DISPATCHES a SUBSTITUTES s=a=source=x s=a=object=y")], "substitution 's' replaces 'a' twice"),
        (
            [_CALL.format("DISPATCHES a b SUBSTITUTES s=a=kernel=x s=b=kernel=y OBJECT_COMMANDS s=cc OBJECT_SUFFIX o")],
            "substitution 's': there is one object of a command, not several: 'x', 'y'",
        ),
        ([_CALL.format("DISPATCHES a SUBSTITUTES s=a=kernel=a.c")], "OBJECT_COMMANDS and OBJECT_SUFFIX are needed"),
        ([_CALL.format("OBJECT_COMMANDS s=cc")], "OBJECT_COMMANDS 's=cc' does not start with a substitution"),
        ([_CALL.format("COMBINATIONS both")], "combination 'both' is not of the form <id>=<substitution>"),
        ([_CALL.format("COMBINATIONS both=s")], "combination 'both' has 's', which is no substitution of SUBSTITUTES"),
        (
            [_CALL.format("DISPATCHES a SUBSTITUTES s=a=source=x t=a=source=y COMBINATIONS both=s both=t")],
            "combination 'both' replaces 'a' twice",
        ),
        (
            [_CALL.format("DISPATCHES a SUBSTITUTES s=a=source=x COMBINATIONS s=s")],
            "'s' is a combination and a substitution",
        ),
        (["iree_dispatch_benchmark_suite(NAME x surplus)"], "unknown arguments: surplus"),
        (["iree_dispatch_benchmark_suite(NAME x MODEL m)"], "SRC is missing"),
    ],
)
def test_bad_calls_are_refused(tmp_path: Path, checkout: Path, calls: list[str], message: str) -> None:
    rules = checkout.parent / "genrules" / "cmake" / "iree_dispatch_benchmark_suite.cmake"
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(x LANGUAGES NONE)", f'include("{rules}")', *calls]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    outcome = Project(tmp_path, environment={"PYTHONPATH": str(checkout)}).configure(check=False)
    assert outcome.returncode != 0
    assert message in " ".join(outcome.stdout.split())


def test_checks_without_the_tool_that_runs_them_are_refused(tmp_path: Path, checkout: Path) -> None:
    rules = checkout.parent / "genrules" / "cmake" / "iree_dispatch_benchmark_suite.cmake"
    substitution = "DISPATCHES a SUBSTITUTES s=a=source=a.mlir DEVICES here=local-sync"
    lines = [
        *("cmake_minimum_required(VERSION 3.25)", "project(x LANGUAGES NONE)", f'include("{rules}")'),
        *("iree_dispatch_benchmark_setup()", 'set_property(GLOBAL PROPERTY _IREE_DISPATCH_RUN_TOOL "")'),
    ]
    project = Project(tmp_path, environment={"PYTHONPATH": str(checkout)})
    for name, text in (("a.mlir", ""), ("CMakeLists.txt", "\n".join([*lines, _CALL.format(substitution)]))):
        (tmp_path / name).write_text(text)
    project.configure()
    checked = _CALL.format(f"{substitution} SUBSTITUTE_FLAGS s=--tolerance=0")
    (tmp_path / "CMakeLists.txt").write_text("\n".join([*lines, checked]))
    outcome = project.configure(check=False)
    assert outcome.returncode != 0
    said = " ".join(outcome.stdout.split())
    assert "iree-run-module was not found, by which the outputs of m/host/substitutions/s are checked" in said
    assert "install iree-base-runtime" in said


_BENCHMARK = """\
import json, sys
out = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--benchmark_out="))
{body}
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("json.dump({'benchmarks': [{'name': 'a'}]}, open(out, 'w'))", None),
        ("", "nothing was measured"),
        ("open(out, 'w')", "nothing was measured"),
        ("json.dump({'benchmarks': []}, open(out, 'w'))", "nothing was measured"),
        ("json.dump({'benchmarks': [{'name': 'a'}, {'name': 'b', 'error_message': 'no'}]}, open(out, 'w'))", "b: no"),
        ("json.dump({'benchmarks': [{'name': 'a'}]}, open(out, 'w')); sys.exit(3)", "failed: 3"),
        ("json.dump({'benchmarks': [{'real_time': float('inf')}]}, open(out, 'w'), indent=1)", "a time is not finite"),
        ("json.dump({'benchmarks': [{'real_time': float('nan')}]}, open(out, 'w'), indent=1)", "a time is not finite"),
        ("json.dump({'benchmarks': [{'name': 'a', 'iterations': 0}]}, open(out, 'w'))", "of no iteration"),
        ("json.dump({'benchmarks': [{'name': 'a', 'iterations': 1}]}, open(out, 'w'))", None),
    ],
)
def test_result_is_kept_only_if_all_was_measured(
    tmp_path: Path, checkout: Path, body: str, message: str | None
) -> None:
    program = tmp_path / "program.py"
    program.write_text(_BENCHMARK.format(body=body))
    result = tmp_path / "results" / "x.json"
    result.parent.mkdir()
    result.write_text("of an earlier run")
    script = checkout.parent / "genrules" / "cmake" / "private" / "run_benchmark.cmake"
    outcome = subprocess.run(
        [find_program("cmake"), f"-DRESULT={result}", "-P", str(script), "--", sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (outcome.returncode == 0) == (message is None) == result.exists()
    assert message is None or message in outcome.stderr


@pytest.mark.parametrize("is_missing", [True, False])
@pytest.mark.parametrize("is_timed", [True, False])
def test_what_is_missing_is_not_run(tmp_path: Path, checkout: Path, is_missing: bool, is_timed: bool) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n")
    source, result = tmp_path / "a.mlir", tmp_path / "a.json"
    source.write_text(
        f"// {'dispatchgen: skipped: it is [gone]; really' if is_missing else 'A module.'}\nmodule {{}}\n"
    )
    result.write_text("of an earlier run")
    script = checkout.parent / "genrules" / "cmake" / "private" / "run_benchmark.cmake"
    timed = [f"-DRESULT={result}"] if is_timed else []
    outcome = subprocess.run(
        [find_program("cmake"), *timed, f"-DSOURCE={source}", "-P", script, "--", sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "ran").exists() is not is_missing
    assert (outcome.returncode == 0) is is_missing
    assert ("dispatchgen: skipped: it is [gone]; really\n" in outcome.stderr) is is_missing
    assert result.exists() is not is_timed


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_longest_names_fit_into_the_names_of_files(generator: Generator, tmp_path: Path, checkout: Path) -> None:
    model, backend, device, shape = (letter * MAX_NAME for letter in "mbds")
    project = _project(
        tmp_path,
        checkout,
        generator=generator,
        backends=(replace(HOST, name=backend, id=backend, devices=(Device(device, "local-sync"),)),),
        models=[layers_model(model, backends=(backend,), shapes=(Shape(shape),))],
    )
    project.configure()
    project.build()
    assert _made(project) == {f"{model}/{backend}"}
    tested = project.test()
    assert tested.returncode == 0, tested.stdout


_OTHERS = ("model.vmfb", "a.vmfb", "b.vmfb")


@pytest.mark.parametrize(
    ("same", "message"),
    [
        ((), None),
        (("a.vmfb",), None),
        (_OTHERS, "note: the same code as the compiler's own"),
        (("model.vmfb", "a.vmfb"), "the substitution did not take place: the whole model is the same code"),
    ],
)
def test_whole_models_are_compared_with_the_compilers_own(
    tmp_path: Path, checkout: Path, same: tuple[str, ...], message: str | None
) -> None:
    """A whole model in which `a` and `b` are replaced."""
    folders = {name: tmp_path / name for name in ("original", "substituted")}
    for name, folder in folders.items():
        folder.mkdir()
        for each in _OTHERS:
            (folder / each).write_text("" if each in same else name)
    changes = [f"-DCHANGES={';'.join(str(folders['substituted'] / each) for each in _OTHERS[1:])}"]
    modules = [folders[name] / "model.vmfb" for name in ("substituted", "original")]
    outcome = _run_checked(checkout, *modules, options=changes)
    assert (outcome.returncode == 0) == ("ran" in outcome.stdout) == (message is None or message.startswith("note"))
    assert message in outcome.stderr if message is not None else outcome.stderr == ""


@pytest.mark.parametrize("module", ["missing", "older than its source", "older than an object", "as old"])
def test_modules_of_earlier_builds_are_not_run(tmp_path: Path, checkout: Path, module: str) -> None:
    files = {name: tmp_path / name for name in ("x.vmfb", "x.mlir", "one.o", "two.o")}
    for path in files.values():
        path.write_text("")
        os.utime(path, (1000, 1000))
    newer = {"older than its source": "x.mlir", "older than an object": "two.o"}.get(module)
    if newer is not None:
        os.utime(files[newer], (1001, 1001))
    if module == "missing":
        files["x.vmfb"].unlink()
    options = [f"-DSOURCE={files['x.mlir']}", f"-DOBJECTS={files['one.o']};{files['two.o']}"]
    outcome = _run_checked(checkout, files["x.vmfb"], tmp_path / "no.vmfb", options=options)
    assert (outcome.returncode == 0) == ("ran" in outcome.stdout) == (module == "as old")
    assert ("the last build failed" in outcome.stderr) == (module != "as old")


@pytest.mark.parametrize("edited", [None, "a.c", "a.h"])
@pytest.mark.parametrize("edit", ["removed", "newer"])
def test_modules_of_other_files_than_the_users_are_not_run(
    tmp_path: Path, checkout: Path, edited: str | None, edit: str
) -> None:
    files = {name: tmp_path / name for name in ("x.vmfb", "a.c", "a.h", "stamp")}
    for path in files.values():
        path.write_text("")
        os.utime(path, (1000, 1000))
    if edited is not None:
        files[edited].unlink() if edit == "removed" else os.utime(files[edited], (1001, 1001))
    read = [f"-DREAD={files['a.c']};{files['stamp']};{files['a.h']};{files['stamp']}"]
    outcome = _run_checked(checkout, files["x.vmfb"], tmp_path / "no.vmfb", options=read)
    assert (outcome.returncode == 0) == ("ran" in outcome.stdout) == (edited is None)
    message = "does not exist" if edit == "removed" else "was edited since the module was built"
    assert (str(edited) in outcome.stderr and message in " ".join(outcome.stderr.split())) == (edited is not None)


def _run_checked(
    checkout: Path, module: Path, original: Path, *, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs a program that prints `ran`, as the test of a module that stands beside the compiler's own."""
    script = checkout.parent / "genrules" / "cmake" / "private" / "run_benchmark.cmake"
    checks = [f"-DMODULE={module}", f"-DORIGINAL={original}", *options]
    program = [sys.executable, "-c", "print('ran')"]
    return subprocess.run(
        [find_program("cmake"), *checks, "-P", script, "--", *program],
        capture_output=True,
        text=True,
        check=False,
    )
