"""Quantities as people write them: `1%`, `10m`, `256MiB`."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BeforeValidator

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_MOST_BYTES = 1 << 40


def parse_percent(text: object) -> float:
    """`1%` or `0.5 %` as a part of 1, above zero. Raises ValueError."""
    found = re.fullmatch(_NUMBER + " ?%", text) if isinstance(text, str) else None
    if found is None or float(found[1]) == 0:
        raise ValueError("a percentage above zero such as `1%` is needed")
    return float(found[1]) / 100


def parse_duration(text: object) -> float:
    """`90s`, `10m` or `1.5h` in seconds, above zero. Raises ValueError."""
    found = re.fullmatch(_NUMBER + " ?([smh])", text) if isinstance(text, str) else None
    if found is None or float(found[1]) == 0:
        raise ValueError("a duration above zero such as `90s`, `10m` or `2h` is needed")
    return float(found[1]) * _SECONDS[found[2]]


def parse_memory(text: object) -> int:
    """`256MiB`, `1.5 GiB` or `64KiB` in bytes, above zero. Raises ValueError."""
    found = re.fullmatch(_NUMBER + " ?([KMG]iB)", text) if isinstance(text, str) else None
    size = 0 if found is None else int(float(found[1]) * _BYTES[found[2]])
    if not 0 < size <= _MOST_BYTES:
        raise ValueError("an amount of memory such as `256MiB` or `1GiB` is needed, up to 1024GiB")
    return size


def stated(parse: Callable[[object], float]) -> BeforeValidator:
    """A check that a text states a quantity; it stays a text."""

    def check(value: object) -> object:
        parse(value)
        return value

    return BeforeValidator(check)
