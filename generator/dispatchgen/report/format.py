"""Numbers as the page shows them."""

from __future__ import annotations

import math

from dispatchgen.results.text import NOTHING, format_seconds

#: Width of the bar of a ratio, in the units of its view box; its height is 14.
BAR_WIDTH = 120.0
#: The bar spans ratios from one half to two.
_PER_OCTAVE = 56.0
_UNITS = ("B", "KiB", "MiB", "GiB")


def seconds(value: float | None) -> str:
    """A time in the unit that suits it."""
    return format_seconds(value)


def percent(value: float | None) -> str:
    """A part in percent."""
    return NOTHING if value is None else f"{value * 100:.1f} %"


def plus_minus(half: float | None) -> str:
    """Half of an interval."""
    return "" if half is None else f"± {half * 100:.1f} %"


def count(value: int | None) -> str:
    """A number with its thousands apart."""
    return "?" if value is None else f"{value:,}".replace(",", " ")


def size(value: float | None) -> str:
    """A number of bytes."""
    if value is None:
        return NOTHING
    power = 0 if value < 1024 else min(len(_UNITS) - 1, int(math.log(value, 1024)))
    value, unit = value / 1024**power, _UNITS[power]
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"


def ratio(value: float | None) -> str:
    """A ratio of times."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """The interval of a ratio."""
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def at(value: float) -> float:
    """Where a ratio is on its bar."""
    octaves = max(-1.0, min(1.0, math.log2(value))) if value > 0 else -1.0
    return round(BAR_WIDTH / 2 + octaves * _PER_OCTAVE, 1)


FILTERS = {
    "seconds": seconds,
    "percent": percent,
    "plus_minus": plus_minus,
    "count": count,
    "size": size,
    "ratio": ratio,
    "interval": interval,
    "at": at,
}
