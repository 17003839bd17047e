"""Which files of this Python a build must know to run dispatchgen and the importer without it.

All are named by links: a path in a folder laid out like an installation of Python, and the file or folder on this
machine that belongs there. Of folders, only code is needed: what ends in `.py` or is a shared library.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import sysconfig
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import dispatchgen
from dispatchgen.manifest.sources import package_folders
from dispatchgen.resources import genrules_dir

#: Path in the folder -> what is there.
Links = dict[str, Path]

#: Where Python's own files go, used as PYTHONHOME.
HOME = "python"
#: Where the packages that dispatchgen imports go.
SITE = "site-packages"
#: Where the packages go that dispatchgen needs besides where it works with substitutes, or with data.
SUBSTITUTE_SITE = "substitute-site-packages"
#: Where the packages go that dispatchgen needs besides where it measures, compares and reports.
MEASURE_SITE = "measure-site-packages"
#: Where the packages go that the importer needs besides.
IMPORTER_SITE = "import-site-packages"

#: What dispatchgen imports, besides IREE's bindings.
DISPATCHGEN_NEEDS = ("click", "jinja2", "numpy", "pydantic", "pyyaml", "rich")
#: What it imports besides where it reads objects. Apart, since each file of `SITE` counts in each extraction. IREE's
#: runtime, which writes archives of data, goes with it.
SUBSTITUTE_NEEDS = ("pyelftools",)
#: Packages of IREE's runtime, and what it imports besides numpy.
_RUNTIME_PACKAGES = ("runtime", "_runtime", "_runtime_libs")
_RUNTIME_NEEDS = ("ml-dtypes",)
#: What dispatchgen imports besides where it measures, compares and reports: distributions, and parts of the standard
#: library that nothing else needs.
MEASURE_NEEDS = ("msgspec", "psutil", "scipy")
_MEASURE_STDLIB = ("unittest", "xml")
#: What `iree.compiler.tools.import_onnx` imports, besides IREE's bindings.
IMPORTER_NEEDS = ("onnx", "numpy")
#: What these distributions ask for but neither program imports: colors and Markdown of rich.
_NOT_IMPORTED = frozenset({"markdown-it-py", "pygments"})

#: Of the standard library: tests, what installs or describes Python, and what has no part in reading and writing files.
_STDLIB_WITHOUT = frozenset(
    {
        *("__phello__", "distutils", "ensurepip", "lib2to3", "pydoc_data", "test", "unittest", "venv"),
        *("asyncio", "curses", "dbm", "idlelib", "sqlite3", "tkinter", "turtle.py", "turtledemo", "wsgiref"),
        *("xml", "xmlrpc"),
        *("dist-packages", "site-packages", "sitecustomize.py"),
    }
)


def python_links() -> Links:
    """The interpreter that this one is, or is a virtual environment of, its shared library and its standard library."""
    program = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    stdlib = Path(sysconfig.get_path("stdlib"))
    below = f"{HOME}/{sys.platlibdir}"
    links = {f"{HOME}/bin/python3": program}
    library = _shared_library(program)
    if library is not None:
        links[f"{HOME}/lib/{library.name}"] = library
    for entry in stdlib.iterdir():
        wanted = entry.name not in _STDLIB_WITHOUT and not entry.name.startswith("config-")
        if wanted and (entry.suffix == ".py" or next(entry.glob("*.py"), None)):
            links[f"{below}/{stdlib.name}/{entry.name}"] = entry
    extensions = next((path for path in sys.path if path.endswith("/lib-dynload")), None)
    if extensions is not None:
        links[f"{below}/{stdlib.name}/lib-dynload"] = Path(extensions)
    return links


def dispatchgen_links() -> Links:
    """dispatchgen, IREE's bindings, and what they import."""
    links = _links_of(SITE, _closure(DISPATCHGEN_NEEDS))
    # By import, not by distribution: either may be used without being installed.
    links[f"{SITE}/dispatchgen"] = Path(dispatchgen.__file__).resolve().parent
    # Laid out as in a checkout. Of the rules only what Python reads: their folder is a package of Bazel's.
    for templates in genrules_dir().glob("*/templates"):
        links[f"genrules/{templates.parent.name}/templates"] = templates
    links |= {f"{SITE}/iree/compiler": folder for folder in package_folders("iree.compiler")[:1]}
    return links


def substitute_links() -> Links:
    """What dispatchgen imports besides where it works with substitutes, or with data."""
    needs = _closure((*SUBSTITUTE_NEEDS, *_RUNTIME_NEEDS))
    links = _links_of(SUBSTITUTE_SITE, _without(needs, _closure(DISPATCHGEN_NEEDS)))
    for name in _RUNTIME_PACKAGES:
        links |= {f"{SUBSTITUTE_SITE}/iree/{name}": folder for folder in package_folders(f"iree.{name}")[:1]}
    return links


def measure_links() -> Links:
    """What dispatchgen imports besides where it measures, compares and reports."""
    links = _links_of(
        MEASURE_SITE, _without(_closure(MEASURE_NEEDS), _closure((*DISPATCHGEN_NEEDS, *SUBSTITUTE_NEEDS)))
    )
    stdlib = Path(sysconfig.get_path("stdlib"))
    return links | {f"{MEASURE_SITE}/{name}": stdlib / name for name in _MEASURE_STDLIB}


def importer_links() -> Links:
    """What the importer imports that dispatchgen does not; empty where the importer is not installed."""
    needs = _closure(IMPORTER_NEEDS)
    if not needs.keys() >= set(IMPORTER_NEEDS):
        return {}
    return _links_of(IMPORTER_SITE, _without(needs, _closure((*DISPATCHGEN_NEEDS, *SUBSTITUTE_NEEDS, *_RUNTIME_NEEDS))))


def _shared_library(program: Path) -> Path | None:
    """The shared library of an interpreter that has one; None: it is in the program."""
    name = sysconfig.get_config_var("INSTSONAME")
    if not name or not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return None
    # Beside the program first: an installation that was moved still says where it was built for.
    folders = [program.parent.parent / "lib", Path(sysconfig.get_config_var("LIBDIR") or "")]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _closure(names: Iterable[str]) -> dict[str, importlib.metadata.Distribution]:
    """Name -> distribution, of these and all that they ask for, as far as they are installed."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        name = _plain(waiting.pop())
        if name in found or name in _NOT_IMPORTED:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += _requirements(found[name].requires or ())
    return found


def _without(
    distributions: dict[str, importlib.metadata.Distribution], others: Container[str]
) -> dict[str, importlib.metadata.Distribution]:
    return {name: distribution for name, distribution in distributions.items() if name not in others}


def _requirements(lines: Sequence[str]) -> Iterator[str]:
    """Names in `Requires-Dist` lines, but those of extras. By other markers, what is not needed is not installed."""
    for line in lines:
        requirement, _, marker = line.partition(";")
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        if name and not re.search(r"\bextra\s*==", marker):
            yield name[0]


def _plain(name: str) -> str:
    """A distribution's name as PEP 503 makes it comparable."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _links_of(folder: str, distributions: dict[str, importlib.metadata.Distribution]) -> Links:
    return {
        f"{folder}/{root}": Path(str(distribution.locate_file(root)))
        for distribution in distributions.values()
        for root in _roots(distribution)
    }


def _roots(distribution: importlib.metadata.Distribution) -> Iterator[PurePosixPath]:
    """What to link of a distribution, relative to where it is installed."""
    if distribution.files is not None:
        for file in distribution.files:
            if file.parts[0] != ".." and (file.suffix == ".py" or ".so" in file.suffixes):
                yield _root(distribution, file)
        return
    # Packages of a Linux distribution need not list their files.
    for name in (distribution.read_text("top_level.txt") or "").split():
        for root in (PurePosixPath(name), PurePosixPath(f"{name}.py")):
            if Path(str(distribution.locate_file(root))).exists():
                yield root


def _root(distribution: importlib.metadata.Distribution, file: PurePosixPath) -> PurePosixPath:
    """What to link for a file: the outermost package that it is in, the folder of a wheel's libraries, or the file."""
    for folder in reversed(file.parents[:-1]):
        package = Path(str(distribution.locate_file(folder / "__init__.py")))
        if package.is_file() or folder.suffix == ".libs":
            return folder
    return file
