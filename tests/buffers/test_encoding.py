"""The bytes of elements, against other implementations of the same formats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.buffers import encoding

_SMALL = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
}
_ALL = [*_SMALL, "f4E2M1FN", "bf16", "f16", "f32", "f64", "i4", "i8", "i16", "i32", "i64", "index", "complex<f32>"]


@pytest.mark.parametrize("element", _SMALL)
def test_every_small_float_is_read(element: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    expected = codes.view(_SMALL[element]).astype("f8")
    assert np.array_equal(encoding.decode(element, codes.tobytes()), expected, equal_nan=True)


def test_floats_of_four_bits_are_packed() -> None:
    expected = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype("f8")
    packed = bytes(low | low + 1 << 4 for low in range(0, 16, 2))
    assert list(encoding.decode("f4E2M1FN", packed)) == list(expected)


@given(st.binary(max_size=64))
def test_bfloat_is_read(data: bytes) -> None:
    with np.errstate(invalid="ignore"):
        expected = np.frombuffer(data[: len(data) // 2 * 2], ml_dtypes.bfloat16).astype("f8")
    assert np.array_equal(encoding.decode("bf16", data), expected, equal_nan=True)


@pytest.mark.parametrize("element", _ALL)
@given(length=st.integers(0, 200), seed=st.integers(0, 5))
def test_random_elements_are_small_and_come_again(element: str, length: int, seed: int) -> None:
    bits = encoding.element_bits(element)
    assert bits is not None
    length -= length % max(bits // 8, 1)
    data = encoding.random_bytes(element, length, (seed, 7))
    assert len(data) == length
    assert data == encoding.random_bytes(element, length, (seed, 7))
    numbers = encoding.decode(element, data)
    assert len(numbers) == length * 8 // bits
    if encoding.is_integer(element):
        assert 0 not in numbers
        assert all(number in range(16) if element == "i4" else abs(number) <= 8 for number in numbers)
    else:
        assert all(abs(part) <= 1 for number in numbers for part in (number.real, number.imag))


def test_other_seeds_give_other_elements() -> None:
    assert len({encoding.random_bytes("f32", 64, (binding, 0)) for binding in range(20)}) == 20


@pytest.mark.parametrize("element", ["i4", "i8", "i64", "index"])
@pytest.mark.parametrize("bound", [1, 2, 7])
def test_bounded_integers_are_all_that_are_below(element: str, bound: int) -> None:
    numbers = encoding.decode(element, encoding.bounded_bytes(element, 512, (1,), bound))
    assert set(numbers) == set(range(bound))


def test_an_unknown_type_has_no_size() -> None:
    assert [encoding.element_bits(element) for element in ("i1", "i3", "f6E3M2FN", "!x")] == [None] * 4
