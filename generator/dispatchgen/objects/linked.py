"""The objects that executables of one program link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pydantic import Field

from dispatchgen.errors import Problem
from dispatchgen.extract.schema import Data
from dispatchgen.manifest.names import show, show_all


class LinkedObject(Data):
    """An object that an executable links, said in a comment in front of it."""

    name: str = Field(description="What messages call it.")
    sha256: str
    symbols: tuple[str, ...] = Field(description="What it defines for other objects, weak symbols too.")


def duplicate_symbols(objects: Iterable[LinkedObject]) -> list[Problem]:
    """What several objects of one program define differently: IREE's linker takes the first, and says nothing.

    That goes for weak symbols too, by the rules of ELF: C++ has them for inline functions and templates.
    """
    definitions: dict[str, dict[str, str]] = defaultdict(dict)
    for each in objects:
        for symbol in each.symbols:
            definitions[symbol].setdefault(each.sha256, each.name)
    return [
        Problem(
            f"{show(symbol)} is defined by {show_all(by.values())}; the whole program would call one of them for all",
            hint="another name in each; or make it local where it is no entry point: `static`, or an anonymous "
            "namespace of C++",
        )
        for symbol, by in sorted(definitions.items())
        if len(by) > 1
    ]
