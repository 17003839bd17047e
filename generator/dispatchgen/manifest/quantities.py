"""Quantities as people write them: `1%`, `10m`."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BeforeValidator

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


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


def stated(parse: Callable[[object], float]) -> BeforeValidator:
    """A check that a text states a quantity; it stays a text."""

    def check(value: object) -> object:
        parse(value)
        return value

    return BeforeValidator(check)
