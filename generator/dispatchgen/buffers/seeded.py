"""Seeded random elements.

Each element is made of a fixed number of words of a PCG64 stream, which NumPy promises never to change. So equal seeds
give equal bytes with any release, and of two lengths the shorter is the beginning of the longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dispatchgen.buffers.encoding import Numbers, element_bits, encode, is_integer, largest_below
from dispatchgen.iree.types import unsigned

#: Integers where no range is given. Small, so that sums of products stay exact and `i4` holds them; not 0, which may
#: be a divisor.
_INTEGERS = np.array([*range(-8, 0), *range(1, 8)])
#: Elements that are made at a time, to bound memory; even, as elements of four bits fill bytes in pairs.
_CHUNK = 1 << 20


def random_bytes(element: str, length: int, seed: Sequence[int]) -> bytes:
    """Elements for `length` bytes: floats in [-1, 1), small integers but 0."""
    if is_integer(element):
        return _elements(element, length, seed, lambda words: _INTEGERS[words % np.uint64(len(_INTEGERS))])
    return range_bytes(element, length, seed, -1, 1)


def range_bytes(element: str, length: int, seed: Sequence[int], low: int | float, high: int | float) -> bytes:
    """Elements for `length` bytes: integers from `low` to `high`, or floats from `low` to below `high`.

    Of complex numbers both parts are such. Floats are rounded to the type, but not up to `high`, unless that is `low`.
    The type must hold both limits.
    """
    if is_integer(element):
        start = np.uint64(unsigned(int(low), 64))
        count = np.uint64(unsigned(int(high) - int(low) + 1, 64))  # 0: all numbers of 64 bits
        return _elements(element, length, seed, lambda words: ((words % count if count else words) + start).view("i8"))

    part = element.removeprefix("complex<").removesuffix(">")
    first, end = float(low), float(high)
    last = max(largest_below(part, end), first) if first < end else first

    @np.errstate(over="ignore")
    def floats(words: Numbers) -> Numbers:
        unit: Numbers = (words >> np.uint64(11)) * 2.0**-53
        # No difference of the limits, which may be too large for a float.
        return np.clip(first * (1 - unit) + end * unit, first, last)

    if part != element:
        return _elements(element, length, seed, lambda words: floats(words[0::2]) + 1j * floats(words[1::2]), words=2)
    return _elements(element, length, seed, floats)


def _elements(
    element: str, length: int, seed: Sequence[int], numbers: Callable[[Numbers], Numbers], words: int = 1
) -> bytes:
    """Elements that `numbers` makes of random words, so many for each."""
    bits = element_bits(element)
    assert bits is not None
    stream = np.random.PCG64(np.random.SeedSequence(seed))
    count = length * 8 // bits
    chunks = (min(_CHUNK, count - start) for start in range(0, count, _CHUNK))
    return b"".join(encode(element, numbers(stream.random_raw(chunk * words))) for chunk in chunks)
