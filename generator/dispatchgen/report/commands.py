"""The commands that measure a row again, from the folder of the manifest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

_Words = tuple["str | tuple[str, str] | tuple[str, str, str]", ...]
_REPRO: _Words = ("dispatchgen", "repro", ("", "model"), ("--dispatch", "dispatch"))
_WHERE: _Words = (("--substitution", "variant"), ("--backend", "backend"), ("--device", "device"))
#: What a row is -> the words of the command: as they are, or an option, the column of its value and what comes behind
#: it. An option without a value is left out. The page's script makes the same commands of them.
COMMANDS: Mapping[str, _Words] = {
    "warm": (*_REPRO, ("--benchmark", "benchmark"), *_WHERE),
    "cold": (*_REPRO, ("--benchmark", "benchmark", "__cold"), *_WHERE),
    "model": ("dispatchgen", "run", ("--model", "model"), ("--shape", "shape"), *_WHERE),
}


def command(row: Mapping[str, str]) -> str:
    """The command for a row, quoted for sh; `row` has its columns."""
    words: list[str] = []
    for part in COMMANDS["model" if row["kind"] == "model" else row["caches"]]:
        if isinstance(part, str):
            words.append(part)
        elif row[part[1]]:
            option, value = part[0], row[part[1]] + "".join(part[2:])
            words += [option, value] if option else [value]
    return shlex.join(words)
