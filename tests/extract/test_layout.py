from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.buffers.contents import ZEROS, Content, Given
from dispatchgen.extract.layout import layout_of
from dispatchgen.extract.schema import Benchmark

_GIVEN = Content(given=Given("a", "a", b"a"))
_OF_SIZES = replace(_GIVEN, is_of_sizes=True)


@given(data=st.data())
def test_bindings_never_share_memory(data: st.DataObject) -> None:
    written = data.draw(st.lists(st.booleans(), max_size=4))
    lengths = data.draw(
        st.lists(st.lists(st.integers(0, 5000), min_size=len(written), max_size=len(written)), min_size=1, max_size=3)
    )
    benchmarks = [
        Benchmark(name=f"b{i}", workload=(), constants=(), bindings=tuple(each), counts={})
        for i, each in enumerate(lengths)
    ]
    layout = layout_of(written, benchmarks)
    assert all(offset % 256 == 0 for offset in layout.offsets)
    for benchmark in benchmarks:
        assert all(a <= b for a, b in zip(benchmark.bindings, layout.capacities, strict=True))
    spans = sorted(zip(layout.offsets, layout.capacities, written, strict=True))
    assert all(a + size <= b for (a, size, _), (b, _, _) in itertools.pairwise(span for span in spans if span[1]))
    assert all(offset + size <= layout.size for offset, size, _ in spans)
    assert layout.size > 0
    # What is only read lies in front of all that is written.
    read = [offset + size for offset, size, is_written in spans if not is_written]
    assert all(offset >= max(read, default=0) for offset, size, is_written in spans if is_written and size)


@given(data=st.data())
def test_each_benchmark_finds_its_contents(data: st.DataObject) -> None:
    written = data.draw(st.lists(st.booleans(), min_size=1, max_size=3))
    held = [ZEROS, Content(given=Given("a", "a", b"a")), Content(given=Given("b", "b", b"b"))]
    benchmarks, contents = [], {}
    for i in range(data.draw(st.integers(1, 4))):
        lengths = data.draw(st.tuples(*[st.integers(0, 600)] * len(written)))
        benchmarks.append(Benchmark(name=f"b{i}", workload=(), constants=(), bindings=lengths, counts={}))
        contents[f"b{i}"] = data.draw(st.tuples(*[st.sampled_from(held)] * len(written)))
    layout = layout_of(written, benchmarks, contents)
    assert len({region.key for region in layout.regions}) == len(layout.regions)
    assert all(a.end <= b.offset for a, b in itertools.pairwise(layout.regions))
    assert layout.regions[-1].end <= layout.size
    # An empty region lies where the next begins.
    at = {(region.offset, region.content): region for region in layout.regions}
    for benchmark in benchmarks:
        places = zip(layout.offsets_of(benchmark), contents[benchmark.name], benchmark.bindings, strict=True)
        assert all(at[offset, content].length >= length for offset, content, length in places)


@pytest.mark.parametrize(
    ("small", "large", "any_size", "regions"),
    [
        (_GIVEN, _GIVEN, True, [(_GIVEN, 600)]),
        (_OF_SIZES, _OF_SIZES, True, [(_GIVEN, 600), (ZEROS, 600)]),
        (_GIVEN, _OF_SIZES, True, [(_GIVEN, 600), (ZEROS, 600)]),
        (_GIVEN, ZEROS, True, [(_GIVEN, 20), (ZEROS, 600)]),
        (ZEROS, _GIVEN, True, [(ZEROS, 600), (_GIVEN, 600)]),
        (_OF_SIZES, _OF_SIZES, False, [(_GIVEN, 600)]),
        (ZEROS, _GIVEN, False, [(ZEROS, 20), (_GIVEN, 600)]),
    ],
)
def test_functions_of_any_size_find_what_is_right_at_all(
    small: Content, large: Content, any_size: bool, regions: list[tuple[Content, int]]
) -> None:
    benchmarks = [
        Benchmark(name=name, workload=(), constants=(), bindings=(length,), counts={})
        for name, length in (("small", 20), ("large", 600))
    ]
    layout = layout_of([False], benchmarks, {"small": [small], "large": [large]}, any_size=any_size)
    assert [(region.content, region.length) for region in layout.regions] == regions
    if any_size:
        at = {region.offset: region.content for region in layout.regions}
        assert at[layout.offsets[0]] == layout.contents[0] == (ZEROS if len(regions) > 1 else _GIVEN)
