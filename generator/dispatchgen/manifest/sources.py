"""Files that a manifest refers to: below its folder, or shipped by an installed Python package."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import posixpath
import stat
from collections.abc import Sequence
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
    """Where the source's file is; `root` is the suite's folder.

    Raises FileNotFoundError where its package is not installed.
    """
    if source.package is None:
        return root / source.path
    folders = package_folders(source.package)
    if not folders:
        raise FileNotFoundError(f"the Python package {source.package} is not installed")
    return _folder_with(source.path, folders) / source.path


def package_folders(name: str) -> tuple[Path, ...]:
    """The folders of an importable package (several for a namespace package), without running any of its code."""
    top, *below = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return ()
    for part in below:
        if spec is None or spec.submodule_search_locations is None:
            return ()
        # By its last name alone: a namespace package of the full name would want the packages above it imported.
        spec = importlib.machinery.PathFinder.find_spec(part, list(spec.submodule_search_locations))
    if spec is None or spec.submodule_search_locations is None:
        return ()
    return tuple(Path(folder) for folder in spec.submodule_search_locations)


def source_format(path: str) -> SourceFormat:
    """The format of a file by its name. Raises SourceProblem."""
    suffix = PurePosixPath(path).suffix
    if suffix not in FORMATS:
        raise SourceProblem(f"{show(path)} is not a known kind of model", f"a file ending in {', '.join(FORMATS)}")
    return FORMATS[suffix]


def checked_suite_path(path: str, root: Path, *, allow_outside: bool) -> str:
    """`path` made plain, once it is known to be a file that does not leave `root`, the suite's folder without links.

    Raises SourceProblem.
    """
    plain = _inside(path, root, allow_outside)
    _require_file(root / plain, plain)
    return plain


def checked_suite_place(path: str, root: Path, *, allow_outside: bool) -> str:
    """`path` made plain, once it is known not to leave `root`; whether there is a file is not asked.

    Raises SourceProblem.
    """
    return _inside(path, root, allow_outside)


def checked_suite_folder(path: str, root: Path, *, allow_outside: bool) -> tuple[str, ...]:
    """The files in the folder at `path`, sorted, as plain paths; not those whose names begin with a dot.

    Raises SourceProblem: it is no folder, or it or one of its files leaves `root`, the suite's folder without links.
    """
    plain = _inside(path, root, allow_outside)
    try:
        names = sorted(entry.name for entry in os.scandir(root / plain) if not entry.is_dir())
    except FileNotFoundError:
        raise SourceProblem(f"there is no folder {show(plain)}", _similar_file(root / plain, plain)) from None
    except NotADirectoryError:
        raise SourceProblem(f"{show(plain)} is not a folder") from None
    except (OSError, ValueError) as error:
        raise SourceProblem(f"cannot look into {show(plain)}: {_reason(error)}") from None
    paths = [posixpath.join(plain, name) for name in names if not name.startswith(".")]
    return tuple(checked_suite_path(file, root, allow_outside=allow_outside) for file in paths)


def suite_file(path: str, root: Path) -> str | None:
    """`path` made plain where it is a file below `root`, the suite's folder without links; else None."""
    # On text: this runs for every flag of every model.
    if not os.path.isfile(os.path.join(root, path)):  # noqa: PTH113, PTH118
        return None
    try:
        return checked_suite_path(path, root, allow_outside=False)
    except SourceProblem:
        return None


def _inside(path: str, root: Path, allow_outside: bool) -> str:
    """`path` made plain, once it is known not to leave `root`, the suite's folder without links. Raises SourceProblem.

    Args:
      allow_outside: Whether it may.
    """
    plain = posixpath.normpath(path)
    try:
        # PurePath.is_relative_to, on text: this runs for every model.
        inside = os.path.realpath(root / plain).startswith(os.path.join(root, ""))  # noqa: PTH118
    except (OSError, ValueError) as error:
        raise SourceProblem(f"cannot look for {show(path)}: {_reason(error)}") from None
    drive = PureWindowsPath(plain).drive
    if drive and not PureWindowsPath(plain).is_absolute() and not allow_outside:
        # Elsewhere a name like any other; a manifest means the same on all systems.
        raise SourceProblem(f"the path {show(path)} begins with {show(drive)}, a drive on Windows", "another name")
    if not allow_outside and (_leaves(plain) or not inside):
        hint = "`allow_outside: true` at the top of the manifest allows it"
        raise SourceProblem(f"the path {show(path)} leaves the suite's folder", hint)
    return plain


def checked_package_path(package: str, path: str) -> str:
    """`path` made plain, once it is known to be a file of the package, which is installed. Raises SourceProblem."""
    folders = package_folders(package)
    # Installed files may be links into a store (uv, Nix): only the written path is held to the package.
    plain = posixpath.normpath(path)
    if _leaves(plain):
        raise SourceProblem(f"the path {show(path)} leaves the package {show(package)}")
    folder = _folder_with(plain, folders)
    _require_file(folder / plain, plain, f" in the package {show(package)}")
    return plain


def _folder_with(path: str, folders: Sequence[Path]) -> Path:
    """The folder of a package that has a file, or the first of its folders."""
    return next((folder for folder in folders if (folder / path).exists()), folders[0])


def _leaves(plain: str) -> bool:
    return posixpath.isabs(plain) or bool(PureWindowsPath(plain).drive) or plain.split("/", 1)[0] == ".."


def _require_file(target: Path, plain: str, where: str = "") -> None:
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if target.is_symlink():
            raise SourceProblem(f"{show(plain)}{where} is a link to a file that does not exist") from None
        raise SourceProblem(f"there is no file {show(plain)}{where}", _similar_file(target, plain)) from None
    except (OSError, ValueError) as error:
        raise SourceProblem(f"cannot look for {show(plain)}{where}: {_reason(error)}") from None
    if not stat.S_ISREG(mode):
        raise SourceProblem(f"{show(plain)}{where} is not a file")


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)


def _similar_file(target: Path, plain: str) -> str | None:
    try:
        names = [entry.name for entry in os.scandir(target.parent)]
    except OSError:
        return None
    guess = nearest(target.name, names)
    return None if guess is None else show(posixpath.join(posixpath.dirname(plain), guess))
