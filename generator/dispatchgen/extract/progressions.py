"""Arithmetic progressions, as Python's `range` has them: which sizes a program takes."""

from __future__ import annotations

import math


def intersection(a: range, b: range) -> range:
    """What is in both; their steps are above zero."""
    divisor = math.gcd(a.step, b.step)
    if not a or not b or (b.start - a.start) % divisor:
        return range(0)
    step = a.step // divisor * b.step
    # The first of a's members, counted from its start, that is one of b's: a congruence (Chinese remainder theorem).
    modulus = b.step // divisor
    first = a.start + a.step * ((b.start - a.start) // divisor * pow(a.step // divisor, -1, modulus) % modulus)
    low = max(a.start, b.start)
    start = first + -(-max(0, low - first) // step) * step
    return range(start, min(a.stop, b.stop), step)


def preimage(values: range, scale: int, offset: int) -> range:
    """Every `x` with `scale * x + offset` in `values`; `scale` is above zero."""
    if not values:
        return range(0)
    aligned = offset + -(-(values.start - offset) // scale) * scale
    found = intersection(values, range(aligned, values.stop, scale))
    if not found:
        return range(0)
    return range((found.start - offset) // scale, (found[-1] - offset) // scale + 1, found.step // scale)


def image(values: range, scale: int, offset: int) -> range:
    """`scale * x + offset` of every `x` in `values`; `scale` is above zero."""
    if not values:
        return range(0)
    return range(scale * values[0] + offset, scale * values[-1] + offset + 1, scale * values.step)
