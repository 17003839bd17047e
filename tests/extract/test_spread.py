"""Sizes that are worth a benchmark: legal, ends included, each once, the same each time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.extract.choose import fitting
from dispatchgen.extract.ranges import Number, Symbol
from dispatchgen.extract.spread import candidates, combinations


@st.composite
def progressions(draw: st.DrawFn) -> range:
    start, step, members = draw(st.integers(1, 300)), draw(st.integers(1, 64)), draw(st.integers(1, 5000))
    return range(start, start + step * members, step)


CHOICES = st.lists(progressions(), min_size=1, max_size=3)
TILES = st.lists(st.sampled_from([0, 1, 4, 8, 16, 32, 48, 64, 128]), max_size=5)
SIZES = st.dictionaries(
    st.sampled_from("ABC"), st.lists(st.integers(1, 64), min_size=1, max_size=5, unique=True), max_size=3
)


@given(CHOICES, TILES)
def test_candidates_are_legal_and_have_the_ends(choices: list[range], tiles: list[int]) -> None:
    found = candidates(choices, tiles)
    assert all(any(size in choice for choice in choices) for size in found)
    assert len(set(found)) == len(found)
    ends = {end for choice in choices for end in (choice[0], choice[-1])}
    assert ends <= set(found)
    assert set(found[:2]) == {min(ends), max(ends)}
    assert found == candidates(choices, tiles)


@given(CHOICES, TILES)
def test_candidates_have_powers_of_two_and_tiles(choices: list[range], tiles: list[int]) -> None:
    found = candidates(choices, tiles)
    legal = set(itertools.chain.from_iterable(choices))
    assert {1 << power for power in range(30) if 1 << power in legal} <= set(found)
    fitting = [tile for tile in tiles if 1 < tile <= max(legal)]
    if fitting:
        tile = max(fitting)
        near = {size for size in legal if size <= 256 * min(choice.step for choice in choices)}
        if any(size % tile == 0 for size in near if size >= tile):
            assert any(size % tile == 0 for size in found)
        if any(size % tile for size in near if size > tile):
            assert any(size % tile for size in found)


@pytest.mark.parametrize(
    ("choice", "tiles", "first"),
    [
        (range(16, 4097, 16), [4, 8, 64], [16, 4096, 80, 64, 512]),
        (range(1, 9), [4, 8, 64], [1, 8, 7, 4, 2]),
        (range(1, 1025), [64], [1, 1024, 65, 64, 32]),
        (range(1, 1025), [], [1, 1024, 32]),
        (range(5, 6), [64], [5]),
    ],
)
def test_order(choice: range, tiles: list[int], first: list[int]) -> None:
    assert candidates([choice], tiles)[: len(first)] == first


def test_alternatives_have_all_their_ends() -> None:
    assert candidates([range(4, 9, 4), range(100, 301, 100)], [])[:4] == [4, 300, 8, 100]


@given(SIZES)
def test_combinations_are_all_of_them_each_once(sizes: dict[str, list[int]]) -> None:
    found = [tuple(each.values()) for each in combinations(sizes)]
    assert sorted(found) == sorted(itertools.product(*sizes.values()))
    assert len(set(found)) == len(found)


@given(SIZES)
def test_the_first_combinations_have_each_size(sizes: dict[str, list[int]]) -> None:
    longest = max(map(len, sizes.values()), default=1)
    first = list(itertools.islice(combinations(sizes), longest))
    for name, each in sizes.items():
        assert {combination[name] for combination in first} == set(each)
    assert first[0] == {name: each[0] for name, each in sizes.items()}
    assert first == list(itertools.islice(combinations(sizes), longest))


def test_combinations_of_many_symbols_come_at_once() -> None:
    sizes: dict[str, Sequence[int]] = {f"D{number}": range(1, 20) for number in range(12)}
    assert len(list(itertools.islice(combinations(sizes), 200))) == 200


@st.composite
def numbers(draw: st.DrawFn) -> list[Number]:
    """Up to three numbers, each with up to two symbols: equal ones, or one computed from the other."""
    found = []
    for name in "ABC"[: draw(st.integers(0, 3))]:
        symbols = [Symbol(name, (), (), name)]
        if draw(st.booleans()):
            symbols.append(Symbol(f"{name}2", (), (), name, draw(st.integers(1, 4)), draw(st.integers(0, 9))))
        found.append(Number(tuple(symbols), tuple(draw(CHOICES))))
    return found


@given(numbers(), TILES, st.integers(1, 12), st.integers(1, 4))
def test_shapes_are_legal_and_no_more_than_asked_for(
    found: list[Number], tiles: list[int], limit: int, divisor: int
) -> None:
    def is_wanted(sizes: Mapping[str, int]) -> bool:
        return sum(sizes.values()) % divisor == 0

    shapes = fitting(found, tiles, limit, is_wanted)
    assert len(shapes) <= limit
    assert all(is_wanted(each) for each in shapes)
    assert len({tuple(each.items()) for each in shapes}) == len(shapes)
    assert shapes == fitting(found, tiles, limit, is_wanted)
    for each in shapes:
        for number in found:
            first, *others = number.symbols
            size = each[first.name]
            assert any(size in choice for choice in number.choices)
            assert all(each[other.name] == other.scale * size + other.offset for other in others)


@given(numbers(), TILES, st.integers(2, 12))
def test_where_all_are_taken_the_ends_are_among_the_shapes(found: list[Number], tiles: list[int], limit: int) -> None:
    shapes = fitting(found, tiles, limit, lambda _: True)
    for number in found:
        name = number.symbols[0].name
        sizes = [each[name] for each in shapes]
        assert min(sizes) == min(choice[0] for choice in number.choices)
        assert max(sizes) == max(choice[-1] for choice in number.choices)
