"""The sizes of a dispatch: what tells the benchmarks of one dispatch apart."""

from __future__ import annotations

from dataclasses import dataclass

from dispatchgen.extract.schema import Benchmark


@dataclass(frozen=True)
class Sizes:
    """What a dispatch is run with."""

    workload: tuple[int, ...]
    constants: tuple[tuple[str, int], ...]  #: Push constants: type and unsigned value.
    bindings: tuple[int, ...]  #: Length of each, in bytes.


def sizes_of(benchmark: Benchmark) -> Sizes:
    """The sizes that a benchmark has."""
    return Sizes(benchmark.workload, benchmark.constants, benchmark.bindings)
