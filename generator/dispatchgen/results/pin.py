"""Keeping benchmarks on some processors, as far as the system lets us: what this process starts inherits them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Literal

#: Drivers whose kernels run in the calling thread.
_ONE_THREAD = ("local-sync",)
#: More digits than numbers of processors have.
_DIGITS = 10

#: `auto`: benchmarks of devices with one thread on one processor, all others anywhere; `none`; or these processors.
Pin = Literal["auto", "none"] | frozenset[int]


def parse(text: str) -> Pin:
    """Reads `auto`, `none`, or numbers of processors: `0,1`, `0-3`. Raises ValueError, with what is allowed."""
    if text in ("auto", "none"):
        return "auto" if text == "auto" else "none"
    found: set[int] = set()
    usable = allowed()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise ValueError(f"'{text}' is none of `auto`, `none` and numbers of processors: 0,1 or 0-3")
        begin, end = _number(first), _number(last or first)
        if end < begin:
            raise ValueError(f"'{part.strip()}' has no processors: the last comes before the first")
        if can_pin():
            # The range may be of any length; what is missing of it comes early.
            missing = next((each for each in range(begin, end + 1) if each not in usable), None)
            if missing is not None:
                have = ", ".join(map(str, sorted(usable)))
                raise ValueError(f"there is no processor {missing} that may be used; there are {have}")
            found.update(range(begin, end + 1))
    return frozenset(found)


def _number(digits: str) -> int:
    """The number of a processor. Of more digits than Python reads the first are enough: there is none such."""
    return int(digits.lstrip("0")[:_DIGITS] or 0)


def can_pin() -> bool:
    """Whether the system lets processes be kept on processors."""
    return sys.platform == "linux"


def allowed() -> frozenset[int]:
    """The processors that this process may use."""
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


def processors_for(pin: Pin, device_uri: str) -> frozenset[int] | None:
    """The processors that benchmarks on a device are kept on; None: any."""
    if pin == "none" or not can_pin():
        return None
    if pin == "auto":
        # The first processor is the one that most interrupts and system services use.
        return frozenset({max(allowed())}) if device_uri.partition("://")[0] in _ONE_THREAD else None
    return pin


@contextmanager
def kept_on(processors: Collection[int] | None) -> Iterator[None]:
    """Keeps this thread, and what it starts, on processors while the body runs; None: lets it be."""
    if processors is None or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
