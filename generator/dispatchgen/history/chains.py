"""Which measurements are of one benchmark, whatever it is called: names follow the kernels, as in comparisons.

From run to run the same kernel at the same sizes in the same place belongs together, first where it has the same name,
then where it had another one; of what is left, what has the same name does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dispatchgen.results.lean import Key

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
#: In place of a number that is null.
NONE = -1


class Benchmark(NamedTuple):
    """What rows of results are known by."""

    key: Key
    symbols: str  #: JSON: the sizes of the call, and those that only the device computes.

    @property
    def place(self) -> tuple[Key, str]:
        """What stays when it is renamed."""
        return self.key._replace(benchmark=""), self.symbols


@dataclass(frozen=True)
class Measured:
    """The measurements of a machine, by benchmark and then by time; arrays of one length."""

    benchmark: _Ints
    run: _Ints  #: Index into the runs, which are in the order of time.
    kernel: _Ints  #: Equal numbers: the same content at the same sizes; `NONE`: not known.
    module: _Ints
    times: _Floats  #: Seconds, and the ends of the interval.


class Stretch(NamedTuple):
    """Measurements of one name and one kernel, without another kernel between them."""

    first: int  #: Index of the first run.
    start: int  #: Of the measurements: `start` is the first, `stop` is behind the last.
    stop: int
    last: int  #: Index of the last run.
    benchmark: int
    kernel: int  #: `NONE`: not known in any of the runs.


def chains(benchmarks: Mapping[int, Benchmark], measured: Measured) -> list[Sequence[Stretch]]:
    """The stretches that are of one benchmark each, in the order of time; a chain has the name of its last stretch."""
    every = _stretches(measured)
    before: dict[Stretch, Stretch] = {}
    followed: set[Stretch] = set()
    newest: dict[int, Stretch] = {}  # by name
    by_kernel: dict[object, list[Stretch]] = defaultdict(list)
    for first, begun in groupby(sorted(every), key=lambda each: each.first):
        together = list(begun)
        for stretch in together:
            # Of a name that was there before, only what had the kernel until then: else it is the kernel that changed.
            since = newest[stretch.benchmark].last if stretch.benchmark in newest else 0
            same = by_kernel[_kernel(benchmarks, stretch)]
            free = [each for each in same if since <= each.last < first and each not in followed]
            if free:
                before[stretch] = max(free, key=lambda each: each.last)
                followed.add(before[stretch])
        for stretch in together:
            named = newest.get(stretch.benchmark)
            if named is not None and named not in followed and stretch not in before:
                before[stretch] = named
                followed.add(named)
        for stretch in together:
            newest[stretch.benchmark] = stretch
            if stretch.kernel != NONE:
                by_kernel[_kernel(benchmarks, stretch)].append(stretch)
    return [_chain(each, before) for each in every if each not in followed]


def _stretches(measured: Measured) -> list[Stretch]:
    if not len(measured.run):
        return []
    known = np.flatnonzero(measured.kernel != NONE)
    benchmark, kernel = measured.benchmark[known], measured.kernel[known]
    changed = known[1:][(benchmark[1:] == benchmark[:-1]) & (kernel[1:] != kernel[:-1])]
    starts = np.union1d(np.flatnonzero(np.diff(measured.benchmark, prepend=NONE)), changed)
    stops = np.append(starts[1:], len(measured.run))
    kernels = np.maximum.reduceat(measured.kernel, starts)
    columns = (measured.run[starts], starts, stops, measured.run[stops - 1], measured.benchmark[starts], kernels)
    return [Stretch(*row) for row in np.stack(columns, axis=1).tolist()]


def _kernel(benchmarks: Mapping[int, Benchmark], stretch: Stretch) -> object:
    return benchmarks[stretch.benchmark].place, stretch.kernel


def _chain(last: Stretch, before: Mapping[Stretch, Stretch]) -> list[Stretch]:
    chain = [last]
    while chain[-1] in before:
        chain.append(before[chain[-1]])
    return chain[::-1]
