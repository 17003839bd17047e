"""Finding IREE's programs.

The programs called are the native ones. The console scripts that the wheels put into `bin/` are Python launchers: ten
times slower to start, and they hide the signal that ended the program.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import Problem, ToolError
from dispatchgen.iree import process

#: Environment variable that names the folder of IREE's programs, as in IREE's own build.
HOST_BIN_DIR = "IREE_HOST_BIN_DIR"
#: Oldest release of IREE that is supported.
MINIMUM_VERSION = (3, 12)
#: What a version is called that the compiler does not know itself, as in a build from source.
UNKNOWN_VERSION = "unknown"

#: Program -> the wheel that ships it and the folder of the package in which it lies.
_WHEELS = {
    "iree-compile": ("iree-base-compiler", "iree.compiler", "_mlir_libs"),
    "iree-benchmark-module": ("iree-base-runtime", "iree._runtime_libs", ""),
    "iree-run-module": ("iree-base-runtime", "iree._runtime_libs", ""),
    "iree-benchmark-executable": ("iree-base-runtime", "iree._runtime_libs", ""),
    "iree-dump-replay": ("iree-base-runtime", "iree._runtime_libs", ""),
}
#: Folders of IREE's wheels that hold programs: the compiler's, inside its package, and the runtime's package itself.
_PROGRAM_FOLDERS = ("_mlir_libs", "_runtime_libs")
_VERSION_SECONDS = 60.0


@dataclass(frozen=True)
class CompilerTools:
    """What of IREE's programs on this machine compiles: all that locks need."""

    iree_compile: Path
    python: Path  #: An interpreter that has IREE's importers.
    compiler_version: str  #: E.g. `3.13.0rc20261016 @ 89ece87b...`, or `UNKNOWN_VERSION`.
    bindings_version: str | None  #: Version of the Python bindings that read IR; None: not installed.


@dataclass(frozen=True)
class Tools(CompilerTools):
    """IREE's programs on this machine."""

    iree_benchmark_module: Path
    iree_run_module: Path


def find_tools(host_bin_dir: Path | None = None) -> Tools:
    """Finds IREE's programs: in `host_bin_dir` or $IREE_HOST_BIN_DIR, in this Python's wheels, on PATH.

    A folder that is named explicitly must have iree-compile; what else it lacks is taken from the other places.

    Raises:
      ToolError: programs are missing (each is named, with the places), or the compiler is older than MINIMUM_VERSION.
    """
    return tools_at({}, host_bin_dir)


def tools_at(named: Mapping[str, Path], host_bin_dir: Path | None = None) -> Tools:
    """These programs, by name; what is not among them is found as `find_tools` does, and raises what that raises."""
    wanted = [name for name in ("iree-compile", "iree-benchmark-module", "iree-run-module") if name not in named]
    paths = {name: path.absolute() for name, path in named.items()} | find_programs(wanted, host_bin_dir)
    compiler = _compiler_tools(paths["iree-compile"])
    return Tools(
        **vars(compiler),
        iree_benchmark_module=paths["iree-benchmark-module"],
        iree_run_module=paths["iree-run-module"],
    )


def find_compiler_tools(host_bin_dir: Path | None = None) -> CompilerTools:
    """Finds iree-compile, as `find_tools` does. Raises ToolError."""
    return _compiler_tools(find_programs(("iree-compile",), host_bin_dir)["iree-compile"])


def find_programs(programs: Iterable[str], host_bin_dir: Path | None = None) -> dict[str, Path]:
    """The paths of some of IREE's programs, by name, found as `find_tools` does. Raises ToolError with all missing."""
    folder = explicit_folder(host_bin_dir)
    found = {program: find_program(program, folder) for program in programs}
    problems = [missing(program, folder) for program, path in found.items() if path is None]
    if problems:
        raise ToolError(*problems)
    return {program: path for program, path in found.items() if path is not None}


def _compiler_tools(iree_compile: Path) -> CompilerTools:
    version = compiler_version(iree_compile)
    check_version(iree_compile, version)
    return CompilerTools(
        iree_compile=iree_compile,
        python=Path(sys.executable),
        compiler_version=version,
        bindings_version=wheel_version("iree.compiler"),
    )


def explicit_folder(host_bin_dir: Path | None) -> Path | None:
    """The folder of IREE's programs that the user named, by option or by $IREE_HOST_BIN_DIR; an option goes first."""
    if host_bin_dir is not None:
        return host_bin_dir
    value = os.environ.get(HOST_BIN_DIR)
    return Path(value) if value else None


def find_program(program: str, folder: Path | None) -> Path | None:
    """The absolute path of one of IREE's programs, or None; `folder` is the one that the user named, if any."""
    search: list[str | None] = []
    if folder is not None:
        search.append(str(folder))
    if folder is None or program != "iree-compile":
        wheel = _wheel_folder(program)
        search += [str(wheel)] if wheel is not None else []
        search.append(None)  # PATH
    for place in search:
        found = shutil.which(program, path=place)
        if found is not None:
            return _native(Path(found).absolute())
    return None


def _native(program: Path) -> Path:
    """The program that a console script of IREE's wheels starts; any other program itself."""
    try:
        with program.open("rb") as stream:
            script = stream.read(2048).decode(errors="replace")
    except OSError:
        return program
    interpreter = re.match(r"#!(\S*python\S*)\n", script)
    if interpreter is None or not re.search(r"^from iree\.\S+ import main$", script, re.MULTILINE):
        return program
    _, package, subfolder = _WHEELS[program.stem]
    question = "import importlib.util as u, sys; print(*u.find_spec(sys.argv[1]).submodule_search_locations)"
    result = process.run([interpreter[1], "-c", question, package], timeout=_VERSION_SECONDS, check=False)
    native = Path(result.stdout.strip(), subfolder, program.name)
    return native if result.returncode == 0 and native.is_file() else program


def missing(program: str, folder: Path | None, named_by: str = f"--iree-host-bin-dir or {HOST_BIN_DIR}") -> Problem:
    """What to say of a program that `find_program` did not find; `named_by` is how the user names the folder."""
    wheel, package, _ = _WHEELS[program]
    looked = []
    if folder is not None:
        looked.append(f"{folder} (the folder named by {named_by})")
    if folder is None or program != "iree-compile":
        installed = _wheel_folder(program)
        place = f"{installed}" if installed is not None else f"not installed for {sys.executable}"
        looked += [f"the Python package {package}: {place}", "PATH"]
    hint = f"pip install {wheel}"
    if folder is not None:
        hint = f"name the folder that holds {program}, or none and {hint}"
    return Problem(f"{program} was not found\n  looked in: " + "\n             ".join(looked), hint=hint)


def compiler_version(iree_compile: Path) -> str:
    """The version text of a compiler, from `iree-compile --version`, or UNKNOWN_VERSION where the compiler has none.

    Raises ToolError when the program does not run.
    """
    output = process.run([str(iree_compile), "--version"], timeout=_VERSION_SECONDS).stdout
    match = re.search(r"^\s*IREE compiler version\s+(\S.*?)\s*$", output, re.MULTILINE)
    return match[1] if match else UNKNOWN_VERSION


def check_version(iree_compile: Path, version: str) -> None:
    """Raises ToolError where a compiler's version text shows a release older than MINIMUM_VERSION."""
    release = release_of(version)
    if release is None or release >= MINIMUM_VERSION:
        return
    oldest = ".".join(map(str, MINIMUM_VERSION))
    raise ToolError(
        Problem(
            f"iree-compile is too old: found version {version}, at least {oldest} is needed\n  program: {iree_compile}",
            hint="pip install --upgrade iree-base-compiler iree-base-runtime",
        )
    )


def release_of(version: str) -> tuple[int, int] | None:
    """Major and minor number of a version text; None where it has none."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else None


def versions_differ(one: str, other: str) -> bool:
    """Whether two version texts are of different builds; False where that cannot be told.

    Texts are `3.13.0rc20261016 @ 89ece87b...`, either half of it, or something without a version. Revisions decide
    where both have one, since packages of one revision may carry different suffixes; one may be a short form.
    """
    (release, revision), (other_release, other_revision) = _release_and_revision(one), _release_and_revision(other)
    if revision and other_revision:
        return not (revision.startswith(other_revision) or other_revision.startswith(revision))
    return bool(release and other_release) and release != other_release


def _release_and_revision(version: str) -> tuple[str, str]:
    """Both halves of a version text; empty: not stated."""
    release, _, revision = version.partition("@")
    is_known = release_of(release) is not None
    return (release.strip() if is_known else ""), revision.strip()


def other_build_note(compiler: str, bindings: str | None) -> str | None:
    """What to say where the Python bindings are of another build than iree-compile; None: nothing."""
    if bindings is None or not versions_differ(compiler, bindings):
        return None
    return f"iree-compile is {compiler}, the Python bindings are {bindings}: they may not read the IR that it writes"


def wheel_version(package: str) -> str | None:
    """The version that IREE's wheel of a Python package states, without importing it; None where it is not installed.

    It is read from the package's `version.py` and not from the wheel's metadata: only there it is the compiler's own
    text (`3.13.0rc20261016` where the metadata of the release says `3.13.0`).
    """
    folder = _package_folder(package)
    return None if folder is None else _stated_version(folder) or UNKNOWN_VERSION


def program_version(program: Path) -> str | None:
    """The version of the wheel that a native program lies in, whichever Python it is installed for; None outside one.

    The runtime's programs do not say their version themselves.
    """
    for folder in (program.parent, program.resolve().parent):  # a link runs the program that it leads to
        if folder.name in _PROGRAM_FOLDERS:
            return _stated_version(folder.parent if folder.name == "_mlir_libs" else folder)
    return None


def _stated_version(package: Path) -> str | None:
    """The version in the `version.py` of a package of IREE's wheels; None where there is none."""
    try:
        match = re.search(r'^VERSION = "([^"]*)"', (package / "version.py").read_text(), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return match[1] if match else None


def _wheel_folder(program: str) -> Path | None:
    _, package, subfolder = _WHEELS[program]
    folder = _package_folder(package)
    return None if folder is None else folder / subfolder


def _package_folder(package: str) -> Path | None:
    """Folder of a package below `iree`, a namespace without code of its own: nothing of IREE is imported."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
