"""Scalar operations, against NumPy and the C semantics that MLIR documents."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.extract.scalars import evaluate
from dispatchgen.extract.values import Unknown
from dispatchgen.iree.types import ScalarType, from_bytes, scalar_type, signed, to_bytes, unsigned

I64, I32, I8, F32, F64 = (ScalarType(*t) for t in (("i", 64), ("i", 32), ("i", 8), ("f", 32), ("f", 64)))
u64 = st.integers(0, 2**64 - 1)
f32 = st.floats(width=32)

NUMPY = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxui": np.maximum,
    "minui": np.minimum,
}


@pytest.mark.parametrize("name", NUMPY)
@given(a=u64, b=u64)
def test_wrapping_integers(name: str, a: int, b: int) -> None:
    with np.errstate(over="ignore"):
        expected = int(NUMPY[name](np.uint64(a), np.uint64(b)))
    assert evaluate(f"arith.{name}", [a, b], I64, I64) == expected


@given(a=st.integers(-(2**63), 2**63 - 1), b=st.integers(-(2**63), 2**63 - 1).filter(bool))
def test_signed_division_rounds_as_its_name_says(a: int, b: int) -> None:
    def run(name: str) -> int:
        result = evaluate(name, [unsigned(a, 64), unsigned(b, 64)], I64, I64)
        assert isinstance(result, int)
        return signed(result, 64)

    quotient, remainder = run("arith.divsi"), run("arith.remsi")
    wrapped = (a, b) == (-(2**63), -1)  # the one quotient that does not fit
    assert wrapped or quotient == math.trunc(a / b) or quotient * b + remainder == a
    assert wrapped or (abs(remainder) < abs(b) and (remainder == 0 or (remainder < 0) == (a < 0)))
    assert wrapped or run("arith.floordivsi") == a // b
    assert wrapped or run("arith.ceildivsi") == -(-a // b)


@given(a=u64, b=st.integers(1, 2**64 - 1))
def test_unsigned_division(a: int, b: int) -> None:
    assert evaluate("arith.divui", [a, b], I64, I64) == a // b
    assert evaluate("arith.remui", [a, b], I64, I64) == a % b
    assert evaluate("arith.ceildivui", [a, b], I64, I64) == -(-a // b)


@pytest.mark.parametrize("name", ["divui", "divsi", "remui", "remsi", "ceildivui", "ceildivsi", "floordivsi"])
def test_division_by_zero_is_unknown(name: str) -> None:
    assert isinstance(evaluate(f"arith.{name}", [1, 0], I64, I64), Unknown)


@given(a=st.integers(0, 2**32 - 1), shift=st.integers(0, 31))
def test_shifts(a: int, shift: int) -> None:
    assert evaluate("arith.shli", [a, shift], I32, I32) == (a << shift) & 0xFFFFFFFF
    assert evaluate("arith.shrui", [a, shift], I32, I32) == a >> shift
    assert evaluate("arith.shrsi", [a, shift], I32, I32) == int(np.int32(signed(a, 32)) >> shift) & 0xFFFFFFFF


@given(a=u64, b=u64)
def test_integer_comparisons(a: int, b: int) -> None:
    x, y = signed(a, 64), signed(b, 64)
    expected = [a == b, a != b, x < y, x <= y, x > y, x >= y, a < b, a <= b, a > b, a >= b]
    assert [evaluate("arith.cmpi", [a, b], I64, ScalarType("i", 1), p) for p in range(10)] == expected


@given(a=f32, b=f32)
def test_float_comparisons(a: float, b: float) -> None:
    unordered = math.isnan(a) or math.isnan(b)
    relations = [a == b, a > b, a >= b, a < b, a <= b, not unordered and a != b]
    ordered = [False, *(r and not unordered for r in relations), not unordered]
    either = [*(r or unordered for r in relations), unordered, True]
    assert [evaluate("arith.cmpf", [a, b], F32, ScalarType("i", 1), p) for p in range(16)] == [*ordered, *either]


@given(a=f32, b=f32)
def test_f32_arithmetic_rounds_to_f32(a: float, b: float) -> None:
    for name, function in [("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide)]:
        with np.errstate(all="ignore"):
            expected = float(function(np.float32(a), np.float32(b)))
        result = evaluate(f"arith.{name}", [a, b], F32, F32)
        assert isinstance(result, float)
        assert result == expected or (math.isnan(result) and math.isnan(expected))


@given(value=st.integers(-128, 127))
def test_casts(value: int) -> None:
    stored = unsigned(value, 8)
    assert evaluate("arith.extsi", [stored], I8, I64) == unsigned(value, 64)
    assert evaluate("arith.extui", [stored], I8, I64) == stored
    assert evaluate("arith.index_cast", [unsigned(value, 64)], I64, I8) == stored
    assert evaluate("arith.trunci", [unsigned(value, 64)], I64, I8) == stored
    assert evaluate("arith.sitofp", [stored], I8, F32) == float(value)
    assert evaluate("arith.fptosi", [float(value)], F32, I8) == stored


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30, -129.0, 128.0])
def test_a_float_that_does_not_fit_is_unknown(value: float) -> None:
    assert isinstance(evaluate("arith.fptosi", [value], F32, I8), Unknown)


@given(a=f32)
def test_bitcast(a: float) -> None:
    bits = struct.unpack("<I", struct.pack("<f", a))[0]
    assert evaluate("arith.bitcast", [a], F32, I32) == bits
    back = evaluate("arith.bitcast", [bits], I32, F32)
    assert back == a or (isinstance(back, float) and math.isnan(back) and math.isnan(a))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("math.ceil", [1.2], 2.0),
        ("math.floor", [-1.2], -2.0),
        ("math.trunc", [-1.7], -1.0),
        ("math.round", [-2.5], -3.0),
        ("math.roundeven", [2.5], 2.0),
        ("math.sqrt", [9.0], 3.0),
        ("math.powf", [2.0, 10.0], 1024.0),
        ("math.log2", [8.0], 3.0),
    ],
)
def test_math(name: str, values: list[float], expected: float) -> None:
    assert evaluate(name, values, F32, F32) == expected


def test_an_operation_that_is_not_known_is_named() -> None:
    assert evaluate("math.erf", [0.5], F32, F32) == Unknown("the operation math.erf")
    assert evaluate("arith.mulsi_extended", [1, 2], I32, I32) == Unknown("the operation arith.mulsi_extended")
    assert isinstance(evaluate("math.sqrt", [-1.0], F32, F32), Unknown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("index", ScalarType("i", 64)),
        ("i1", ScalarType("i", 1)),
        ("si8", ScalarType("i", 8)),
        ("bf16", ScalarType("bf", 16)),
        ("f64", ScalarType("f", 64)),
        ("tensor<4xf32>", None),
        ("!hal.fence", None),
    ],
)
def test_scalar_type(text: str, expected: ScalarType | None) -> None:
    assert scalar_type(text) == expected


@given(value=st.one_of(st.integers(0, 2**64 - 1), st.floats(allow_nan=False)))
def test_bytes_round_trip(value: int | float) -> None:
    type_ = I64 if isinstance(value, int) else F64
    assert from_bytes(to_bytes(value, type_), type_) == value


@given(value=st.floats(width=16, allow_nan=False))
def test_half_and_bfloat_bytes(value: float) -> None:
    half, bfloat = ScalarType("f", 16), ScalarType("bf", 16)
    assert from_bytes(to_bytes(value, half), half) == value
    kept = from_bytes(to_bytes(value, bfloat), bfloat)
    assert abs(kept - value) <= abs(value) / 256 or math.isinf(value), "the nearest"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.00690625, 1.0078125), (1.00390625, 1.0), (1.01171875, 1.015625), (1e39, math.inf), (-1e39, -math.inf)],
)
def test_bfloat_rounds_to_the_nearest_ties_to_even(value: float, expected: float) -> None:
    bfloat = ScalarType("bf", 16)
    assert from_bytes(to_bytes(value, bfloat), bfloat) == expected
    assert math.isnan(from_bytes(to_bytes(math.nan, bfloat), bfloat))
