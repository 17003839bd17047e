"""Which files the compiler reads besides its input: those that flags name, and objects that the program names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_SEARCH_PATH = "iree-hal-executable-object-search-path"
#: `#hal.executable.object<{path = "kernel.o"}>`; its data, if any, are in the program.
_OBJECT = re.compile(r'#hal\.executable\.object<\{path = "((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")


def files_read(text: str, flags: Sequence[str], root: Path) -> list[Path]:
    """The files there are, in the order of what names them.

    Args:
      text: The program, as MLIR prints it.
      flags: Of iree-compile.
      root: The working folder of the compiler.
    """
    pairs = [flag.partition("=")[::2] for flag in flags]
    # `--flag=path`, and `--flag=scope=path`.
    named = [part for _, value in pairs for part in (value, value.rpartition("=")[2])]
    # The compiler takes the first that exists; one that appears in an earlier folder changes the list.
    folders = [root, *(root / value for name, value in pairs if name.lstrip("-") == _SEARCH_PATH)]
    objects = [folder / _unescaped(path) for path in _OBJECT.findall(text) for folder in folders]
    found = [*(root / value for value in named if value), *objects]
    return [path for path in dict.fromkeys(found) if _is_file(path)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a value that is no path: too long, or with a NUL
        return False


def _unescaped(text: str) -> str:
    """What a string attribute holds, from how MLIR prints it."""

    def byte(match: re.Match[bytes]) -> bytes:
        return b"\\" if match[1] == b"\\" else bytes.fromhex(match[1].decode())

    return _ESCAPE.sub(byte, text.encode()).decode(errors="surrogateescape")
