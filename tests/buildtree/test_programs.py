"""Finding CMake and Ninja."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from dispatchgen.buildtree.programs import find_build_programs
from dispatchgen.errors import ToolError


def program(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{name} version {version}'\n")
    path.chmod(0o755)
    return path


def package(monkeypatch: pytest.MonkeyPatch, name: str, variable: str, folder: Path) -> None:
    """Makes `import name` give a package with a folder of programs."""
    module = ModuleType(name)
    setattr(module, variable, str(folder))
    monkeypatch.setitem(sys.modules, name, module)


def test_path_goes_first_where_it_is_new_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path, packaged = tmp_path / "path", tmp_path / "package"
    cmake = program(on_path, "cmake", "3.25.1")
    program(on_path, "ninja", "1.10.2")
    program(packaged, "cmake", "4.4.0")
    ninja = program(packaged, "ninja", "1.13.0.git")
    monkeypatch.setenv("PATH", f"{on_path}:/bin:/usr/bin")
    package(monkeypatch, "cmake", "CMAKE_BIN_DIR", packaged)
    package(monkeypatch, "ninja", "BIN_DIR", packaged)
    found = find_build_programs()
    assert (found.cmake, found.ninja) == (cmake, ninja)


def test_all_that_is_missing_is_said_with_what_mends_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = program(tmp_path / "path", "cmake", "3.22.1")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setitem(sys.modules, "cmake", None)
    monkeypatch.setitem(sys.modules, "ninja", None)
    # The stand-in is a shell script, and /bin/sh is found without PATH.
    with pytest.raises(ToolError) as error:
        find_build_programs()
    first, second = error.value.problems
    assert first.message == f"cmake 3.25 or newer is needed: {old} is 3.22"
    assert second.message.startswith("ninja 1.11 or newer is needed: none on PATH")
    assert first.hint == second.hint == "pip install dispatchgen[build]"
