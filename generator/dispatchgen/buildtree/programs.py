"""Finding CMake and Ninja: on PATH where they are new enough, else the ones that PyPI's packages install."""

from __future__ import annotations

import importlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import Problem, ToolError
from dispatchgen.iree import process

_VERSION_SECONDS = 60.0


@dataclass(frozen=True)
class BuildPrograms:
    """The programs that configure and build."""

    cmake: Path
    ninja: Path


@dataclass(frozen=True)
class _Wanted:
    program: str
    minimum: tuple[int, int]
    package: str  #: Python package on PyPI that ships the program.
    folder: str  #: Name in that package of the folder that holds it.


_CMAKE = _Wanted("cmake", (3, 25), "cmake", "CMAKE_BIN_DIR")
_NINJA = _Wanted("ninja", (1, 11), "ninja", "BIN_DIR")


def find_build_programs() -> BuildPrograms:
    """Finds CMake (at least 3.25) and Ninja (at least 1.11). Raises ToolError, with all that is missing."""
    problems: list[Problem] = []
    found: list[Path] = []
    for wanted in (_CMAKE, _NINJA):
        result = _find(wanted)
        if isinstance(result, Problem):
            problems.append(result)
        else:
            found.append(result)
    if problems:
        raise ToolError(*problems)
    return BuildPrograms(*found)


def _find(wanted: _Wanted) -> Path | Problem:
    seen = []
    for path in (_on_path(wanted), _of_package(wanted)):
        if path is None:
            continue
        version = _version(path)
        if version is not None and version >= wanted.minimum:
            return path
        seen.append(f"{path} is {'.'.join(map(str, version)) if version else 'not usable'}")
    minimum = ".".join(map(str, wanted.minimum))
    found = "; ".join(seen) if seen else f"none on PATH, and the Python package {wanted.package} is not installed"
    return Problem(f"{wanted.program} {minimum} or newer is needed: {found}", hint="pip install dispatchgen[build]")


def _on_path(wanted: _Wanted) -> Path | None:
    found = shutil.which(wanted.program)
    return Path(found).absolute() if found else None


def _of_package(wanted: _Wanted) -> Path | None:
    try:
        folder = getattr(importlib.import_module(wanted.package), wanted.folder)
    except (ImportError, AttributeError):
        return None
    found = shutil.which(wanted.program, path=folder)
    return Path(found) if found else None


def _version(path: Path) -> tuple[int, int] | None:
    try:
        output = process.run([str(path), "--version"], timeout=_VERSION_SECONDS).stdout
    except ToolError:
        return None
    match = re.search(r"(\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else None
