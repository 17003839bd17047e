"""The sizes of a dispatch: what tells the benchmarks of one dispatch apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dispatchgen.extract.schema import Benchmark


@dataclass(frozen=True)
class Sizes:
    """What a dispatch is run with."""

    workload: tuple[int, ...]
    constants: tuple[tuple[str, int], ...]  #: Push constants: type and unsigned value.
    bindings: tuple[int, ...]  #: Length of each, in bytes.

    def writes_nothing(self, written: Sequence[bool]) -> bool:
        """Whether no binding that is written has an element: such a run has no workgroups, and no time to measure."""
        lengths = [length for length, writes in zip(self.bindings, written, strict=True) if writes]
        return bool(lengths) and not any(lengths)


def sizes_of(benchmark: Benchmark) -> Sizes:
    """The sizes that a benchmark has."""
    return Sizes(benchmark.workload, benchmark.constants, benchmark.bindings)
