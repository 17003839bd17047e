"""Which dispatch of a program each dispatch of a profile or of a lock is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dispatchgen.extract.extraction import content_of
from dispatchgen.extract.names import operation_of
from dispatchgen.extract.program import Program
from dispatchgen.profile.schema import ProfiledDispatch

_Key = tuple[str, str]  #: Executable and export.


@dataclass(frozen=True)
class Pairs:
    """Exports of a program, by executable and export, with what is known of them."""

    same: tuple[tuple[_Key, ProfiledDispatch], ...]  #: Of the same content.
    changed: tuple[tuple[_Key, ProfiledDispatch], ...]  #: Of the same operation, with other content.
    gone: tuple[ProfiledDispatch, ...]  #: What the program has no export for.


def paired(program: Program, dispatches: Iterable[ProfiledDispatch]) -> Pairs:
    """Pairs what has the same content, of several those of the same symbol first; then, in order, by operation."""
    exports = {key: (operation_of(export.name), content_of(export)) for key, export in program.exports.items()}
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
