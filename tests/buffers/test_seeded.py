"""Seeded random elements."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dispatchgen.buffers import encoding, seeded

_ALL = ["f8E4M3FN", "f4E2M1FN", "bf16", "f16", "f32", "f64", "i4", "i8", "i16", "i32", "i64", "index", "complex<f32>"]


def _whole(element: str, length: int) -> int:
    """The length without what fills no element."""
    bits = encoding.element_bits(element)
    assert bits is not None
    return length - length % max(bits // 8, 1)


@pytest.mark.parametrize("element", _ALL)
@settings(max_examples=20)
@given(length=st.integers(0, 200), seed=st.integers(0, 5))
def test_elements_are_small_and_come_again(element: str, length: int, seed: int) -> None:
    length = _whole(element, length)
    data = seeded.random_bytes(element, length, (seed, 7))
    assert len(data) == length
    assert data == seeded.random_bytes(element, length, (seed, 7))
    numbers = encoding.decode(element, data)
    if encoding.is_integer(element):
        assert 0 not in numbers
        assert all(number in range(16) if element == "i4" else abs(number) <= 8 for number in numbers)
    else:
        assert all(abs(part) <= 1 for number in numbers for part in (number.real, number.imag))


@pytest.mark.parametrize("element", _ALL)
@settings(max_examples=20)
@given(short=st.integers(0, 100), more=st.integers(0, 100))
def test_what_is_shorter_is_the_beginning(element: str, short: int, more: int) -> None:
    short, long = _whole(element, short), _whole(element, short + more)
    assert seeded.random_bytes(element, long, (1,))[:short] == seeded.random_bytes(element, short, (1,))
    assert seeded.range_bytes(element, long, (1,), 0, 6)[:short] == seeded.range_bytes(element, short, (1,), 0, 6)


def test_pieces_of_large_data_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [seeded.random_bytes(element, 480, (3,)) for element in _ALL]
    monkeypatch.setattr(seeded, "_CHUNK", 6)
    assert [seeded.random_bytes(element, 480, (3,)) for element in _ALL] == expected


def test_other_seeds_give_other_elements() -> None:
    assert len({seeded.random_bytes("f32", 64, (binding, 0)) for binding in range(20)}) == 20


def test_the_numbers_are_those_of_every_release() -> None:
    """They are written down: a change makes results of different days incomparable."""
    data = seeded.random_bytes("f32", 1 << 10, (0, 1)) + seeded.range_bytes("i64", 1 << 10, (0, 1), 0, 99)
    assert hashlib.sha256(data).hexdigest() == "649e93195be8b04d92af1fe5eabb0b750e4a443baa224346188d8b9ae266f6d2"


@pytest.mark.parametrize("element", ["i4", "i8", "i64", "index"])
@pytest.mark.parametrize("bound", [1, 2, 7])
def test_integers_of_a_range_are_all_of_it(element: str, bound: int) -> None:
    numbers = encoding.decode(element, seeded.range_bytes(element, 512, (1,), 0, bound - 1))
    assert set(numbers) == set(range(bound))


def test_the_widest_range_is_all_integers() -> None:
    numbers = encoding.decode("i64", seeded.range_bytes("i64", 8 << 10, (1,), -(1 << 63), (1 << 63) - 1))
    assert numbers.min() < -(1 << 62) and numbers.max() > 1 << 62
    assert encoding.decode("i64", seeded.range_bytes("i64", 64, (1,), -(1 << 63), -(1 << 63))).max() == -(1 << 63)


@pytest.mark.parametrize("element", ["f32", "bf16", "f64", "complex<f32>", "f8E4M3FN"])
def test_floats_of_a_range_are_in_it(element: str) -> None:
    numbers = encoding.decode(element, seeded.range_bytes(element, 1 << 10, (1,), 2, 5))
    parts = np.concatenate([numbers.real, numbers.imag]) if element.startswith("complex") else numbers
    assert 2 <= parts.min() < 2.2 and 4.4 < parts.max() < 5


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2FNUZ", "f4E2M1FN", "bf16", "f16", "f32", "f64"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 0), (-5, -2), (3, 3), (1.001, 1.002)])
def test_the_end_of_a_range_is_no_element(element: str, low: float, high: float) -> None:
    numbers = encoding.decode(element, seeded.range_bytes(element, 1 << 12, (1,), low, high))
    # No small type has a number of the narrow range: the nearest is taken.
    assert numbers.min() >= (low if low == int(low) else 1)
    assert numbers.max() < high or low == high


@pytest.mark.parametrize(
    ("element", "largest"),
    [("bf16", (2 - 2**-7) * 2.0**127), ("f16", 65504), ("f32", (2 - 2**-23) * 2.0**127), ("f64", sys.float_info.max)],
)
def test_the_widest_ranges_of_floats_are_finite(element: str, largest: float) -> None:
    numbers = encoding.decode(element, seeded.range_bytes(element, 1 << 12, (1,), -largest, largest))
    assert np.isfinite(numbers).all()
    assert numbers.min() < -largest / 2 and largest / 2 < numbers.max() < largest
    assert encoding.holds(element, largest) and encoding.holds(element, -largest)
    assert element == "f64" or not encoding.holds(element, largest * 1.01)
