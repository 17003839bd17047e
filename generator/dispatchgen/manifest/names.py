"""Names that people choose: how they become ids, how messages show them, and which name they may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: Longest id or label. CMake names files after targets, which hold two of them and a prefix
#: (`iree-dispatch-benchmarks-<model>-<backend>.dir`), and most file systems stop at 255 bytes.
MAX_NAME = 64

#: HAL drivers of IREE.
DRIVERS = ("local-sync", "local-task", "vulkan", "cuda", "hip", "amdgpu", "metal", "null", "webgpu")

_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_]")
_NOT_IN_DEVICE_ID = re.compile(r"[^A-Za-z0-9_.-]+")
#: Longest piece of the user's text that a message repeats, in characters.
_SHOWN = 80


def make_id(name: str) -> str:
    """The id of a model, backend or preset: `_` for each character outside `[A-Za-z0-9_]`, and in front of a digit."""
    text = _NOT_IN_ID.sub("_", name)
    return f"_{text}" if text[:1].isdigit() else text


def make_label(text: str) -> str:
    """A shape's label: `_` for each character outside `[A-Za-z0-9_]`."""
    return _NOT_IN_ID.sub("_", text)


def make_device_id(name: str) -> str:
    """A device's id: `_` for each run of characters outside `[A-Za-z0-9_.-]`; it never starts with `.` or `-`."""
    text = _NOT_IN_DEVICE_ID.sub("_", name)
    return f"_{text}" if text[:1] in (".", "-") else text


def show(text: str) -> str:
    """`text` between backticks; as a quoted literal where it holds what a terminal would not show as it is."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f"`{short}`" if short and short.isprintable() and "`" not in short else repr(short)


def show_all(names: Iterable[str], limit: int = 20) -> str:
    """Names, separated by commas, the first `limit` of them."""
    shown = [show(name) for name in names]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The one of `allowed` that `name` is most likely a misspelling of."""
    spelled = {choice.casefold(): choice for choice in allowed}
    matches = difflib.get_close_matches(name[:MAX_NAME].casefold(), spelled, n=1, cutoff=0.6)
    return spelled[matches[0]] if matches else None


def misspelled_driver(uri: str) -> str | None:
    """The HAL driver that a device's URI most likely means, where it spells it wrong; None for one that may be right.

    A driver of another name altogether may be one that is built into the user's own runtime.
    """
    driver = uri.split("://", 1)[0]
    return None if driver in DRIVERS else nearest(driver, DRIVERS)


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """A hint for a name that is none of `allowed`."""
    choices = list(allowed)
    guess = nearest(name, choices)
    if guess is not None:
        return show(guess)
    return f"one of {show_all(choices)}" if choices else "remove it: there is none to refer to"
