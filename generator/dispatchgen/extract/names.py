"""Names that stay: of dispatches and of their benchmarks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

#: IREE numbers the dispatches of a function; the number shifts when an operation is added in front.
_EXPORT = re.compile(r".*_dispatch_\d+_(?P<operation>.+)", re.DOTALL)
_NUMBER = re.compile(r"(?P<function>.*_dispatch_)\d+(?P<rest>(?:_.+)?)", re.DOTALL)
_NUMBERED = re.compile(r".*_dispatch_\d+", re.DOTALL)
#: Longest name of a dispatch without its number, in characters: file systems allow 255 with what is added.
_LENGTH = 100
#: Names that the build tree and the targets of the Bazel rules (private/check.bzl) use themselves.
_RESERVED = frozenset(
    {"benchmarks", "built", "configured", "dispatches", "drift", "model", "smoke", "sources", "substitutions"}
)


@dataclass(frozen=True)
class Known:
    """A dispatch as far as naming is concerned."""

    name: str
    operation: str
    content: str


def operation_of(export: str) -> str:
    """The operation and types in IREE's symbol of an export: `main_dispatch_3_matmul_4x8_f32` → `matmul_4x8_f32`."""
    if match := _EXPORT.fullmatch(export):
        return match["operation"]
    return "dispatch" if _NUMBERED.fullmatch(export) else export


def same_but_for_number(symbol: str, other: str) -> bool:
    """Whether two of IREE's symbols differ in the number of the dispatch alone, which shifts."""
    return symbol == other or _unnumbered(symbol) == _unnumbered(other) is not None


def _unnumbered(symbol: str) -> tuple[str, str] | None:
    match = _NUMBER.fullmatch(symbol)
    return (match["function"], match["rest"]) if match else None


def base_name(operation: str) -> str:
    """A dispatch's name before it is numbered: the operation as an identifier."""
    # No two underscores in a row: they set a dispatch apart from what follows in the names of its benchmarks.
    name = re.sub(r"[^A-Za-z0-9]+", "_", operation)[:_LENGTH].strip("_") or "dispatch"
    return f"d{name}" if name[0].isdigit() else name


def assign(
    dispatches: Sequence[tuple[str, str]], previous: Iterable[Known], reserved: Collection[str] = ()
) -> list[str]:
    """Names for dispatches, given as (operation, content hash) in program order; none of `reserved` is given.

    A dispatch whose content is in `previous` keeps its name. Of the others, those of one operation take the names of
    that operation that became free, in order: so a name also survives a change of content, as with a new compiler. New
    ones are numbered.
    """
    known = list(previous)
    names: list[str | None] = [None] * len(dispatches)
    free = [each for each in known if each.name not in reserved]
    for index, (operation, content) in enumerate(dispatches):
        same = next((k for k in free if k.content == content and k.operation == operation), None)
        if same is not None:
            names[index] = same.name
            free.remove(same)
    used = {name for name in names if name is not None}
    for index, (operation, _) in enumerate(dispatches):
        if names[index] is not None:
            continue
        freed = next((k for k in free if k.operation == operation and k.name not in used), None)
        if freed is not None:
            free.remove(freed)
        # A name that the lock holds for something that is gone is not given to something else in the same renewal.
        taken = used | {k.name for k in known}
        name = freed.name if freed is not None else numbered(base_name(operation), taken | _RESERVED | set(reserved))
        names[index] = name
        used.add(name)
    return [name for name in names if name is not None]


def numbered(base: str, taken: Collection[str], separator: str = "_") -> str:
    """`base`, or the first of `base_2`, `base_3`... that is not taken."""
    if base not in taken:
        return base
    number = 2
    while f"{base}{separator}{number}" in taken:
        number += 1
    return f"{base}{separator}{number}"


def assign_benchmarks(bases: Sequence[Sequence[str]], previous: Sequence[str | None]) -> list[str]:
    """Names for the benchmarks of one dispatch, which no benchmark of another dispatch can have.

    A dispatch's name holds no two underscores in a row, and what is added to it starts with two.

    Args:
      bases: For each, the names it may have before it is numbered, the preferred one first.
      previous: For each, the name that it had before, which it keeps where that is made of one of its `bases`.
    """
    kept = [
        old if old is not None and any(_is_made_of(base, old) for base in allowed) else None
        for allowed, old in zip(bases, previous, strict=True)
    ]
    used = {name for name in kept if name is not None}
    names = []
    for allowed, old in zip(bases, kept, strict=True):
        free = next((base for base in allowed if base not in used), None)
        name = old or free or numbered(allowed[0], used, _separator(allowed[0]))
        used.add(name)
        names.append(name)
    return names


def _is_made_of(base: str, name: str) -> bool:
    return re.fullmatch(f"{base}({_separator(base)}\\d+)?", name) is not None


def _separator(base: str) -> str:
    """What stands between a benchmark's name and its number."""
    return "_" if "__" in base else "__"
