"""Copies of what bindings hold, which cold benchmarks rotate over: each run finds its buffers in no cache.

Before a copy is used again, all others were used, and they are larger than the caches. Each content of a binding has a
pool: copies of it behind each other, as close as the benchmark's own length allows, so that small shapes do not leave
most of the memory untouched. A pattern is the same wherever a copy begins: all benchmarks that have it share one pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from dispatchgen.extract.layout import ALIGNMENT, Layout, Region
from dispatchgen.extract.schema import Benchmark

#: Bytes: processors take a load for one of what was just stored that many bytes away, and wait.
_PAGE = 4096


@dataclass(frozen=True)
class Pool:
    """A buffer of copies; all numbers are bytes."""

    key: str  #: Tells it apart from the others, `[A-Za-z0-9_]+`.
    region: Region  #: Of the layout: what a copy holds.
    stride: int  #: From copy to copy; of a pattern, of some benchmark.
    size: int

    @property
    def start(self) -> int:
        """Where the first copy is: in a page where it is in the buffer, so that bindings lie to each other as there."""
        return self.region.offset % _PAGE


@dataclass(frozen=True)
class Rotation:
    """How a benchmark goes over its copies.

    The next copy is far away: behind one copy, processors fetch what comes next before anyone asks for it.
    """

    copies: int  #: At least 2.
    pools: tuple[str, ...]  #: Keys, by binding.
    starts: tuple[int, ...]  #: Of the first copies, by binding.
    strides: tuple[int, ...]  #: By binding; 0 of an empty one.

    @property
    def step(self) -> int:
        """From the number of a copy to that of the next, modulo `copies`: each has its turn before one comes again."""
        step = max(1, self.copies * 618 // 1000)  # the golden ratio spreads any number of steps
        while gcd(step, self.copies) != 1:
            step += 1
        return step


@dataclass(frozen=True)
class Rotations:
    """The copies of a benchmark module."""

    pools: tuple[Pool, ...] = ()
    #: By the name of the benchmark. One that is not here has no copies: its own bindings are larger than the caches.
    of_benchmarks: Mapping[str, Rotation] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all copies."""
        return sum(pool.size for pool in self.pools)


def rotations_of(layout: Layout, benchmarks: Sequence[Benchmark], memory: int) -> Rotations:
    """The copies that these benchmarks of a dispatch need.

    Args:
      layout: Of the buffer that holds the first of each.
      benchmarks: The benchmarks.
      memory: How many bytes of bindings a benchmark uses before it uses one again.
    """
    pools: dict[str, Pool] = {}
    rotations = {}
    for benchmark in benchmarks:
        strides = tuple(-(-length // ALIGNMENT) * ALIGNMENT for length in benchmark.bindings)
        copies = -(-memory // sum(strides)) if any(strides) else 1
        if copies == 1:
            continue
        found = list(_pools(layout.regions_of(benchmark), strides, copies))
        for pool in found:
            known = pools.get(pool.key)
            pools[pool.key] = pool if known is None or known.size < pool.size else known
        keys, starts = tuple(pool.key for pool in found), tuple(pool.start for pool in found)
        rotations[benchmark.name] = Rotation(copies, keys, starts, strides)
    return Rotations(tuple(pools.values()), rotations)


def _pools(regions: Sequence[Region], strides: Sequence[int], copies: int) -> Iterator[Pool]:
    """Pools that are large enough for one benchmark."""
    for region, stride in zip(regions, strides, strict=True):
        key = region.key if region.content.pattern is not None else f"{region.key}_each_{stride}"
        yield Pool(key, region, stride, region.offset % _PAGE + max(copies * stride, ALIGNMENT))
