"""Times, names and longer texts, as the tables show them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from dispatchgen.results.schema import Results, Timing

#: What stands for a number that there is not.
NOTHING = "-"

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


#: Control characters but for the end of a line, and what changes the order in which text is shown (Unicode's
#: explicit directional formatting, https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters).
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LINE_ENDS = re.compile(r"[\n\u2028\u2029]")


def plain(text: str) -> str:
    """A text without what terminals and pages would obey rather than show. Line ends stay."""
    return _CONTROL.sub("\ufffd", text)


def plain_line(text: str) -> str:
    """The same in one line: a name, which could else look like a message."""
    return _LINE_ENDS.sub("\ufffd", plain(text))


def format_seconds(seconds: float | None) -> str:
    """A time in the unit that suits it, with three significant digits."""
    if seconds is None:
        return NOTHING
    scale, unit = next(((scale, unit) for scale, unit in _UNITS if seconds >= scale * 0.9995), _UNITS[-1])
    value = seconds / scale
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def half_width(timing: Timing) -> float | None:
    """Half of the confidence interval, relative to the time; None: there were too few rounds."""
    if timing.low is None or timing.high is None or timing.low <= 0:
        return None
    return math.log(timing.high / timing.low) / 2


def format_half_width(half: float | None) -> str:
    """How well something is known, in percent: half of its confidence interval, relative."""
    return NOTHING if half is None else f"±{half * 100:.1f} %"


def told_below(results: Results) -> Mapping[str, str]:
    """Failures that `build_failures` tell in full, and what stands for them elsewhere: they may be long."""
    return {
        f"{failure.step}: {failure.reason}": f"{failure.step}: failed, see below" for failure in results.build_failures
    }


def indented(start: str, text: str) -> str:
    """`start` and `text`, whose further lines are indented below it."""
    indent = " " * (len(start) - len(start.lstrip()) + 4)
    return start + text.replace("\n", f"\n{indent}")
