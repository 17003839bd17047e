"""Where the bindings of a dispatch lie in the buffer that all functions of its benchmark module share.

Each binding has a region that is as large as the largest benchmark needs, so that its data lies at the same place
whatever the shape. Bindings that are only read come first: no function ever writes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dispatchgen.extract.schema import Benchmark

#: Alignment of bindings in the buffer, in bytes: the largest that IREE's devices ask for.
ALIGNMENT = 256


@dataclass(frozen=True)
class Layout:
    """The buffer of a benchmark module; all numbers are bytes."""

    size: int
    offsets: tuple[int, ...]  #: Of each binding.
    capacities: tuple[int, ...]  #: How long each binding may be: the largest of the benchmarks.


def layout_of(written: Sequence[bool], benchmarks: Sequence[Benchmark]) -> Layout:
    """The layout for these benchmarks of a dispatch, which may write the bindings that are `written`."""
    capacities = tuple(max(lengths) for lengths in zip(*(benchmark.bindings for benchmark in benchmarks), strict=True))
    order = sorted(range(len(capacities)), key=lambda binding: (written[binding], binding))
    offsets = [0] * len(capacities)
    end = 0
    for binding in order:
        offsets[binding] = end
        end += -(-capacities[binding] // ALIGNMENT) * ALIGNMENT
    return Layout(max(end, ALIGNMENT), tuple(offsets), capacities)
