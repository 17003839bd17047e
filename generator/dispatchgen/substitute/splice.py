"""Replacing executables in the text of a module, which otherwise stays as it is, byte for byte.

The text is what MLIR's printer writes: operations at the top of the module are indented by two spaces, what is inside
them by more, and no text of the program holds a line break.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.resources import split_resources, with_resources

#: The beginning of an executable at the top of a module. It starts with plain text, which is found fast: programs with
#: their weights in them are large.
_BEGIN = re.compile(
    r'\n  hal\.executable (?:(?:private|public|nested) )?(?P<symbol>@(?:"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_$.]*))'
)
_VISIBILITY = re.compile(r"\s*hal\.executable ((?:private |public |nested )?)@")
_END = "\n  }"
#: What cannot follow a symbol that MLIR prints without quotes.
_SYMBOL_END = r"(?![A-Za-z0-9_$.])"


@dataclass(frozen=True)
class Span:
    """Where an operation stands in the text of its module, from the indentation of its first line to its `}`."""

    begin: int
    end: int


def executable_spans(text: str) -> dict[str, Span]:
    """The executables of a module by symbol, as MLIR prints it (`@name`), in order."""
    return {
        match["symbol"]: Span(match.start() + 1, text.index(_END, match.end()) + len(_END))
        for match in _BEGIN.finditer(text)
    }


def replace_executables(text: str, executables: Mapping[str, str]) -> str:
    """A module in which executables stand in place of others, each as visible as the one before.

    Args:
      text: The module.
      executables: Symbol of the one that is replaced, which must be there -> text of the one in its place.
    """
    spans = executable_spans(text)
    pieces: list[str] = []
    resources: dict[str, str] = {}
    done = 0
    for span, new in sorted(((spans[symbol_text(symbol)], new) for symbol, new in executables.items()), key=_begin):
        body, data = split_resources(new)
        pieces += [text[done : span.begin], indent(_as_visible(body.strip("\n"), text[span.begin : span.end]), "  ")]
        done, resources = span.end, resources | data
    return with_resources("".join([*pieces, text[done:]]), resources)


def _begin(replacement: tuple[Span, str]) -> int:
    return replacement[0].begin


def _as_visible(executable: str, as_executable: str) -> str:
    """An executable that has the visibility of another: in dumps all are public, in programs private."""
    before, after = _VISIBILITY.match(executable), _VISIBILITY.match(as_executable)
    if before is None or after is None:
        return executable
    return executable[: before.start(1)] + after[1] + executable[before.end(1) :]


def rename_reference(text: str, executable: str, variant: str, export: str, name: str) -> str:
    """A module that refers to an export of an executable by another name."""
    if export == name:
        return text
    prefix = f"{symbol_text(executable)}::{symbol_text(variant)}::"
    reference = re.escape(prefix + symbol_text(export)) + _SYMBOL_END
    return re.sub(reference, lambda _: prefix + symbol_text(name), text)
