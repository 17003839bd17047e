"""The bytes of elements, against other implementations of the same formats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
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


@pytest.mark.parametrize("element", [*_SMALL, "bf16"])
@settings(max_examples=30)
@given(numbers=st.lists(st.floats(-200, 200), min_size=1, max_size=8))
def test_floats_are_rounded(element: str, numbers: list[float]) -> None:
    type_ = _SMALL.get(element, ml_dtypes.bfloat16)
    values = np.arange(256, dtype="u1").view(type_).astype("f8") if element in _SMALL else np.array([1e38])
    limit = values[np.isfinite(values)].max()
    clipped = np.clip(np.array(numbers), -limit, limit)
    written = encoding.decode(element, encoding.encode(element, clipped))
    nearest = clipped.astype("f4").astype(type_).astype("f8")
    # Of two that are as near, any may be taken.
    assert np.allclose(np.abs(written - clipped), np.abs(nearest - clipped), rtol=1e-6, atol=0)


def test_a_bfloat_that_is_not_a_number_stays_so() -> None:
    written = encoding.decode("bf16", encoding.encode("bf16", np.array([np.nan, np.inf, 1e39, -1.5])))
    assert np.array_equal(written, [np.nan, np.inf, np.inf, -1.5], equal_nan=True)


@pytest.mark.parametrize("element", ["i4", "i8", "i16", "i32", "i64", "index"])
def test_integers_are_masked(element: str) -> None:
    bits = encoding.element_bits(element)
    assert bits is not None
    numbers = np.array([-1, 1, -2, 5], "i8")
    written = encoding.decode(element, encoding.encode(element, numbers))
    assert [number % (1 << bits) for number in map(int, written)] == [number % (1 << bits) for number in (-1, 1, -2, 5)]


def test_an_unknown_type_has_no_size() -> None:
    assert [encoding.element_bits(element) for element in ("i1", "i3", "f6E3M2FN", "!x")] == [None] * 4
