"""Folders of substitutes: each file is named after what it replaces, as iree-compile names the executables it dumps.

A name is `[configured_][<module>_]<executable>[_<variant>].<suffix>`, or has the dispatch's stable name in place of
module and executable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from dispatchgen.errors import Problem, SubstitutionError
from dispatchgen.extract.schema import Dispatch
from dispatchgen.manifest.names import nearest, show, show_all
from dispatchgen.manifest.objects import MLIR_SUFFIXES
from dispatchgen.manifest.suite import Substitution

#: Beginning of the names of configured executables that iree-compile dumps.
_CONFIGURED = "configured_"


@dataclass(frozen=True)
class NamedFile:
    """A file with a dispatch that it is named after."""

    file: str  #: Relative to the suite's folder.
    kind: Literal["source", "configuration", "object"]
    dispatch: Dispatch
    module: str  #: What its name calls the program's module; empty: nothing.


def named_files(
    substitution: Substitution, backend: str, dispatches: Mapping[str, Sequence[Dispatch]]
) -> list[NamedFile]:
    """The files of a `directory` for a backend, each with a dispatch that it replaces there.

    Args:
      substitution: Of the kind `directory`.
      backend: Id of the backend.
      dispatches: What the model dispatches, by id of the backend.

    Raises:
      SubstitutionError: a file is named after no dispatch of any backend that takes it, two after one dispatch, two
        name different modules, or none is for this backend.
    """
    found: list[NamedFile] = []
    problems = []
    for file in substitution.files[backend]:
        named = list(_named(file, dispatches[backend]))
        found += named
        others = [each for each, files in substitution.files.items() if file in files and each in dispatches]
        if not named and not any(any(_named(file, dispatches[other])) for other in others):
            problems.append(_nothing(file, dispatches[backend]))
    problems += _conflicts(found)
    if not found and not problems:
        message = f"no file in {show(substitution.file)} is named after a dispatch of this backend"
        problems.append(Problem(message, hint="list the backends that it is for under `backends`"))
    if problems:
        raise SubstitutionError(*problems)
    return found


def _named(file: str, dispatches: Sequence[Dispatch]) -> Iterator[NamedFile]:
    """A file with the dispatches that it is named after: several where an executable has several exports."""
    kind, stem = _kind_and_stem(file)
    ends = [
        (end, name == dispatch.name, dispatch)
        for dispatch in dispatches
        for name in {dispatch.name, dispatch.executable}
        for end in (name, f"{name}_{dispatch.variant}")
        if stem == end or (name == dispatch.executable and stem.endswith(f"_{end}"))
    ]
    # What names more of the stem is meant, and a stable name rather than a symbol.
    best = max(((len(end), is_stable) for end, is_stable, _ in ends), default=None)
    for end, is_stable, dispatch in ends:
        if (len(end), is_stable) == best:
            yield NamedFile(file, kind, dispatch, stem[: -len(end) - 1])


def _kind_and_stem(file: str) -> tuple[Literal["source", "configuration", "object"], str]:
    path = PurePosixPath(file)
    if path.suffix not in MLIR_SUFFIXES:
        return "object", path.stem
    if path.stem.startswith(_CONFIGURED):
        return "configuration", path.stem.removeprefix(_CONFIGURED)
    return "source", path.stem


def _nothing(file: str, dispatches: Sequence[Dispatch]) -> Problem:
    """That a file is named after no dispatch."""
    path = PurePosixPath(file)
    _, stem = _kind_and_stem(file)
    names = [name for dispatch in dispatches for name in (dispatch.executable, dispatch.name)]
    guess = nearest(stem, names)
    if guess is None:
        there = show_all(dict.fromkeys(dispatch.executable for dispatch in dispatches))
        return Problem(f"{show(file)} is named after no dispatch", hint=f"the name of one of {there}, or move it away")
    return Problem(f"{show(file)} is named after no dispatch", hint=show(str(path.with_name(guess + path.suffix))))


def _conflicts(found: Sequence[NamedFile]) -> Iterator[Problem]:
    first: dict[str, NamedFile] = {}
    executables: dict[str, NamedFile] = {}
    modules: dict[str, str] = {}
    for named in found:
        other = first.setdefault(named.dispatch.name, named)
        if other is not named:
            message = f"{show(other.file)} and {show(named.file)} both replace {show(named.dispatch.name)}"
            yield Problem(message, hint="move one of them away")
        part = executables.setdefault(named.dispatch.executable, named)
        if part.file != named.file and part.dispatch.name != named.dispatch.name:
            both = f"{show(part.dispatch.name)} and {show(named.dispatch.name)}"
            message = f"{show(part.file)} and {show(named.file)} replace {both}, which are one executable"
            yield Problem(message, hint=f"one file, named after the executable: {show(named.dispatch.executable)}")
        if named.module:
            modules.setdefault(named.module, named.file)
    if len(modules) > 1:
        # Dumps of one program name one module: the end of another program's name may be like one of this program's.
        files = " and ".join(f"{show(file)} of {show(module)}" for module, file in list(modules.items())[:2])
        yield Problem(f"the files are of two modules: {files}", hint="move those of other programs away")
