"""Reading a manifest: YAML, then the schema, then what it means; all problems of all steps at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dispatchgen.errors import ManifestError, Problem
from dispatchgen.manifest import DEFAULT_MANIFEST
from dispatchgen.manifest.document import Document, read_document
from dispatchgen.manifest.problems import DataPath, data_path, describe
from dispatchgen.manifest.resolve import Resolver
from dispatchgen.manifest.schema import MANIFEST_VERSION, Manifest
from dispatchgen.manifest.suite import Suite

#: Keys of the manifest whose entries are read on their own: a broken one does not hide what is wrong with the others.
_COLLECTIONS = ("backends", "models", "presets")


def load_suite(path: Path) -> Suite:
    """The suite that the manifest at `path` describes; a folder stands for `benchmarks.yaml` in it.

    Raises ManifestError with every problem that was found.
    """
    path = path / DEFAULT_MANIFEST if path.is_dir() else path
    document = read_document(path)
    _check_version(document)
    try:
        manifest = Manifest.model_validate(document.data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems = [describe(detail, document) for detail in details]
        problems += _other_problems(document, path, [data_path(detail, document.data) for detail in details])
        raise ManifestError(*_sorted(problems)) from None
    resolver = Resolver(manifest, document, path)
    suite = resolver.suite()
    if resolver.problems:
        raise ManifestError(*_sorted(resolver.problems))
    return suite


def _check_version(document: Document) -> None:
    """The version comes first: in another one everything else may mean something else. Raises ManifestError."""
    data = document.data
    if not isinstance(data, dict):
        found = "a list" if isinstance(data, list) else "a single value"
        problem = Problem(
            f"the manifest is {found}; a mapping is needed", document.place(()), "version: 1, models: ..."
        )
        raise ManifestError(problem)
    version = data.get("version", MANIFEST_VERSION)
    if isinstance(version, int) and not isinstance(version, bool) and version != MANIFEST_VERSION:
        newer = version > MANIFEST_VERSION
        raise ManifestError(
            Problem(
                f"the manifest has version {version}; this dispatchgen reads version {MANIFEST_VERSION}",
                document.place(("version",)),
                "a newer dispatchgen" if newer else f"version: {MANIFEST_VERSION}",
            )
        )


def _other_problems(document: Document, path: Path, broken_paths: Sequence[DataPath]) -> list[Problem]:
    """What is wrong with the parts of the manifest that are well-formed."""
    data: dict[str, Any] = dict(document.data)
    broken: dict[str, set[str]] = {kind: set() for kind in _COLLECTIONS}
    for broken_path in broken_paths:
        match broken_path:
            case (str(kind), str(name), *_) if kind in _COLLECTIONS:
                broken[kind].add(name)
            case (str(key), *_):
                data.pop(key, None)
            case _:
                pass
    for kind, names in broken.items():
        if names:
            data[kind] = {name: entry for name, entry in data[kind].items() if name not in names}
            if not data[kind]:
                del data[kind]
    if "models" not in data:
        return []
    data.setdefault("version", MANIFEST_VERSION)
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError:
        return []
    everything = {kind: frozenset(names) for kind, names in broken.items()}
    if "backends" not in data and isinstance(document.data.get("backends"), dict):
        everything["backends"] = frozenset(document.data["backends"])
    resolver = Resolver(manifest, document, path, everything)
    resolver.suite()
    return resolver.problems


def _sorted(problems: Sequence[Problem]) -> list[Problem]:
    """In the order of the file."""

    def position(problem: Problem) -> tuple[int, int]:
        place = problem.place
        return (place.line or 0, place.column or 0) if place is not None else (0, 0)

    return sorted(dict.fromkeys(problems), key=position)
