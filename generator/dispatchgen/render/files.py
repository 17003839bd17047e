"""The build files of a suite: where each is, and its text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dispatchgen.errors import ManifestError, OutputError, Place, Problem
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Model, Suite
from dispatchgen.ownership import is_generated
from dispatchgen.render.arguments import input_files
from dispatchgen.render.bazel import parameter_path, render_bazel
from dispatchgen.render.cmake import render_cmake, render_iree_plugin

CMAKE_FILE = "CMakeLists.txt"
#: What IREE's build includes from each folder of IREE_CMAKE_PLUGIN_PATHS.
IREE_PLUGIN_FILE = "iree_runtime_plugin.cmake"
#: Names of a Bazel package's build file. Bazel reads the first that there is.
BAZEL_FILES = ("BUILD.bazel", "BUILD")


@dataclass(frozen=True)
class BuildFile:
    """A file that `dispatchgen generate` writes."""

    path: Path
    text: str


def generated_systems(folder: Path) -> tuple[bool, bool]:
    """Whether a folder has a build file that dispatchgen wrote, for CMake and for Bazel."""
    return is_generated(folder / CMAKE_FILE), any(is_generated(folder / name) for name in BAZEL_FILES)


def is_iree_plugin(folder: Path) -> bool:
    """Whether dispatchgen made a folder a plug-in of IREE's build."""
    return is_generated(folder / IREE_PLUGIN_FILE)


def iree_plugin_file(suite: Suite, output: Path | None = None) -> BuildFile:
    """What makes the folder of a suite's CMakeLists.txt, `output` where that is given, a plug-in of IREE's build."""
    folder = output.parent if output is not None else suite.root
    return BuildFile(folder / IREE_PLUGIN_FILE, render_iree_plugin(suite))


def cmake_file(suite: Suite, locks: Mapping[str, Lock], output: Path | None = None) -> BuildFile:
    """The CMakeLists.txt of a suite, by default in the suite's folder. Raises as `render_cmake` does."""
    path = output if output is not None else suite.root / CMAKE_FILE
    return BuildFile(path, render_cmake(suite, locks, package_dir=_package_dir(suite, path)))


def bazel_file(suite: Suite, locks: Mapping[str, Lock], output: Path | None = None) -> BuildFile:
    """The build file of a suite for Bazel, by default the one that the suite's folder has, or BUILD.bazel there.

    Raises OutputError where Bazel would not read the file as the suite's, ManifestError where a file of the suite
    belongs to another package of Bazel, and as `render_bazel` does.
    """
    there = [suite.root / name for name in BAZEL_FILES if (suite.root / name).is_file()]
    path = output if output is not None else (there or [suite.root / BAZEL_FILES[0]])[0]
    _check_bazel_path(suite, path, there)
    text = render_bazel(suite, locks)
    _check_bazel_package(suite)
    return BuildFile(path, text)


def _check_bazel_path(suite: Suite, path: Path, there: list[Path]) -> None:
    """Raises OutputError where Bazel would not read a file as the only build file of the suite's folder."""
    if path.name not in BAZEL_FILES or path.parent.resolve() != suite.root.resolve():
        message = "a build file of Bazel is BUILD.bazel or BUILD in the suite's folder: labels are relative to it"
        raise OutputError(Problem(message, Place(str(path)), f"-o {suite.root / BAZEL_FILES[0]}"))
    others = [other for other in there if other.name != path.name]
    if others:
        message = f"the folder has the build file {others[0].name}: of two, Bazel reads {BAZEL_FILES[0]} alone"
        raise OutputError(Problem(message, Place(str(path)), f"-o {others[0]}, or remove one of them"))


def _check_bazel_package(suite: Suite) -> None:
    """Raises ManifestError with all files of the suite that lie in a folder with a build file of its own."""
    problems = []
    for model in suite.models:
        for file in _bazel_files(suite, model):
            folders = [suite.root / folder for folder in PurePosixPath(file).parents[:-1]]
            others = [folder / name for folder in folders for name in BAZEL_FILES if (folder / name).is_file()]
            if others:
                message = f"{file!r} of model {model.name!r} belongs to another package of Bazel: there is {others[0]}"
                hint = f"move the file out of {others[0].parent}, or remove that build file"
                problems.append(Problem(message, Place(str(suite.manifest), model.line), hint))
    if problems:
        raise ManifestError(*problems)


def _bazel_files(suite: Suite, model: Model) -> Iterator[str]:
    """Paths of a model's files in the suite's folder: program, lock, parameters, data, substitutes, what flags name."""
    if model.source.package is None:
        yield model.source.path
    yield suite.lock_path(model).relative_to(suite.root).as_posix()
    for parameter in model.parameters:
        yield parameter_path(parameter)
    files = {file for backend in model.backends for file in input_files(model, backend)}
    yield from sorted(files.union(model.data_files))


def _package_dir(suite: Suite, path: Path) -> str | None:
    """Path from the generated file's folder to the suite's, or None where they are the same."""
    relative = os.path.relpath(suite.root.resolve(), path.parent.resolve())
    return None if relative == os.curdir else Path(relative).as_posix()
