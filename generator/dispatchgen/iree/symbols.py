"""Symbols in the text of IR."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dispatchgen.iree.ir import symbol_text

_SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_][A-Za-z0-9_$.]*))')


def rename_symbols(text: str, executable: str, executable_name: str, exports: Mapping[str, str]) -> str:
    """The text of an executable with its symbol renamed, and those of its exports wherever they are named."""
    # The executable's own symbol comes first. What has its name further on is an export or a function.
    own = _SYMBOL.search(text)
    assert own is not None and own[0] == symbol_text(executable)
    renamed = {symbol_text(old): symbol_text(new) for old, new in exports.items()}
    inside = _SYMBOL.sub(lambda match: renamed.get(match[0], match[0]), text[own.end() :])
    return f"{text[: own.start()]}{symbol_text(executable_name)}{inside}"


def symbols(text: str) -> set[str]:
    """The symbols that are named in a text of IR, as MLIR prints them (`@name`)."""
    return {match[0] for match in _SYMBOL.finditer(text)}
