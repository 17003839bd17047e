"""Scalar types as MLIR prints them, and the bytes of their values, little-endian.

Integers are unsigned and masked to their width.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass

_INDEX_BITS = 64


@dataclass(frozen=True)
class ScalarType:
    """Type of a scalar: `f` a float, `i` an integer or index."""

    kind: str
    bits: int

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return (self.bits + 7) // 8


def scalar_type(text: str) -> ScalarType | None:
    """The scalar type that MLIR prints as `text`; None where it is not a scalar."""
    if text == "index":
        return ScalarType("i", _INDEX_BITS)
    if match := re.fullmatch(r"[su]?i(\d+)", text):
        return ScalarType("i", int(match[1]))
    if match := re.fullmatch(r"(b?)f(\d+)", text):
        return ScalarType("bf" if match[1] else "f", int(match[2]))
    return None


def is_integer(element: str) -> bool:
    """Whether an element type holds integers."""
    type_ = scalar_type(element)
    return type_ is not None and type_.kind == "i"


def unsigned(value: int, bits: int) -> int:
    """`value` masked to `bits`."""
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    """`value` of `bits` read as two's complement."""
    value = unsigned(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


_FLOAT_FORMATS = {("f", 16): "<e", ("f", 32): "<f", ("f", 64): "<d"}


def to_bytes(value: int | float, type_: ScalarType) -> bytes:
    """The little-endian bytes of a scalar. Raises ValueError for a type whose bytes are not known here."""
    if type_.kind == "i":
        if not math.isfinite(value):
            raise ValueError(f"{value} is no integer")
        return unsigned(int(value), type_.bits).to_bytes(type_.bytes, "little")
    if (type_.kind, type_.bits) == ("bf", 16):
        return _bf16_bytes(value)
    if (type_.kind, type_.bits) in _FLOAT_FORMATS:
        return _packed(_FLOAT_FORMATS[type_.kind, type_.bits], value)
    raise ValueError(f"the bytes of {type_.kind}{type_.bits} are not known")


def _packed(format_: str, value: int | float) -> bytes:
    """A float's bytes; what is too large for the format is infinite."""
    try:
        return struct.pack(format_, value)
    except OverflowError:
        return struct.pack(format_, math.copysign(math.inf, value))


def _bf16_bytes(value: int | float) -> bytes:
    """The upper half of an f32, rounded to the nearest, ties to even."""
    (bits,) = struct.unpack("<I", _packed("<f", value))
    if not math.isnan(value):
        bits += 0x7FFF + (bits >> 16 & 1)
    return int(bits >> 16).to_bytes(2, "little")


def from_bytes(data: bytes, type_: ScalarType) -> int | float:
    """The scalar whose little-endian bytes these are. Raises ValueError as `to_bytes`."""
    if type_.kind == "i":
        return unsigned(int.from_bytes(data, "little"), type_.bits)
    if (type_.kind, type_.bits) == ("bf", 16):
        return float(struct.unpack("<f", b"\0\0" + data)[0])
    if (type_.kind, type_.bits) in _FLOAT_FORMATS:
        return float(struct.unpack(_FLOAT_FORMATS[type_.kind, type_.bits], data)[0])
    raise ValueError(f"the value of {type_.kind}{type_.bits} is not known")
