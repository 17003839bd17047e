"""Answers all questions of Bazel's repository rule, in one process: `python -m dispatchgen.probe.bazel`.

Prints JSON:

- `links`: path in the repository -> file or folder on this machine, of all that actions run or read.
- `version`: of iree-compile.
- `linker`, `importer`: whether there are iree-lld and the importer.
- `warnings`: texts for the user.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dispatchgen.errors import DispatchgenError, Problem, ToolError
from dispatchgen.iree import tools
from dispatchgen.probe.lookup import find_packages, find_programs, library_folders, version_warnings
from dispatchgen.probe.python_files import (
    Links,
    dispatchgen_links,
    importer_links,
    measure_links,
    python_links,
    substitute_links,
)

_PROGRAMS = ("iree-compile", "iree-benchmark-module", "iree-run-module")
_LINKER = "iree-lld"
#: What iree-compile loads.
_LIBRARIES = ("libIREECompiler.so*", "libIREECompiler.dylib", "iree_platform_libs")


def main(arguments: Sequence[str]) -> int:
    """Prints the answers; returns the exit code: 2 with all problems on stderr when something was not found."""
    parser = argparse.ArgumentParser(prog="dispatchgen.probe.bazel", description=__doc__)
    parser.add_argument("--tools-dir", type=Path, help="look for programs here first, or in bin/ of this folder")
    parser.add_argument("--package", action="append", default=[], help="find the folder of this Python package")
    options = parser.parse_args(arguments)
    try:
        answers = _answers(options.tools_dir, options.package)
    except DispatchgenError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(json.dumps(answers, indent=1, sort_keys=True))
    return 0


def _answers(tools_dir: Path | None, packages: Sequence[str]) -> Mapping[str, object]:
    folder = _programs_folder(tools.explicit_folder(tools_dir))
    programs = find_programs(_PROGRAMS, folder, f"IREE_TOOLS_DIR or {tools.HOST_BIN_DIR}")
    version = tools.compiler_version(programs["iree-compile"])
    tools.check_version(programs["iree-compile"], version)
    _check_bindings()
    importer = importer_links()
    links = program_links(programs) | python_links() | dispatchgen_links() | substitute_links() | importer
    links |= measure_links() | package_links(packages)
    return {
        "importer": bool(importer),
        "linker": f"bin/{_LINKER}" in links,
        "links": {path: str(target) for path, target in links.items()},
        "version": version,
        "warnings": list(version_warnings(version, programs["iree-benchmark-module"])),
    }


def _check_bindings() -> None:
    """Raises ToolError where extraction could not read IR. Installed later, they would not be among the links."""
    if tools.wheel_version("iree.compiler") is None:
        message = f"the Python bindings of IREE's compiler are not installed for {sys.executable}"
        raise ToolError(Problem(message, hint=f"{sys.executable} -m pip install iree-base-compiler"))


def package_links(names: Sequence[str]) -> Links:
    """The folders of Python packages, as Python looks for them. One inside another is there with it.

    Raises ToolError with all that are not installed.
    """
    packages = find_packages(names)
    links: Links = {}
    for name, folders in packages.items():
        if any(name.startswith(f"{other}.") for other in packages):
            continue
        place = f"packages/{name.replace('.', '/')}"
        if len(folders) == 1:
            links[place] = folders[0]
        else:  # of a namespace, the first folder that has a file
            links |= {f"{place}/{path.name}": path for folder in reversed(folders) for path in folder.iterdir()}
    return links


def _programs_folder(folder: Path | None) -> Path | None:
    """The folder of programs where the user named an install tree as a whole."""
    if folder is None or (folder / "iree-compile").is_file() or not (folder / "bin" / "iree-compile").is_file():
        return folder
    return folder / "bin"


def program_links(programs: Mapping[str, Path]) -> Links:
    """The programs in `bin/`, with the linker, and with the compiler's library where the compiler looks for it."""
    links = {f"bin/{name}": path for name, path in programs.items()}
    beside, lib = library_folders(programs["iree-compile"])
    if (beside / _LINKER).is_file():
        links[f"bin/{_LINKER}"] = beside / _LINKER
    for there, here in ((beside, "bin"), (lib, "lib")):
        for pattern in _LIBRARIES:
            links |= {f"{here}/{path.name}": path for path in there.glob(pattern)}
    return links


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
