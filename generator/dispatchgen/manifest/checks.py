"""What all parts of resolving share: names, references, files, and the problems that they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from dispatchgen.errors import Problem
from dispatchgen.manifest import sources
from dispatchgen.manifest.document import Document
from dispatchgen.manifest.names import MAX_NAME, did_you_mean, make_id, show
from dispatchgen.manifest.schema import Manifest

#: The way to a value of the manifest.
Path_ = tuple[str | int, ...]
_T = TypeVar("_T")


@dataclass
class Checks:
    """Checks of single values. What is wrong is added to `problems`.

    `broken` holds the names of models and backends that are in the document but could not be read: a reference to one
    of them is not an error of its own.
    """

    manifest: Manifest
    document: Document
    path: Path
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root = Path(os.path.realpath(self.path.parent))

    def add(self, path: Path_, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Adds a problem at `path`."""
        self.problems.append(Problem(message, self.document.place(path, at_key=at_key), hint))

    def or_problem(self, path: Path_, check: Callable[[], _T], fallback: _T) -> _T:
        """What `check` returns; `fallback` where it raises a SourceProblem, which is added."""
        try:
            return check()
        except sources.SourceProblem as problem:
            self.add(path, problem.message, problem.hint)
            return fallback

    def file(self, path: Path_, text: str) -> str:
        """The path of a file of the suite, written as `text` at `path`, made plain."""
        allow = self.manifest.allow_outside
        return self.or_problem(path, lambda: sources.checked_suite_path(text, self.root, allow_outside=allow), text)

    def place(self, path: Path_, text: str) -> str:
        """The path of a file that may not be there yet, written as `text` at `path`, made plain."""
        allow = self.manifest.allow_outside
        return self.or_problem(path, lambda: sources.checked_suite_place(text, self.root, allow_outside=allow), text)

    def folder(self, path: Path_, text: str) -> tuple[str, ...]:
        """The plain paths of the files in a folder of the suite, written as `text` at `path`."""
        allow, nothing = self.manifest.allow_outside, tuple[str, ...]()
        return self.or_problem(
            path, lambda: sources.checked_suite_folder(text, self.root, allow_outside=allow), nothing
        )

    def ids(self, kind: str, path: Path_, names: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
        """The ids that `names` (names or ids) refer to, each once; `known` maps names to ids."""
        by_any = {name_id: name_id for name_id in known.values()} | dict(known)
        found: dict[str, None] = {}
        for index, name in enumerate(names):
            if name in by_any:
                found.setdefault(by_any[name])
            elif name not in self.broken.get(kind, ()):
                message = f"there is no {kind.removesuffix('s')} {show(name)}"
                self.add((*path, index), message, did_you_mean(name, known))
        return tuple(found)

    def check_ids(self, paths: Iterable[Path_], taken: Collection[str] = ()) -> None:
        """Checks the names at the ends of `paths`, which become ids; the ids in `taken` are folders of build trees."""
        first: dict[str, Path_] = {}
        for path in paths:
            name = str(path[-1])
            name_id = make_id(name)
            other = first.setdefault(name_id.casefold(), path)
            if not name:
                self.add(path, "a name cannot be empty", at_key=True)
            elif len(name_id) > MAX_NAME:
                message = f"the name {show(name)} is too long: {len(name)} characters, at most {MAX_NAME}"
                self.add(path, message, at_key=True)
            elif name_id.casefold() in taken:
                self.add(path, f"{show(name)} is the name of a folder in build trees", "another name", at_key=True)
            elif other != path:
                if other[-1] == name:
                    message = f"the name {show(name)} is there twice: in {show(str(other[-2]))} too"
                else:
                    same = f"{show(name)} and {show(str(other[-1]))} both become {show(name_id)} in targets and files"
                    message = f"{same} (case does not count there)"
                self.add(path, message, "rename one of them", at_key=True)
