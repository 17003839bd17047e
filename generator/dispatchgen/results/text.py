"""Times and longer texts, as the tables show them."""

from __future__ import annotations

#: What stands for a number that there is not.
NOTHING = "-"

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def format_seconds(seconds: float | None) -> str:
    """A time in the unit that suits it, with three significant digits."""
    if seconds is None:
        return NOTHING
    scale, unit = next(((scale, unit) for scale, unit in _UNITS if seconds >= scale * 0.9995), _UNITS[-1])
    value = seconds / scale
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def indented(start: str, text: str) -> str:
    """`start` and `text`, whose further lines are indented below it."""
    indent = " " * (len(start) - len(start.lstrip()) + 4)
    return start + text.replace("\n", f"\n{indent}")
