"""The wheel: what is in it, and that it works where it is installed, without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import support

#: What makes `--help` slow to start; each is imported by the commands that need it.
_HEAVY = {"iree", "jinja2", "numpy", "onnx", "pydantic", "rich", "yaml"}

#: Runs a program of the fresh environment, with these arguments, in an empty folder; returns what it printed.
Program = Callable[..., str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built with the pinned build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
        support.REPOSITORY,
    ]
    built = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runs programs of a fresh environment that holds the wheel, with the dependencies of the tests' environment.

    Only dispatchgen is installed. A .pth file adds the folder that the dependencies are in; Python does not read the
    .pth files there, so that an editable install of dispatchgen in it stays out of the way.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    empty = folder / "empty"
    empty.mkdir()

    def run(*command: str | Path) -> str:
        arguments = [str(python.parent / command[0]), *map(str, command[1:])]
        done = subprocess.run(arguments, cwd=empty, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    site_packages = Path(run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run("python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", wheel)
    return run


def _imported_by(arguments: str) -> set[str]:
    """Top-level modules that are loaded after `dispatchgen <arguments>`."""
    code = (
        "import sys\n"
        "from dispatchgen.cli import main\n"
        f"sys.argv = ['dispatchgen', *{arguments.split()!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=support.cli_environment(), capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", ["--help", "--version", "cmake-dir", "bazel-dir"])
def test_what_is_asked_often_imports_nothing_heavy(arguments: str) -> None:
    imported = _imported_by(arguments)
    assert "click" in imported
    assert not imported & _HEAVY


def _rules() -> set[str]:
    """The files of the rules, of CMake and of Bazel, from the top of the checkout."""
    paths = (support.REPOSITORY / "genrules").rglob("*")
    return {
        path.relative_to(support.REPOSITORY).as_posix()
        for path in paths
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".pyc"
    }


@pytest.mark.slow
def test_the_wheel_holds_the_package_the_rules_and_the_license(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dispatchgen"}
    assert "dispatchgen/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    rules = _rules()
    assert {"genrules/bazel/defs.bzl", "genrules/bazel/WORKSPACE", "genrules/cmake/private/tools.cmake"} <= rules
    assert {f"dispatchgen/{rule}" for rule in rules} <= set(names)


@pytest.mark.slow
def test_the_source_distribution_holds_the_rules_and_the_samples(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=support.REPOSITORY, capture_output=True, check=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    samples = {"samples/WORKSPACE", "samples/MODULE.bazel", "samples/mlp/BUILD.bazel", "samples/mlp/CMakeLists.txt"}
    assert _rules() | samples <= names


@pytest.mark.slow
def test_the_installed_wheel_works_without_the_checkout(program: Program) -> None:
    assert "Usage: dispatchgen" in program("dispatchgen", "--help")
    imported_from = Path(program("python", "-c", "import dispatchgen; print(dispatchgen.__file__)").strip())
    assert not imported_from.is_relative_to(support.REPOSITORY / "generator")
    rules = Path(program("dispatchgen", "cmake-dir").strip())
    assert rules == imported_from.parent / "genrules" / "cmake"
    assert list(rules.glob("*.cmake"))
    assert Path(program("dispatchgen", "bazel-dir").strip()) == rules.with_name("bazel")
    assert (rules.with_name("bazel") / "defs.bzl").is_file()
    assert json.loads(program("dispatchgen", "schema"))["title"] == "dispatchgen manifest"


@pytest.mark.slow
def test_the_wheel_names_all_its_dependencies(program: Program) -> None:
    assert "No broken requirements found" in program("python", "-m", "pip", "check")
