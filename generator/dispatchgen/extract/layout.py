"""Where bindings lie in the buffer that all functions of a benchmark module share, and what they hold.

A binding has a region for each content that it has at some benchmark, as large as the largest of these benchmarks
needs: most have one, whose data lies at the same place whatever the shape. Bindings that are only read come first: no
function ever writes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dispatchgen.buffers.contents import ZEROS, Content
from dispatchgen.extract.schema import Benchmark

#: Alignment of bindings in the buffer, in bytes: the largest that IREE's devices ask for.
ALIGNMENT = 256


@dataclass(frozen=True)
class Region:
    """A part of the buffer; all numbers are bytes."""

    key: str  #: Tells it apart from the others, `[A-Za-z0-9_]+`.
    content: Content
    offset: int
    length: int  #: How long a binding there may be.

    @property
    def end(self) -> int:
        """Where the next region may begin."""
        return self.offset + -(-self.length // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Layout:
    """The buffer of a benchmark module; all numbers are bytes.

    A function of any size finds each binding at `offsets`, up to a length of `capacities`. Where the content depends on
    the benchmark, or is not right at all sizes, zeros are there.
    """

    size: int
    regions: tuple[Region, ...]
    offsets: tuple[int, ...]  #: Of each binding.
    capacities: tuple[int, ...]  #: How long each binding may be: the largest of the benchmarks.
    contents: tuple[Content, ...]  #: What is at `offsets`.
    _of_benchmarks: Mapping[str, tuple[Region, ...]]

    def regions_of(self, benchmark: Benchmark) -> tuple[Region, ...]:
        """Of each binding in the function of a benchmark."""
        return self._of_benchmarks[benchmark.name]

    def offsets_of(self, benchmark: Benchmark) -> tuple[int, ...]:
        """Where these begin."""
        return tuple(region.offset for region in self.regions_of(benchmark))


def layout_of(
    written: Sequence[bool],
    benchmarks: Sequence[Benchmark],
    contents: Mapping[str, Sequence[Content]] | None = None,
    *,
    any_size: bool = True,
) -> Layout:
    """The layout for these benchmarks of a dispatch.

    Args:
      written: Which bindings the dispatch may write.
      benchmarks: Its benchmarks.
      contents: What the bindings hold, by the benchmark's name; None: zeros.
      any_size: Whether there are functions of any size.
    """
    count = len(written)
    by_name = contents or {benchmark.name: [ZEROS] * count for benchmark in benchmarks}
    capacities = tuple(max(lengths) for lengths in zip(*(benchmark.bindings for benchmark in benchmarks), strict=True))
    regions: list[Region] = []
    places: dict[tuple[int, Content], Region] = {}
    offsets, at_offsets = [0] * count, [ZEROS] * count
    for binding in sorted(range(count), key=lambda binding: (written[binding], binding)):
        lengths = _lengths(binding, benchmarks, by_name)
        shared = _shared([held[binding] for held in by_name.values()])
        if any_size:
            lengths[shared] = capacities[binding]
        for number, (content, length) in enumerate(lengths.items()):
            key = f"binding{binding}" + (f"_{number + 1}" if number else "")
            regions.append(Region(key, content, regions[-1].end if regions else 0, length))
            places[binding, content] = regions[-1]
        at_offsets[binding] = shared if any_size else next(iter(lengths))
        offsets[binding] = places[binding, at_offsets[binding]].offset
    of_benchmarks = {
        name: tuple(places[binding, content] for binding, content in enumerate(held)) for name, held in by_name.items()
    }
    size = max(regions[-1].end if regions else 0, ALIGNMENT)
    return Layout(size, tuple(regions), tuple(offsets), capacities, tuple(at_offsets), of_benchmarks)


def _shared(contents: Sequence[Content]) -> Content:
    """What is right at any size, of what the benchmarks hold: zeros where that is nothing."""
    first = contents[0]
    if all(content == first for content in contents) and not any(map(_is_of_sizes, contents)):
        return first
    return replace(ZEROS, note="the data fit listed shapes only")


def _is_of_sizes(content: Content) -> bool:
    """Whether zeros must be where functions of any size look."""
    return content.is_of_sizes and content.pattern != bytes(1)


def _lengths(
    binding: int, benchmarks: Sequence[Benchmark], contents: Mapping[str, Sequence[Content]]
) -> dict[Content, int]:
    """The contents of a binding, each with the length of the largest benchmark that has it."""
    lengths: dict[Content, int] = {}
    for benchmark in benchmarks:
        content = contents[benchmark.name][binding]
        lengths[content] = max(lengths.get(content, 0), benchmark.bindings[binding])
    return lengths


def archived(layout: Layout) -> Iterator[Region]:
    """The regions whose bytes lie in a file beside the module: those that are no pattern."""
    return (region for region in layout.regions if region.length and region.content.pattern is None)
