"""Symbols in the text of IR."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dispatchgen.iree.ir import symbol_text

_SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_][A-Za-z0-9_$.]*))')


def rename_symbols(text: str, executable: str, executable_name: str, exports: Mapping[str, str]) -> str:
    """The text of an executable with its symbol and those of its exports renamed, wherever they are named."""
    # The executable's own symbol comes first. An export may be called like its executable: then all others are its.
    renamed = {symbol_text(executable): symbol_text(executable_name)}
    renamed |= {symbol_text(old): symbol_text(new) for old, new in exports.items()}
    text = _SYMBOL.sub(lambda _: symbol_text(executable_name), text, count=1)
    return _SYMBOL.sub(lambda match: renamed.get(match[0], match[0]), text)


def symbols(text: str) -> set[str]:
    """The symbols that are named in a text of IR, as MLIR prints them (`@name`)."""
    return {match[0] for match in _SYMBOL.finditer(text)}
