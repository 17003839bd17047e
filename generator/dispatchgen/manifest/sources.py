"""Files that a manifest refers to: below its folder, or shipped by an installed Python package."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import posixpath
from pathlib import Path, PurePosixPath, PureWindowsPath

from dispatchgen.manifest.names import nearest, show
from dispatchgen.manifest.suite import Source, SourceFormat

#: File formats by the end of the file's name.
FORMATS: dict[str, SourceFormat] = {".mlir": "mlir", ".mlirbc": "mlirbc", ".onnx": "onnx"}


class SourceProblem(Exception):
    """What is wrong with a reference to a file, with a hint."""

    def __init__(self, message: str, hint: str | None = None):
        self.message = message
        self.hint = hint
        super().__init__(message)


def source_path(root: Path, source: Source) -> Path:
    """Where the source's file is; `root` is the suite's folder. FileNotFoundError where its package is not installed."""
    if source.package is None:
        return root / source.path
    folders = package_folders(source.package)
    if not folders:
        raise FileNotFoundError(f"the Python package {source.package} is not installed")
    return next(
        (folder / source.path for folder in folders if (folder / source.path).exists()), folders[0] / source.path
    )


def package_folders(name: str) -> tuple[Path, ...]:
    """The folders of an importable package (several for a namespace package), without running any of its code."""
    top, *below = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return ()
    prefix = top
    for part in below:
        if spec is None or spec.submodule_search_locations is None:
            return ()
        prefix += f".{part}"
        spec = importlib.machinery.PathFinder.find_spec(prefix, list(spec.submodule_search_locations))
    if spec is None or spec.submodule_search_locations is None:
        return ()
    return tuple(Path(folder) for folder in spec.submodule_search_locations)


def source_format(path: str) -> SourceFormat:
    """The format of a file by its name. Raises SourceProblem."""
    suffix = PurePosixPath(path).suffix
    if suffix not in FORMATS:
        raise SourceProblem(f"{show(path)} is not a known kind of model", f"a file ending in {', '.join(FORMATS)}")
    return FORMATS[suffix]


def checked_path(path: str, folder: Path, *, allow_outside: bool, within: str) -> str:
    """`path` made plain, once it is known to be a file that does not leave `folder` (called `within` in messages).

    Raises SourceProblem.
    """
    plain = posixpath.normpath(path)
    is_absolute = posixpath.isabs(plain) or bool(PureWindowsPath(plain).drive)
    try:
        if not allow_outside:
            leaves = is_absolute or plain.split("/", 1)[0] == ".."
            if leaves or not (folder / plain).resolve().is_relative_to(folder.resolve()):
                hint = "`allow_outside: true` at the top of the manifest allows it" if within == _SUITE else None
                raise SourceProblem(f"the path {show(path)} leaves {within}", hint)
        target = folder / plain
        if target.is_file():
            return plain
        if target.is_dir():
            raise SourceProblem(f"{show(path)} is a folder; a file is needed")
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of symbolic links, before Python 3.13
        raise SourceProblem(f"cannot look for {show(path)}: {_reason(error)}") from None
    raise SourceProblem(f"there is no file {show(path)}", _similar_file(folder / plain, plain))


_SUITE = "the suite's folder"


def checked_suite_path(path: str, root: Path, *, allow_outside: bool) -> str:
    """`checked_path` for the suite's folder."""
    return checked_path(path, root, allow_outside=allow_outside, within=_SUITE)


def checked_package_path(package: str, path: str) -> str:
    """`path` made plain, once it is known to be a file of the installed package. Raises SourceProblem."""
    folders = package_folders(package)
    if not folders:
        raise SourceProblem(
            f"the Python package {show(package)} is not installed", "install it for the Python that runs dispatchgen"
        )
    problem: SourceProblem | None = None
    for folder in folders:
        try:
            # Installed files may be links into a store (uv, Nix); only the written path is held to the package.
            if posixpath.isabs(path) or posixpath.normpath(path).split("/", 1)[0] == "..":
                raise SourceProblem(f"the path {show(path)} leaves the package {show(package)}")
            return checked_path(path, folder, allow_outside=True, within=f"the package {show(package)}")
        except SourceProblem as error:
            problem = problem or error
    assert problem is not None
    raise SourceProblem(f"{problem.message} in the package {show(package)}", problem.hint)


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)


def _similar_file(target: Path, plain: str) -> str | None:
    try:
        names = [entry.name for entry in os.scandir(target.parent)]
    except OSError:
        return None
    guess = nearest(target.name, names)
    return None if guess is None else show(posixpath.join(posixpath.dirname(plain), guess))
