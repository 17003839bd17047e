"""@iree_tools on real Bazel: what it declares is all that the tools read, wherever they are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest

from bazel_project import BazelProject
from dispatchgen.iree.flags import compile_flags
from suite_folder import copy_checkout, layers_model
from support import REPOSITORY, TIMEOUT

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

_DEBIAN_PYTHON = Path("/usr/bin/python3")
_SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
#: Where the machine's own C libraries are; every program needs them.
_SYSTEM = ("/lib", "/usr/lib")


@dataclass(frozen=True)
class Installation:
    """A virtual environment, and a folder of Python packages that goes before it."""

    folder: Path
    python_path: Path | None = None

    @property
    def environment(self) -> dict[str, str | None]:
        return {"VIRTUAL_ENV": str(self.folder), "PYTHONPATH": str(self.python_path) if self.python_path else None}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and the rules, which nobody edits."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_checkout(folder)
    return folder


def _editable(checkout: Path) -> Installation:
    """This environment, with dispatchgen in a checkout."""
    return Installation(Path(sys.prefix), checkout / "generator")


def _wheel_on_debian(folder: Path) -> Installation:
    """A virtual environment of Debian's Python, whose library is in the program, with dispatchgen's wheel in it."""
    version = subprocess.run(
        [_DEBIAN_PYTHON, "-c", "import sys, venv; print(sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=False,
    )
    if version.stdout.strip() != str(sys.version_info[:2]):
        pytest.skip(f"{_DEBIAN_PYTHON} cannot use the packages of {sys.executable}: another version, or none")
    subprocess.run([_DEBIAN_PYTHON, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheel")]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    (site_packages,) = (folder / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    (site_packages / "others.pth").write_text(f"{_SITE_PACKAGES}\n")
    return Installation(folder / "venv")


@pytest.fixture(params=["editable", "wheel on Debian's Python"])
def installation(request: pytest.FixtureRequest, tmp_path: Path, checkout: Path) -> Installation:
    """dispatchgen and IREE, installed in different ways."""
    return _editable(checkout) if request.param == "editable" else _wheel_on_debian(tmp_path)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[BazelProject]:
    """A suite of one model, with one server for all tests."""
    folder = tmp_path_factory.mktemp("workspace") / "suite"
    rules = checkout / "genrules" / "bazel"
    with BazelProject(folder, models=[layers_model("m")], rules=rules) as project:
        project.write_layers("m", (8, 16))
        project.lock()
        yield project


@pytest.fixture
def project(workspace: BazelProject, checkout: Path) -> BazelProject:
    """The suite, as it is first in each test."""
    workspace.environment = _editable(checkout).environment
    workspace.packages = ()
    workspace.write_workspace()
    workspace.generate()
    return workspace


def _copy_declared(project: BazelProject, folder: Path, *targets: str) -> Path:
    """Copies all files that targets of @iree_tools declare, and nothing else. Links when it can."""
    output_base = Path(project.bazel("info", "output_base").stdout.splitlines()[-1])
    query = " + ".join(f"deps(@iree_tools//:{target})" for target in targets)
    labels = project.bazel("query", query).stdout.splitlines()
    for label in labels:
        name = label.partition("@iree_tools//:")[2]
        source = (output_base / "external" / "iree_tools" / name).resolve()
        if name and source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                target.hardlink_to(source)
            except OSError:
                shutil.copy(source, target)
    return folder


def _run(*command: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        cwd="/",
        env=environment or {},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )


def _run_hermetic(tools: Path, scratch: Path, *arguments: str | Path) -> set[str]:
    """Runs the `dispatchgen` of these tools, which must load no code but theirs. Returns what it loads."""
    environment = {"PYTHONVERBOSE": "1", "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(scratch / "loaded")}
    result = _run(tools / "dispatchgen", *arguments, environment=environment)
    modules = re.findall(r"^# (?:code object|extension module \S+ loaded) from '?(.*?)'?$", result.stderr, re.MULTILINE)
    assert len(modules) > 100
    assert [path for path in modules if not path.startswith(f"{tools}/")] == []
    libraries = set()
    for log in scratch.glob("loaded.*"):
        libraries.update(re.findall(r"calling init: (.*)$", log.read_text(errors="replace"), re.MULTILINE))
        log.unlink()
    assert [path for path in libraries if not path.startswith((f"{tools}/", *_SYSTEM))] == []
    return {*modules, *libraries}


def test_declared_files_are_all_that_is_read(project: BazelProject, installation: Installation, tmp_path: Path) -> None:
    project.environment = installation.environment
    project.build("//:m_host.dispatches")
    tools = _copy_declared(project, tmp_path / "copy", "tools", "import_files")
    built = project.bazel_bin / "m" / "host"

    arguments = ["--lock", f"{project.folder}/locks/m.json", "--backend", "host"]
    arguments += ["--output", f"{tmp_path}/dispatches"]
    arguments += ["--listed-in", f"{built}/listed.txt", "--iree-compile", f"{tools}/bin/iree-compile"]
    loaded = _run_hermetic(tools, tmp_path, "extract", built / "configured.mlir", *arguments)
    assert {path for path in loaded if "libIREECompiler" in path or "/_mlir_libs/" in path}
    (tmp_path / "dispatches" / "written.txt").unlink()  # of the command alone, no output of the action
    again, first = (
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (tmp_path / "dispatches", built / "dispatches")
    )
    assert again == first

    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4])
    result_value = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "relu", [value], [result_value])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), tmp_path / "relu.onnx")
    _run(tools / "import_onnx", tmp_path / "relu.onnx", "-o", tmp_path / "relu.mlir")
    assert "onnx.Relu" in (tmp_path / "relu.mlir").read_text()
    for launcher in ("dispatchgen", "import_onnx"):
        assert str(tmp_path) not in (tools / launcher).read_text()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc`")
def test_declared_files_are_all_that_substitutions_need(project: BazelProject, tmp_path: Path) -> None:
    project.build("//:m_host.dispatches")
    needs = [
        "dispatchgen",
        "dispatchgen_files",
        "substitute_files",
        "compile_files",
        "bin/iree-compile",
        "bin/iree-lld",
    ]
    tools = _copy_declared(project, tmp_path / "copy", *needs, "bin/iree-run-module")
    dispatches = project.bazel_bin / "m" / "host" / "dispatches"
    (name,) = project.dispatches("m")
    (tmp_path / "a.c").write_text("void f() {}\n")
    subprocess.run(["cc", "-c", "-ffreestanding", "-fPIC", "a.c", "-o", "a.o"], cwd=tmp_path, check=True)
    flags = compile_flags(project.models[0], project.backends[0])
    step: list[str | Path] = ["--name", "s", "--kind", "object", "--substitute", tmp_path / "a.o", "--tolerance", "1"]
    files: list[str | Path] = [
        "--dispatches",
        dispatches,
        "--dispatch",
        name,
        "--output",
        tmp_path / "s" / "dispatches",
    ]
    compiler = tools / "bin" / "iree-compile"
    loaded = _run_hermetic(tools, tmp_path, "substitute", *step, *files, "--iree-compile", compiler, "--", *flags)
    assert [path for path in loaded if "/elftools/" in path]

    check = tmp_path / "s" / "dispatches" / f"{name}.check.mlir"
    flags = (*flags, f"--iree-hal-executable-object-search-path={tmp_path}")
    (tmp_path / "a.o").rename(tmp_path / "s" / "a.o")
    _run(compiler, *flags, "--compile-from=executable-configurations", check, "-o", tmp_path / "check.vmfb")
    run: list[str | Path] = [
        "--device",
        "local-sync",
        "--iree-run-module",
        tools / "bin" / "iree-run-module",
        "--tolerance",
        "1e9",
    ]
    loaded = _run_hermetic(
        tools, tmp_path, "check-outputs", tmp_path / "check.vmfb", "--spec", check.with_suffix(".json"), *run
    )
    assert [path for path in loaded if "/numpy/" in path]


def test_packages_of_the_working_directory_are_not_imported(project: BazelProject, tmp_path: Path) -> None:
    project.build("@iree_tools//:tools")
    output_base = Path(project.bazel("info", "output_base").stdout.splitlines()[-1])
    for name in ("click", "json", "runpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    launcher = output_base / "external" / "iree_tools" / "dispatchgen"
    result = subprocess.run(
        [launcher, "--help"], cwd=tmp_path, env={"PYTHONSAFEPATH": ""}, capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("Usage: dispatchgen ")


def _failure(project: BazelProject, **environment: str | None) -> str:
    """What Bazel prints when the tools cannot be used."""
    project.environment = {**project.environment, **environment}
    project.write_workspace()
    result = project.build("@iree_tools//:tools", check=False)
    assert result.returncode != 0, result.stdout
    assert not re.search(r'^\s*File "[^"]*\.py"', result.stdout, re.MULTILINE)
    return result.stdout


def test_no_python_is_an_error(project: BazelProject, tmp_path: Path) -> None:
    programs = tmp_path / "bin"  # all but Python
    programs.mkdir()
    for name in ("bash", "sh", "env", "uname", "javac", "bazel-4"):
        if (found := shutil.which(name)) is not None:
            (programs / name).symlink_to(found)
    output = _failure(project, PATH=str(programs), VIRTUAL_ENV=None, BAZEL=shutil.which("bazel-4"))
    assert "@iree_tools: no Python was found" in output
    assert f"looked in: PATH ({programs}); VIRTUAL_ENV is not set" in output
    assert "--repo_env=VIRTUAL_ENV=" in output


def test_an_environment_without_python_is_an_error(project: BazelProject, tmp_path: Path) -> None:
    """The Python on PATH, which may have another IREE, is not taken for it."""
    output = _failure(project, VIRTUAL_ENV=str(tmp_path / "none"))
    assert "@iree_tools: VIRTUAL_ENV names a folder without a Python" in output
    assert f"there is no {tmp_path}/none/bin/python3" in output
    assert "--repo_env=VIRTUAL_ENV=" in output


def test_python_without_dispatchgen_is_an_error(project: BazelProject, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    output = _failure(project, VIRTUAL_ENV=str(tmp_path / "venv"), PYTHONPATH=None)
    assert f"@iree_tools: this Python does not have dispatchgen: {tmp_path}/venv/bin/python3" in output
    assert "activate a virtual environment that has dispatchgen" in output


@pytest.mark.parametrize("files", [["__init__.py"], ["__init__.py", "probe/__init__.py"], ["needs_more"]])
def test_another_version_of_dispatchgen_is_an_error(project: BazelProject, tmp_path: Path, files: list[str]) -> None:
    for name in files:
        path = tmp_path / "dispatchgen" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    if files == ["needs_more"]:
        (tmp_path / "dispatchgen" / "__init__.py").write_text("import no_such_package\n")
    output = _failure(project, PYTHONPATH=str(tmp_path))
    assert "the dispatchgen of this Python is of another version than these rules, or lacks a package: " in output
    assert "No module named" in output.rpartition("ERROR: ")[2]
    assert 'File "/' not in output.rpartition("ERROR: ")[2]


def test_missing_tools_are_an_error(project: BazelProject, tmp_path: Path) -> None:
    output = _failure(project, IREE_TOOLS_DIR=str(tmp_path / "nothing"))
    assert "error: iree-compile was not found" in output
    assert f"looked in: {tmp_path}/nothing (the folder named by IREE_TOOLS_DIR or IREE_HOST_BIN_DIR)" in output
    # The server saw the change of the environment: it looks again.
    project.environment = {**project.environment, "IREE_TOOLS_DIR": None}
    project.build("@iree_tools//:tools")


def test_missing_package_is_an_error(project: BazelProject) -> None:
    project.packages = ["no_such_package"]
    output = _failure(project)
    assert "the Python package no_such_package, which ships a model, is not installed" in output


def test_a_model_of_a_package_that_was_not_named_is_told_where_the_message_leads(project: BazelProject) -> None:
    build_file = project.folder / "BUILD.bazel"
    build_file.write_text(build_file.read_text().replace('"models/m.mlir"', '"package:onnx/m.mlir"'))
    result = project.build("//:m_host.dispatches", check=False)
    assert result.returncode != 0
    assert "no such target '@iree_tools//:packages/onnx/m.mlir'" in result.stdout
    place = re.search(r" defined by (\S+)", result.stdout)
    assert place is not None
    assert "does not name the package in `packages`" in Path(place[1]).read_text()
    assert "Named are: none." in Path(place[1]).read_text()


def test_tools_of_different_versions_are_said(project: BazelProject, tmp_path: Path) -> None:
    compiler = tmp_path / "bin" / "iree-compile"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho '  IREE compiler version 99.1.0'\n")
    compiler.chmod(0o755)
    project.environment = {**project.environment, "IREE_TOOLS_DIR": str(compiler.parent)}
    output = project.build("@iree_tools//:tools").stdout
    assert "@iree_tools: iree-compile is 99.1.0, the Python bindings are 3." in output
    assert "@iree_tools: iree-compile is 99.1.0, iree-benchmark-module is 3." in output


def test_missing_importer_is_an_error_of_onnx_suites_alone(project: BazelProject, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (site_packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    for entry in _SITE_PACKAGES.iterdir():
        if not entry.name.startswith(("onnx", "_dispatchgen")) and not (site_packages / entry.name).exists():
            (site_packages / entry.name).symlink_to(entry)
    project.environment = {**project.environment, "VIRTUAL_ENV": str(tmp_path / "venv")}
    project.lock()
    text = (project.folder / "BUILD.bazel").read_text()
    (project.folder / "m.onnx").write_bytes(b"")
    (project.folder / "BUILD.bazel").write_text(
        text.replace('"models/m.mlir"', '"m.onnx"').replace('"m_host"', '"other"').replace('"m"', '"other"')
    )
    result = project.build("//:other.dispatches", check=False)
    assert result.returncode != 0
    assert "the tools have no importer of .onnx models" in result.stdout
    project.generate()
    project.build("//:m_host.dispatches")


def test_environment_of_the_user_does_not_matter(project: BazelProject) -> None:
    project.build("//:m_host.dispatches")
    project.environment = {**project.environment, "PYTHONHASHSEED": "7", "LANG": "C", "TZ": "Asia/Tokyo", "X": "y"}
    # Another PATH: Bazel looks for the tools again, and finds the same.
    project.environment = {**project.environment, "PATH": os.environ["PATH"] + os.pathsep + str(project.folder)}
    assert project.steps("build", "//:m_host.dispatches") == []
