"""What the repository rule of Bazel is told, and the files of Python that it links."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dispatchgen.probe.bazel import package_links, program_links
from dispatchgen.probe.python_files import (
    DISPATCHGEN_NEEDS,
    MEASURE_NEEDS,
    SUBSTITUTE_NEEDS,
    dispatchgen_links,
    importer_links,
    measure_links,
    python_links,
    substitute_links,
)
from support import REPOSITORY, TIMEOUT, cli_environment

#: Runs the probe with these arguments and additions to the environment.
Probe = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dispatchgen.probe.bazel", *map(str, arguments)],
            cwd=tmp_path,
            env={**cli_environment(), **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    return run


def _answers(result: subprocess.CompletedProcess[str]) -> Mapping[str, Any]:
    assert result.returncode == 0, result.stderr
    answers: Mapping[str, Any] = json.loads(result.stdout)
    return answers


def test_all_that_is_linked_is_there(probe: Probe) -> None:
    answers = _answers(probe("--package", "magika"))
    links = answers["links"]
    assert [path for path, target in links.items() if not Path(target).exists()] == []
    assert all(Path(target).is_absolute() for target in links.values())
    assert {"bin/iree-compile", "bin/iree-lld", "bin/libIREECompiler.so"} <= links.keys()
    assert {"bin/iree-benchmark-module", "bin/iree-run-module"} <= links.keys()
    assert {"python/bin/python3", "site-packages/dispatchgen", "packages/magika"} <= links.keys()
    assert answers["importer"] and answers["linker"]
    assert answers["warnings"] == []
    assert re.match(r"3\.\d+", answers["version"])


def test_no_link_is_inside_another() -> None:
    every = (python_links, dispatchgen_links, substitute_links, measure_links, importer_links)
    links = sorted(path for links_of in every for path in links_of())
    assert [after for before, after in pairwise(links) if after.startswith(before + "/")] == []


def test_packages_lie_as_python_looks_for_them() -> None:
    ((path, folder),) = package_links(["onnx.backend"]).items()
    assert path == "packages/onnx/backend"
    assert (folder / "test").is_dir()
    assert package_links(["onnx.backend", "onnx"]) == {"packages/onnx": folder.parent}


def test_a_namespace_has_the_files_of_all_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one/space/both", "one/space/a.mlir", "two/space/both", "two/space/b.mlir"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for folder in ("two", "one"):
        monkeypatch.syspath_prepend(tmp_path / folder)
    assert package_links(["space"]) == {
        "packages/space/a.mlir": tmp_path / "one/space/a.mlir",
        "packages/space/b.mlir": tmp_path / "two/space/b.mlir",
        "packages/space/both": tmp_path / "one/space/both",
    }


def test_the_interpreter_is_no_virtual_environment() -> None:
    links = python_links()
    program = links["python/bin/python3"]
    assert not program.is_symlink() and not (program.parent.parent / "pyvenv.cfg").exists()
    names = {Path(path).name for path in links}
    assert {"os.py", "encodings", "lib-dynload"} <= names
    assert not names & {"site-packages", "test", "idlelib", "__pycache__"}


def test_needs_are_what_the_project_declares() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    dependencies = project[project.index("\ndependencies = [") : project.index("\n[project.optional-dependencies]")]
    declared = set(re.findall(r'^  "([\w-]+)', dependencies, re.MULTILINE))
    # IREE's wheels are found as a package and as programs.
    needs = {*DISPATCHGEN_NEEDS, *SUBSTITUTE_NEEDS, *MEASURE_NEEDS}
    assert declared == {*needs, "iree-base-compiler", "iree-base-runtime"}


def test_links_lead_to_whole_packages() -> None:
    links = dispatchgen_links()
    pydantic = links["site-packages/pydantic"]
    assert (pydantic / "__init__.py").is_file()
    assert links["site-packages/typing_extensions.py"].is_file()  # a module; asked for by a package that is asked for
    assert links["site-packages/iree/compiler"].is_dir()  # `iree` is of several distributions
    assert not {path for path in links if "pygments" in path or "elftools" in path}
    substitutes = {f"substitute-site-packages/{name}" for name in ("elftools", "iree/runtime")}
    assert substitutes <= substitute_links().keys()
    importer = importer_links().keys()
    assert "import-site-packages/google/protobuf" in importer
    of_others = ("typing_extensions.py", "numpy", "sympy")
    assert not importer & {f"import-site-packages/{name}" for name in of_others}


def test_without_the_importer_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    present = importlib.metadata.distribution

    def distribution(name: str) -> importlib.metadata.Distribution:
        if name == "onnx":
            raise importlib.metadata.PackageNotFoundError(name)
        return present(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    assert importer_links() == {}


def test_a_distribution_that_does_not_list_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Debian's packages are: python3-click."""
    files = {
        "click-8.1.3.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: click\nVersion: 8.1.3\n",
        "click-8.1.3.egg-info/top_level.txt": "click\nclick_module\nnot_there\n",
        "click/__init__.py": "",
        "click_module.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    links = dispatchgen_links()
    assert {path: links[path] for path in links if "click" in path} == {
        "site-packages/click": tmp_path / "click",
        "site-packages/click_module.py": tmp_path / "click_module.py",
    }


_PROGRAMS = ("iree-compile", "iree-benchmark-module", "iree-run-module", "iree-lld")


def _install_tree(folder: Path, version: str = "3.13.0") -> Path:
    """An install tree of IREE with a compiler that only says its version."""
    for name in _PROGRAMS:
        program = folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '  IREE compiler version {version}'\n")
        program.chmod(0o755)
    (folder / "lib" / "iree_platform_libs").mkdir(parents=True)
    (folder / "lib" / "libIREECompiler.so").write_text("")
    return folder


def test_an_install_tree_is_linked_as_it_is(tmp_path: Path, probe: Probe) -> None:
    tree = _install_tree(tmp_path / "tree")
    for answers in (
        _answers(probe("--tools-dir", tree)),
        _answers(probe("--tools-dir", tree / "bin")),
        _answers(probe(IREE_HOST_BIN_DIR=str(tree / "bin"))),
    ):
        links = answers["links"]
        expected = {f"bin/{name}": str(tree / "bin" / name) for name in _PROGRAMS}
        expected |= {name: str(tree / name) for name in ("lib/libIREECompiler.so", "lib/iree_platform_libs")}
        assert {path: links[path] for path in links if path.startswith(("bin/", "lib/"))} == expected
        assert answers["version"] == "3.13.0"


def test_the_library_of_a_linked_program_is_found(tmp_path: Path) -> None:
    tree = _install_tree(tmp_path / "tree")
    (tmp_path / "iree-compile").symlink_to(tree / "bin" / "iree-compile")
    assert program_links({"iree-compile": tmp_path / "iree-compile"}) == {
        "bin/iree-compile": tmp_path / "iree-compile",
        "bin/iree-lld": tree / "bin" / "iree-lld",
        "lib/iree_platform_libs": tree / "lib" / "iree_platform_libs",
        "lib/libIREECompiler.so": tree / "lib" / "libIREECompiler.so",
    }


def test_tools_of_different_versions_are_said(tmp_path: Path, probe: Probe) -> None:
    tree = _install_tree(tmp_path / "tree", version="99.1.0")
    (tree / "bin" / "iree-benchmark-module").unlink()  # taken from the wheel then
    bindings, runtime = _answers(probe("--tools-dir", tree))["warnings"]
    assert bindings.startswith("iree-compile is 99.1.0, the Python bindings are 3.")
    assert runtime.startswith("iree-compile is 99.1.0, iree-benchmark-module is 3.")


def test_missing_bindings_are_an_error(tmp_path: Path, probe: Probe) -> None:
    """Programs alone are not enough: extraction reads IR."""
    tree = _install_tree(tmp_path / "tree")
    (tmp_path / "iree").mkdir()
    (tmp_path / "iree" / "__init__.py").write_text("")  # hides the wheels
    result = probe("--tools-dir", tree, PYTHONPATH=f"{tmp_path}:{cli_environment()['PYTHONPATH']}")
    assert result.returncode == 2
    assert result.stderr.startswith("error: the Python bindings of IREE's compiler are not installed for ")
    assert "-m pip install iree-base-compiler" in result.stderr


def test_missing_tools_and_packages_are_errors(tmp_path: Path, probe: Probe) -> None:
    result = probe("--tools-dir", tmp_path)
    assert result.returncode == 2
    assert "error: iree-compile was not found" in result.stderr and str(tmp_path) in result.stderr
    result = probe("--package", "no_such_package", "--package", "no.other")
    assert result.returncode == 2
    assert "no_such_package" in result.stderr and "no.other" in result.stderr
    assert "Traceback" not in result.stderr
