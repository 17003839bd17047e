"""Numbers as the page shows them."""

from __future__ import annotations

import math

from dispatchgen.results.text import NOTHING, format_seconds

#: Width of the bar of a ratio, in the units of its view box; its height is 14.
BAR_WIDTH = 120.0
#: The bar spans ratios from 0.8 to 1.25.
_WIDEST = math.log(1.25)
_HALF_BAR = 54.0
_UNITS = ("B", "KiB", "MiB", "GiB")


def seconds(value: float | None) -> str:
    """A time in the unit that suits it."""
    return format_seconds(value)


def percent(value: float | None) -> str:
    """A part in percent."""
    return NOTHING if value is None else f"{value * 100:.1f} %"


def plus_minus(half: float | None) -> str:
    """Half of an interval."""
    return "" if half is None else f"± {half * 100:.1f} %" if half < 1 else "± >100 %"


def count(value: int | None) -> str:
    """A number with its thousands apart."""
    return "?" if value is None else f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def size(value: float | None) -> str:
    """A number of bytes."""
    if value is None:
        return NOTHING
    power = 0 if value < 1024 else min(len(_UNITS) - 1, int(math.log(value, 1024)))
    value, unit = value / 1024**power, _UNITS[power]
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"


def difference(value: int) -> str:
    """By how many bytes a size differs."""
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return sign + size(abs(value))


def ratio(value: float | None) -> str:
    """A ratio of times."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if 0.01 <= value < 100 else "<0.01" if value < 0.01 else ">100"


def interval(low: float | None, high: float | None) -> str:
    """The interval of a ratio."""
    return "" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"


def at(value: float) -> float:
    """Where a ratio is on its bar; beyond its ends, at them."""
    part = max(-1.0, min(1.0, math.log(value) / _WIDEST)) if value > 0 else -1.0
    return round(BAR_WIDTH / 2 + part * _HALF_BAR, 1)


def time(text: str) -> str:
    """A time of ISO 8601 to the minute, as people write it."""
    day, _, clock = text.partition("T")
    return f"{day} {clock[:5]} UTC" if clock else day


FILTERS = {
    "time": time,
    "seconds": seconds,
    "percent": percent,
    "plus_minus": plus_minus,
    "count": count,
    "size": size,
    "difference": difference,
    "ratio": ratio,
    "interval": interval,
    "at": at,
}
