"""Answers all questions of the CMake rules at configure time, in one process: `python -m dispatchgen.probe.cmake`.

Writes into the output folder, each file only when its content changes:

- `probe.cmake`: the answers, as variables `_PROBE_*`.
- `compiler_version.txt`, `importer_version.txt`, `code_digest.txt`: texts for build commands to depend on.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import dispatchgen
from dispatchgen.errors import DispatchgenError
from dispatchgen.files import write_if_changed
from dispatchgen.iree import tools
from dispatchgen.probe.lookup import find_packages, find_programs, library_folders, version_warnings
from dispatchgen.render.quote import cmake_list, cmake_string

#: Distributions whose upgrade may change what the rules were told.
_DISTRIBUTIONS = ("dispatchgen", "iree-base-compiler", "iree-base-runtime", "onnx")
#: The package, and the code in it that `dispatchgen extract`, `substitute` and `substitute-model` run.
_PACKAGE = Path(dispatchgen.__file__).resolve().parent
_STEP_CODE = (
    *("__init__.py", "__main__.py", "errors.py", "files.py", "ownership.py", "versioned.py"),
    *("cli/__init__.py", "cli/extract.py", "cli/options.py", "cli/substitute.py", "cli/substitute_model.py"),
    *("agreement/*.py", "buffers/*.py", "objects/*.py", "profile/*.py", "selection/*.py", "substitute/*.py"),
    *("extract/*.py", "iree/*.py", "lock/*.py", "manifest/*.py"),
)


def main(arguments: Sequence[str]) -> int:
    """Writes the answers; returns the exit code: 2 with all problems on stderr when something was not found."""
    parser = argparse.ArgumentParser(prog="dispatchgen.probe.cmake", description=__doc__)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--program", action="append", default=[], help="find this program of IREE's")
    parser.add_argument("--optional-program", action="append", default=[], help="find this one if it is there")
    parser.add_argument("--host-bin-dir", type=Path, help="look for programs here first")
    parser.add_argument("--version-of", type=Path, help="the iree-compile that is used, where it need not be found")
    parser.add_argument("--package", action="append", default=[], help="find the folder of this Python package")
    options = parser.parse_args(arguments)
    try:
        folder = tools.explicit_folder(options.host_bin_dir)
        programs = find_programs(options.program, folder, tools.HOST_BIN_DIR)
        optional = {name: tools.find_program(name, folder) for name in options.optional_program}
        programs |= {name: path for name, path in optional.items() if path is not None}
        packages = find_packages(options.package)
        iree_compile = options.version_of or programs.get("iree-compile")
        version = tools.compiler_version(iree_compile) if iree_compile else ""
        if iree_compile:
            tools.check_version(iree_compile, version)
        _write_answers(options.output_dir, programs, packages, version, _libraries(iree_compile))
    except DispatchgenError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _libraries(iree_compile: Path | None) -> list[Path]:
    """The library that a compiler loads. Empty: none known."""
    if iree_compile is None:
        return []
    found = [path for folder in library_folders(iree_compile) for path in folder.glob("libIREECompiler.*")]
    return sorted(path for path in found if path.suffix in (".so", ".dylib"))


def _write_answers(
    output: Path,
    programs: dict[str, Path],
    packages: dict[str, tuple[Path, ...]],
    version: str,
    libraries: Sequence[Path],
) -> None:
    code = sorted(code_files())
    answers = {
        f"_PROBE_{name.upper().replace('-', '_')}": cmake_string(path.as_posix()) for name, path in programs.items()
    }
    answers["_PROBE_COMPILER_VERSION"] = cmake_string(version)
    answers["_PROBE_COMPILER_LIBRARIES"] = cmake_list([path.as_posix() for path in libraries])
    answers["_PROBE_WARNINGS"] = cmake_list(list(version_warnings(version, programs.get("iree-benchmark-module"))))
    answers["_PROBE_CODE"] = cmake_list([path.as_posix() for path in code])
    answers["_PROBE_INSTALLED"] = cmake_list([path.as_posix() for path in _installed_files()])
    answers["_PROBE_PACKAGES"] = cmake_list(list(packages))
    for name, folders in packages.items():
        answers[f"_PROBE_PACKAGE_DIRS_{name}"] = cmake_list([folder.as_posix() for folder in folders])
    text = "".join(f"set({name} {value})\n" for name, value in answers.items())
    write_if_changed(output / "probe.cmake", text)
    write_if_changed(output / "compiler_version.txt", version + "\n")
    write_if_changed(output / "importer_version.txt", _importer_version() + "\n")
    bindings = tools.wheel_version("iree.compiler")
    write_if_changed(output / "code_digest.txt", f"{_digest_of(code)}\niree.compiler {bindings}\n")


def code_files() -> Iterator[Path]:
    """The code that the steps of a build run, which is an input of each of them."""
    for pattern in _STEP_CODE:
        yield from _PACKAGE.glob(pattern)


def _digest_of(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(
            file.relative_to(_PACKAGE).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest()
        )
    return digest.hexdigest()


def _importer_version() -> str:
    versions = [f"iree.compiler {tools.wheel_version('iree.compiler')}"]
    try:
        versions.append(f"onnx {importlib.metadata.version('onnx')}")
    except importlib.metadata.PackageNotFoundError:
        versions.append("no onnx")
    return "\n".join(versions)


def _installed_files() -> Iterator[Path]:
    """A file of each installed distribution, in a folder that carries the version in its name."""
    for name in _DISTRIBUTIONS:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in distribution.files or ():
            if file.name == "METADATA":
                yield Path(str(distribution.locate_file(file)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
