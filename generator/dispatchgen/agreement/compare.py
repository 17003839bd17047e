"""How the buffers compare that two kernels wrote.

- Floats a (the compiler's) and b agree where |a - b| <= tolerance * max(|a|, min(1, p)), p being the largest |a| of the
  elements: so outputs that are all small are compared with their own size, and a single small one with that of the
  others. NaN agrees with NaN.
- Integers agree where |a - b| <= tolerance: exactly, unless the tolerance is 1 or more.
- Bytes around bindings, in bindings that are only read, and of types that are not known agree where they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dispatchgen.agreement.regions import regions
from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, Output
from dispatchgen.buffers import encoding
from dispatchgen.buffers.encoding import Numbers


@dataclass(frozen=True)
class Comparison:
    """How the outputs of both kernels compare."""

    worst: float | None = None  #: Largest error of two elements; None: nothing was compared as numbers.
    differences: tuple[str, ...] = ()  #: What is more than the tolerance, or must not be at all.
    changed: bool = False  #: Whether the compiler's kernel changed what it may write.


def compare(
    benchmark: CheckedBenchmark,
    before: Sequence[bytes],
    after: Mapping[Output, bytes],
    guard: int,
    tolerance: float,
) -> Comparison:
    """Compares what the kernels left in their buffers.

    Args:
      benchmark: What the buffers are.
      before: What each binding's buffers held, with guards.
      after: What the function returned.
      guard: Bytes before and behind each binding.
      tolerance: Largest error that is no difference.
    """
    found: list[Comparison] = []
    for number, binding in enumerate(benchmark.bindings):
        theirs = after[Output(number, "substitute")]
        ours = after.get(Output(number, "original"), before[number])
        found.append(Comparison(changed=binding.written and ours != before[number]))
        found += _binding(f"binding {number}", binding, ours, theirs, guard, tolerance)
    return Comparison(
        worst=max((each.worst for each in found if each.worst is not None), default=None),
        differences=tuple(difference for each in found for difference in each.differences),
        changed=any(each.changed for each in found),
    )


def errors(expected: Numbers, found: Numbers) -> Numbers:
    """How far each number is from what is expected, by the rule above; infinite where one of two alone is NaN."""
    with np.errstate(all="ignore"):
        if expected.dtype.kind == "i":
            # Large integers that differ may be the same number as floats.
            return np.where(expected == found, 0.0, np.maximum(np.abs(expected.astype("f8") - found), 1.0))
        sizes = np.abs(expected)
        peak = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
        relative = np.abs(expected - found) / np.maximum(sizes, min(peak, 1.0) or 1.0)
        same = (expected == found) | (np.isnan(expected) & np.isnan(found))
        result: Numbers = np.where(same, 0.0, np.where(np.isnan(relative), np.inf, relative))
        return result


def _binding(
    name: str, binding: CheckedBinding, expected: bytes, found: bytes, guard: int, tolerance: float
) -> Iterator[Comparison]:
    stop = guard + binding.length
    if expected[:guard] != found[:guard] or expected[stop:] != found[stop:]:
        yield _different(f"{name}: the substitute writes outside of it")
    if not binding.written:
        if expected[guard:stop] != found[guard:stop]:
            yield _different(f"{name}: the substitute writes to it; the compiler's kernel only reads it")
        return
    for region in regions(binding):
        part = slice(guard + region.start, guard + region.stop)
        if region.piece is not None:
            yield _numbers(name, region.piece.element, expected[part], found[part], tolerance)
        elif expected[part] != found[part]:
            yield _different(f"{name}: bytes {region.start} to {region.stop} differ; their type is not known")


def _different(difference: str) -> Comparison:
    return Comparison(differences=(difference,))


def _numbers(name: str, element: str, expected: bytes, found: bytes, tolerance: float) -> Comparison:
    ours, theirs = encoding.decode(element, expected), encoding.decode(element, found)
    error = errors(ours, theirs)
    if not error.size:
        return Comparison()
    at = int(np.argmax(error))
    worst = float(error[at])
    if worst <= tolerance:
        return Comparison(worst)
    count = int(np.count_nonzero(error > tolerance))
    difference = (
        f"{name}, element {at} ({element}): {_text(ours[at])} by the compiler's kernel, {_text(theirs[at])} by the "
        f"substitute; {count} of {error.size} elements differ"
    )
    return Comparison(worst, (difference,))


def _text(number: np.generic) -> str:
    """A number with all digits that tell it from others: integers exactly."""
    return str(number) if isinstance(number, np.integer) else f"{number:.9g}"
