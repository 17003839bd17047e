"""The bytes of elements as IREE keeps them in buffers, from numbers and back.

Little-endian; elements of less than a byte are packed, the first in the low bits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dispatchgen.iree.types import unsigned

Numbers: TypeAlias = npt.NDArray[Any]

_NUMPY: Mapping[str, np.dtype[Any]] = {
    "f16": np.dtype("<f2"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "complex<f32>": np.dtype("<c8"),
    "complex<f64>": np.dtype("<c16"),
    "i8": np.dtype("<i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "index": np.dtype("<i8"),
}
#: MLIR's small floats: f8E4M3FN, f8E5M2, f4E2M1FN... F: no infinities; N: NaN in one code; UZ: no negative zero.
_SMALL_FLOAT = re.compile(r"f(?P<bits>[48])E(?P<exponent>\d)M(?P<mantissa>\d)(?P<suffix>FNUZ|FN|)")


def element_bits(element: str) -> int | None:
    """Bits that an element takes; None where its bytes are not known, as of `i1`, which IREE packs or not."""
    if element in _NUMPY:
        return _NUMPY[element].itemsize * 8
    if element in ("bf16", "i4"):
        return int(element.lstrip("bfi"))
    if match := _SMALL_FLOAT.fullmatch(element):
        return int(match["bits"])
    return None


def numpy_type(element: str) -> np.dtype[Any] | None:
    """NumPy's type of an element, in the machine's byte order; None where it has none."""
    return _NUMPY[element].newbyteorder("=") if element in _NUMPY else None


def is_integer(element: str) -> bool:
    """Whether an element type holds integers."""
    return element == "index" or element.startswith("i")


@np.errstate(invalid="ignore")  # a signaling NaN
def decode(element: str, data: bytes) -> Numbers:
    """The numbers in `data`, as float64, complex128 or int64; bytes at the end that fill no element are left out."""
    count = len(data) * 8 // _bits(element)
    numbers: Numbers
    if element in _NUMPY:
        dtype = _NUMPY[element]
        numbers = np.frombuffer(data, dtype, count)
        return numbers.astype({"f": "f8", "c": "c16", "i": "i8"}[dtype.kind])
    if element == "bf16":
        numbers = np.frombuffer(data, "<u2", count).astype("<u4") << 16
        return numbers.view("<f4").astype("f8")
    numbers = np.frombuffer(data, np.uint8)
    if _bits(element) == 4:
        numbers = np.stack([numbers & 0xF, numbers >> 4], axis=-1).reshape(-1)
    if element == "i4":
        return numbers.astype("i8")
    table = _small_floats(element)
    return table[numbers]


@np.errstate(over="ignore")  # what is too large is infinite
def encode(element: str, numbers: Numbers) -> bytes:
    """The bytes of numbers: integers are masked to the type's width, floats are rounded."""
    if element == "i4":
        return _packed(numbers.astype("i8") & 0xF)
    if element == "bf16":
        return _bf16(numbers.astype("<f4")).tobytes()
    if _SMALL_FLOAT.fullmatch(element):
        codes = _nearest_codes(element, numbers)
        return _packed(codes) if _bits(element) == 4 else codes.astype(np.uint8).tobytes()
    return numbers.astype(_NUMPY[element]).tobytes()


def holds(element: str, number: float) -> bool:
    """Whether a float type has a finite number for this one, which is finite."""
    if _SMALL_FLOAT.fullmatch(element):
        table = _small_floats(element)
        return bool(abs(number) <= table[np.isfinite(table)].max())
    return bool(np.isfinite(decode(element, encode(element, np.array([float(number)])))[0]))


def largest_below(element: str, number: float) -> float:
    """The largest number of a float type that is less than this one, which the type holds."""
    bits = _bits(element)
    nearest = _code(element, number)
    value = _value(element, nearest)
    if value < number:
        return value
    sign = 1 << bits - 1
    if value == 0:
        return _value(element, sign | 1)
    return _value(element, nearest + 1 if nearest & sign else nearest - 1)


def _code(element: str, number: float) -> int:
    """The bits of the nearest number of a type."""
    data = encode(element, np.full(2, float(number)))
    return unsigned(int.from_bytes(data, "little"), _bits(element))


def _value(element: str, code: int) -> float:
    """The number of a type that has these bits."""
    return float(decode(element, code.to_bytes(max(_bits(element) // 8, 1), "little"))[0])


def _bf16(numbers: Numbers) -> Numbers:
    """The upper halves of f32 numbers, rounded to the nearest, ties to even; NaN stays NaN."""
    bits = numbers.view("<u4").astype("u8")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(numbers), bits >> 16 | 0x40, rounded).astype("<u2")


def _nearest_codes(element: str, numbers: Numbers) -> Numbers:
    """The codes of a small float type whose values are nearest; of what is too large, the largest finite one's."""
    table = _small_floats(element)
    codes = np.flatnonzero(np.isfinite(table))
    codes = codes[np.argsort(table[codes], kind="stable")]
    values = table[codes]
    above = np.clip(np.searchsorted(values, numbers), 1, len(values) - 1)
    return codes[np.where(numbers - values[above - 1] <= values[above] - numbers, above - 1, above)]


def _bits(element: str) -> int:
    bits = element_bits(element)
    assert bits is not None
    return bits


def _packed(codes: Numbers) -> bytes:
    """Two codes of four bits in each byte."""
    packed: Numbers = codes[0::2] | codes[1::2] << 4
    return packed.astype(np.uint8).tobytes()


@functools.cache
def _small_floats(element: str) -> Numbers:
    """The value of each code of a small float type."""
    match = _SMALL_FLOAT.fullmatch(element)
    assert match is not None
    exponent_bits, mantissa_bits, suffix = int(match["exponent"]), int(match["mantissa"]), match["suffix"]
    codes = np.arange(1 << int(match["bits"]))
    mantissa = codes & ((1 << mantissa_bits) - 1)
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    negative = codes >> (exponent_bits + mantissa_bits) == 1
    bias = (1 << (exponent_bits - 1)) - (0 if suffix == "FNUZ" else 1)
    significand = mantissa / (1 << mantissa_bits) + (exponent > 0)
    values = significand * 2.0 ** (np.maximum(exponent, 1) - bias)
    highest = exponent == (1 << exponent_bits) - 1
    if suffix == "FNUZ":
        values[negative & (values == 0)] = np.nan
    elif suffix == "":
        values[highest] = np.where(mantissa[highest] == 0, np.inf, np.nan)
    elif match["bits"] == "8":
        values[highest & (mantissa == (1 << mantissa_bits) - 1)] = np.nan
    table: Numbers = np.where(negative, -values, values)
    return table
