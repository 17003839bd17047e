"""Which dispatch of a program each dispatch of a profile or of a lock is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dispatchgen.extract.extraction import content_of
from dispatchgen.extract.names import operation_of
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Dispatch
from dispatchgen.profile.schema import ProfiledDispatch

_Key = tuple[str, str]  #: Executable and export.
#: Operation and content of dispatches, by executable and export.
Codes: TypeAlias = "Mapping[_Key, tuple[str, str]]"


@dataclass(frozen=True)
class Pairs:
    """Exports of a program, by executable and export, with what is known of them."""

    same: tuple[tuple[_Key, ProfiledDispatch], ...]  #: Of the same content.
    changed: tuple[tuple[_Key, ProfiledDispatch], ...]  #: Of the same operation, with other content.
    gone: tuple[ProfiledDispatch, ...]  #: What the program has no export for.


def codes_of(program: Program) -> dict[_Key, tuple[str, str]]:
    """What the dispatches of a program are."""
    return {key: (operation_of(export.name), content_of(program, export)) for key, export in program.exports.items()}


def locked_codes(program: Program, locked: Iterable[Dispatch]) -> Codes:
    """What the dispatches of a program were when it was locked, as far as the lock has them."""
    pairs = paired(codes_of(program), (profiled(dispatch) for dispatch in locked))
    return {key: (each.operation, each.content) for key, each in (*pairs.same, *pairs.changed)}


def profiled(dispatch: Dispatch) -> ProfiledDispatch:
    """A dispatch of a lock as a profile would have it, without sizes."""
    return ProfiledDispatch(
        executable=dispatch.executable,
        export=dispatch.export,
        operation=dispatch.operation,
        content=dispatch.content,
        entries=(),
    )


def paired(codes: Codes, dispatches: Iterable[ProfiledDispatch]) -> Pairs:
    """Pairs what has the same content, of several those of the same symbol first; then, in order, by operation."""
    exports = dict(codes)
    rest = list(dispatches)

    def take(fits: Callable[[_Key, ProfiledDispatch], bool]) -> list[tuple[_Key, ProfiledDispatch]]:
        taken = []
        for key in list(exports):
            found = next((each for each in rest if fits(key, each)), None)
            if found is not None:
                taken.append((key, found))
                rest.remove(found)
                del exports[key]
        return taken

    def is_same(key: _Key, each: ProfiledDispatch) -> bool:
        return exports[key] == (each.operation, each.content)

    same = take(lambda key, each: key == (each.executable, each.export) and is_same(key, each))
    same += take(is_same)
    changed = take(lambda key, each: exports[key][0] == each.operation)
    return Pairs(tuple(same), tuple(changed), tuple(rest))
