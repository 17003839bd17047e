"""A range of sizes, as `shapes` of a manifest have it: `1..64`, or `16..512:+16` in steps."""

from __future__ import annotations

import re

from dispatchgen.manifest.inputs import MAX_SIZE
from dispatchgen.manifest.names import show

_RANGE = re.compile(r"(\d{1,20})\.\.(\d{1,20})(?::\+(\d{1,20}))?", re.ASCII)


def parse_range(text: str) -> range:
    """The sizes of a range; both ends count. Raises ValueError with a message for people."""
    match = _RANGE.fullmatch(text.replace(" ", ""))
    if match is None:
        raise ValueError(f"{show(text)} is no range of sizes: 1..64, or 16..512:+16 in steps of 16")
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if first < 1 or last > MAX_SIZE:
        raise ValueError(f"the range {show(text)} is not within 1..{MAX_SIZE}")
    if first > last or step == 0:
        raise ValueError(f"the range {show(text)} has {'no sizes' if first > last else 'steps of 0'}")
    return range(first, last + 1, step)


def range_problem(text: str) -> str | None:
    """What is wrong with a text that stands for a range."""
    try:
        parse_range(text)
    except ValueError as error:
        return str(error)
    return None


def format_range(sizes: range) -> str:
    """The text of a range that is not empty."""
    return f"{sizes[0]}..{sizes[-1]}" + (f":+{sizes.step}" if sizes.step > 1 and len(sizes) > 1 else "")
