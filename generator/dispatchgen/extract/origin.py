"""The first line of a dumped executable, which says what it was dumped from.

The text is IR with a comment in front, which MLIR passes over: `// dispatchgen: dispatch <name>, content <sha256>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dispatchgen.extract.schema import Dispatch

_LINE = re.compile(r"// dispatchgen: dispatch ([^\s,]+), content ([0-9a-f]{64})\r?\n")


@dataclass(frozen=True)
class Origin:
    """The dispatch that a file was dumped from."""

    dispatch: str  #: Stable name.
    content: str  #: `Dispatch.content`, as the lock and `index.json` have it.


def origin_line(dispatch: Dispatch) -> str:
    """The line that goes in front of a dump of a dispatch."""
    return f"// dispatchgen: dispatch {dispatch.name}, content {dispatch.content}\n"


def read_origin(text: str) -> Origin | None:
    """What the first line of a file tells; None: it was not dumped by dispatchgen, or the line was removed."""
    match = _LINE.match(text)
    return Origin(*match.groups()) if match is not None else None
