"""Rows of baselines in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatchgen.results.lean import Key
from dispatchgen.results.text import plain_line

#: What patterns and messages call the row of a whole model.
WHOLE_MODEL = "whole_model"
#: Most rows that are told of one by one.
_MOST = 20


def benchmark_of(key: Key) -> str:
    """Name of the benchmark."""
    return WHOLE_MODEL if key.kind == "model" else key.benchmark


def describe(key: Key) -> str:
    """Which row it is."""
    variant = f" with {key.variant}" if key.variant else ""
    caches = f" ({key.caches})" if key.caches != "warm" else ""
    return plain_line(f"{key.model} on {key.backend}, {key.device}, {key.call}: {benchmark_of(key)}{variant}{caches}")


def first(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    every = list(lines)
    yield from every[:_MOST]
    if len(every) > _MOST:
        yield f"... and {len(every) - _MOST} more"
