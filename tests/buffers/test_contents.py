"""What bindings hold: recipes, their bytes and their words."""

from __future__ import annotations

import numpy as np
import pytest

from dispatchgen.buffers import contents, encoding
from dispatchgen.buffers.contents import ZEROS, Content, Given, Piece, are_of_any_size, check_given, filled
from dispatchgen.buffers.uses import UNKNOWN_BOUND
from dispatchgen.manifest.fills import Random, Splat, Zeros

_FLOATS = [Piece(0, "f32")]
_IDS = [Piece(0, "i64", 10)]


def _numbers(content: Content, element: str, length: int = 800) -> list[object]:
    return list(encoding.decode(element, content.data(length)))


def test_zeros_are_a_pattern() -> None:
    assert filled(Zeros(), [], 0) == ZEROS
    assert (ZEROS.pattern, ZEROS.data(3), str(ZEROS)) == (b"\0", bytes(3), "zeros")


@pytest.mark.parametrize(
    ("element", "value", "pattern"),
    [
        ("f32", 1.5, b"\0\0\xc0\x3f"),
        ("f16", 1.5, b"\0\x3e"),
        ("i8", -1, b"\xff"),
        ("i64", -1, b"\xff"),
        ("i64", 0, b"\0"),
        ("i64", 2**64 - 1, b"\xff"),
        ("i4", 3, b"\x33"),
        ("i64", 3, None),
        ("f64", 1.5, None),
    ],
)
def test_a_number_is_a_pattern_where_devices_fill_with_it(element: str, value: float, pattern: bytes | None) -> None:
    content = filled(Splat(value), [Piece(0, element)], 0)
    assert content.pattern == pattern
    numbers = _numbers(content, element, 32)
    assert len(set(numbers)) == 1
    if value < 2**63:
        assert numbers[0] == value
    assert str(content) == (f"{value} everywhere" if value else "zeros")


def test_random_data_is_per_binding_and_seed() -> None:
    every = [filled(Random(seed=seed), _FLOATS, ordinal) for seed in range(3) for ordinal in range(3)]
    assert len({content.data(64) for content in every}) == 9
    assert all(content.pattern is None for content in every)
    assert str(every[-1]) == "random f32, seed 2"


def test_a_shorter_content_is_the_beginning() -> None:
    content = filled(Random(), [Piece(0, "f32"), Piece(64, "i64", 5)], 1)
    assert content.data(400).startswith(content.data(160))


def test_positions_are_in_bounds_without_being_told() -> None:
    content = filled(Random(), _IDS, 0)
    assert set(_numbers(content, "i64")) == set(range(10))
    assert str(content) == "random positions from 0 to 9, seed 0"


def test_positions_of_unknown_bounds_are_zeros_unless_numbers_are_told() -> None:
    pieces = [Piece(0, "i32", UNKNOWN_BOUND)]
    assert str(filled(Random(), pieces, 0)) == "zeros (as positions of unknown bounds)"
    assert filled(Splat(4), pieces, 0, explicit=False).data(8) == bytes(8)
    assert set(_numbers(filled(Splat(4), pieces, 0), "i32")) == {4}
    assert set(_numbers(filled(Random(2, 3), pieces, 0), "i32")) == {2, 3}


def test_a_range_is_kept() -> None:
    assert set(_numbers(filled(Random(2, 4), _IDS, 0), "i64")) == {2, 3, 4}
    assert str(filled(Random(-1, 1, seed=7), _FLOATS, 0)) == "random f32 from -1 to 1, seed 7"


@pytest.mark.parametrize(
    ("fill", "piece", "message"),
    [
        (Splat(10), _IDS[0], "10 is out of bounds: the kernel needs positions from 0 to 9"),
        (Splat(-1), _IDS[0], "-1 is out of bounds: the kernel needs positions from 0 to 9"),
        (Random(-1, 5), _IDS[0], "-1 is out of bounds: the kernel needs positions from 0 to 9"),
        (Random(0, 10), _IDS[0], "10 is out of bounds: the kernel needs positions from 0 to 9"),
        (Splat(300), Piece(0, "i8"), "300 does not fit i8"),
        (Random(-5, 2**32 - 1), Piece(0, "i32"), "from -5 to 4294967295 is no range of i32, neither signed nor"),
        (Splat(0.5), Piece(0, "i32"), "0.5 is no integer; its elements are i32"),
        (Splat(1e39), Piece(0, "f32"), r"1e\+39 does not fit f32"),
        (Random(0, 1e39), Piece(0, "f32"), r"1e\+39 does not fit f32"),
        (Random(-500, 0), Piece(0, "f8E4M3FN"), "-500 does not fit f8E4M3FN"),
        (Random(-1e39, 0), Piece(0, "complex<f32>"), r"-1e\+39 does not fit complex<f32>"),
        (Splat(1), Piece(0, "i1"), "what i1 elements look like in memory is not known"),
    ],
)
def test_what_was_asked_for_a_binding_must_go_with_it(fill: Splat | Random, piece: Piece, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        filled(fill, [piece], 0)


def test_what_was_asked_for_any_binding_does_as_well_as_it_can() -> None:
    assert str(filled(Splat(0.5), [Piece(0, "i32")], 0, explicit=False)) == (
        "zeros (0.5 is no integer; its elements are i32)"
    )
    assert set(_numbers(filled(Random(-5, 50), _IDS, 0, explicit=False), "i64")) == set(range(10))
    assert str(filled(Random(0, 1e5), [Piece(0, "f16")], 0, explicit=False)) == (
        "random f16, seed 0 (100000.0 does not fit f16)"
    )
    assert str(filled(Random(), [], 0, explicit=False)) == "zeros (its element type is not known)"
    with pytest.raises(ValueError, match="its element type is not known"):
        filled(Random(), [], 0)


def test_pieces_hold_what_suits_each() -> None:
    pieces = [Piece(16, "f32"), Piece(64, "i32", 3)]
    content = filled(Random(), pieces, 0)
    data = content.data(100)
    assert data[:16] == bytes(16)
    assert np.abs(encoding.decode("f32", data[16:64])).max() <= 1
    assert set(encoding.decode("i32", data[64:])) == {0, 1, 2}
    assert str(content) == "random f32, seed 0; from byte 64 on random positions from 0 to 2, seed 0"
    assert filled(Splat(0), pieces, 0).pattern == b"\0"


def test_given_bytes_are_what_they_are() -> None:
    content = Content(given=Given("ids.npy", "abc", b"12345"))
    assert (content.data(5), content.data(8), content.pattern, str(content)) == (
        b"12345",
        b"12345\0\0\0",
        None,
        "ids.npy",
    )
    assert content == Content(given=Given("ids.npy", "abc", b""))
    assert content != Content(given=Given("ids.npy", "abd", b""))


def test_positions_that_are_given_are_checked() -> None:
    check_given(np.array([0, 9]), _IDS[0])
    check_given(np.array([], "i8"), _IDS[0])
    check_given(np.array([77]), Piece(0, "i64", UNKNOWN_BOUND))
    for wrong in ([3, 10], [3, -1]):
        message = f"element 1 is {wrong[1]}, the kernel needs positions from 0 to 9"
        with pytest.raises(ValueError, match=message):
            contents.check_given(np.array(wrong), _IDS[0])


@pytest.mark.parametrize(
    ("pieces", "unsized", "expected"),
    [
        (_FLOATS, _FLOATS, True),
        (_IDS, _IDS, True),
        (_IDS, [Piece(0, "i64", UNKNOWN_BOUND)], False),  # a table of that size
        ([Piece(0, "i64", UNKNOWN_BOUND)], [Piece(0, "i64", UNKNOWN_BOUND)], False),
        ([Piece(0, "f32"), Piece(64, "i64", 10)], [], False),  # an offset of that size
    ],
)
def test_what_suits_all_sizes(pieces: list[Piece], unsized: list[Piece], expected: bool) -> None:
    assert are_of_any_size(pieces, unsized) == expected


def test_equal_contents_are_one_whatever_they_had_to_fit() -> None:
    """So shapes share a region, although each has its bound."""
    small, large = [Piece(0, "i32", 10)], [Piece(0, "i32", 20)]
    assert filled(Splat(7), small, 0) == filled(Splat(7), large, 0)
    assert filled(Random(0, 5), small, 0) == filled(Random(0, 5), large, 0)
    assert filled(Random(), small, 0) != filled(Random(), large, 0)
