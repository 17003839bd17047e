"""Finding, for build files, what is installed: IREE's programs and Python packages that ship models."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dispatchgen.errors import Problem, ToolError
from dispatchgen.iree import tools
from dispatchgen.manifest.sources import package_folders


def find_programs(names: Sequence[str], folder: Path | None, named_by: str) -> dict[str, Path]:
    """Path of each of IREE's programs; `folder` is the one that the user named, if any, with the options `named_by`.

    Raises ToolError with all that were not found, and where they were looked for.
    """
    found = {name: tools.find_program(name, folder) for name in names}
    problems = [tools.missing(name, folder, named_by) for name, path in found.items() if path is None]
    if problems:
        raise ToolError(*problems)
    return {name: path for name, path in found.items() if path is not None}


def find_packages(names: Sequence[str]) -> dict[str, tuple[Path, ...]]:
    """Folders of each Python package, found without importing it; a namespace may have several.

    Raises ToolError with all that are not installed.
    """
    folders: dict[str, tuple[Path, ...]] = {}
    problems: list[Problem] = []
    for name in names:
        found = package_folders(name)
        if not found:
            message = f"the Python package {name}, which ships a model, is not installed for {sys.executable}"
            problems.append(Problem(message, hint=f"{sys.executable} -m pip install {name}"))
        else:
            folders[name] = found
    if problems:
        raise ToolError(*problems)
    return folders


def library_folders(iree_compile: Path) -> tuple[Path, Path]:
    """Where a compiler loads its library from: beside it or, in build and install trees, in `../lib`."""
    folder = iree_compile.resolve().parent  # a link runs the program that it leads to
    return folder, folder.parent / "lib"


def version_warnings(compiler: str, benchmark_module: Path | None) -> Iterator[str]:
    """What to say where the tools are of different versions, as far as versions are known.

    Args:
      compiler: Version text of iree-compile.
      benchmark_module: The program; None: it is made by the same build.
    """
    note = tools.other_build_note(compiler, tools.wheel_version("iree.compiler"))
    if note is not None:
        yield note
    runtime = tools.program_version(benchmark_module) if benchmark_module is not None else None
    if runtime is not None and tools.versions_differ(compiler, runtime):
        yield f"iree-compile is {compiler}, iree-benchmark-module is {runtime}: it may not run what the compiler makes"
