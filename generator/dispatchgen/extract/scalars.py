"""Evaluation of the scalar operations of `arith`, `math` and `affine` on concrete values.

Integers are unsigned and masked to their width, as `values` says; semantics are those of the dialects' documentation.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from dispatchgen.extract.values import Overflow, Scalar, Unknown
from dispatchgen.iree.types import ScalarType, from_bytes, signed, to_bytes, unsigned


def _rounded(value: float, type_: ScalarType) -> float:
    return float(from_bytes(to_bytes(value, type_), type_))


def _truncating_division(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _truncating_remainder(a: int, b: int) -> int:
    return a - _truncating_division(a, b) * b


def _shift_left(a: int, b: int) -> int:
    return a << b if b < 1024 else 0


_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "shli": _shift_left,
    "shrui": operator.rshift,
    "divui": operator.floordiv,
    "remui": operator.mod,
    "ceildivui": lambda a, b: -(-a // b),
    "maxui": max,
    "minui": min,
}
_SIGNED: dict[str, Callable[[int, int], int]] = {
    "divsi": _truncating_division,
    "remsi": _truncating_remainder,
    "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": operator.floordiv,
    "maxsi": max,
    "minsi": min,
}
#: By the number of `arith.cmpi`'s predicate.
_INTEGER_COMPARISONS: list[tuple[bool, Callable[[int, int], bool]]] = [
    (False, operator.eq),
    (False, operator.ne),
    (True, operator.lt),
    (True, operator.le),
    (True, operator.gt),
    (True, operator.ge),
    (False, operator.lt),
    (False, operator.le),
    (False, operator.gt),
    (False, operator.ge),
]


def _ieee_max(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _ieee_min(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def _number_max(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def _number_min(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def _ieee_division(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


_FLOAT: dict[str, Callable[[float, float], float]] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": _ieee_division,
    "remf": math.fmod,
    "maximumf": _ieee_max,
    "minimumf": _ieee_min,
    "maxnumf": _number_max,
    "minnumf": _number_min,
}
#: Relation of the ordered and unordered predicates of `arith.cmpf`, in the order of their numbers (1..6 and 8..13).
_FLOAT_COMPARISONS: list[Callable[[float, float], bool]] = [
    operator.eq,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
    operator.ne,
]
_MATH: dict[str, Callable[..., float]] = {
    "math.absf": abs,
    "math.ceil": lambda x: float(math.ceil(x)),
    "math.floor": lambda x: float(math.floor(x)),
    "math.trunc": lambda x: float(math.trunc(x)),
    "math.roundeven": lambda x: float(round(x)),
    "math.round": lambda x: float(math.copysign(math.floor(abs(x) + 0.5), x)),
    "math.sqrt": math.sqrt,
    "math.rsqrt": lambda x: 1 / math.sqrt(x),
    "math.exp": math.exp,
    "math.exp2": lambda x: 2.0**x,
    "math.log": math.log,
    "math.log2": math.log2,
    "math.log10": math.log10,
    "math.powf": math.pow,
    "math.fma": lambda a, b, c: a * b + c,
    "math.copysign": math.copysign,
}


def _compare_floats(predicate: int, a: float, b: float) -> int:
    unordered = math.isnan(a) or math.isnan(b)
    if predicate in (0, 15):
        return int(predicate == 15)
    if predicate in (7, 14):
        return int(unordered == (predicate == 14))
    if predicate <= 6:
        return int(not unordered and _FLOAT_COMPARISONS[predicate - 1](a, b))
    return int(unordered or _FLOAT_COMPARISONS[predicate - 8](a, b))


def _convert(name: str, value: Any, source: ScalarType, target: ScalarType) -> Scalar | None:
    """The casts of `arith`; None where `name` is none of them."""
    if name in ("index_cast", "extsi"):
        return unsigned(signed(value, source.bits), target.bits)
    if name in ("index_castui", "extui", "trunci"):
        return unsigned(value, target.bits)
    if name == "sitofp":
        return _rounded(float(signed(value, source.bits)), target)
    if name == "uitofp":
        return _rounded(float(value), target)
    if name in ("extf", "truncf"):
        return _rounded(value, target)
    if name in ("fptosi", "fptoui"):
        low, high = (-(1 << target.bits - 1), 1 << target.bits - 1) if name == "fptosi" else (0, 1 << target.bits)
        if math.isfinite(value) and low <= math.trunc(value) < high:
            return unsigned(math.trunc(value), target.bits)
        return Unknown(f"arith.{name} of {value}, which does not fit")
    if name == "bitcast":
        return from_bytes(to_bytes(value, source), target)
    return None


def _arith(
    name: str, values: Sequence[Any], source: ScalarType, target: ScalarType, predicate: int | None
) -> Scalar | None:
    if name in _UNSIGNED:
        return unsigned(_UNSIGNED[name](*values), source.bits)
    if name in _SIGNED:
        return unsigned(_SIGNED[name](*(signed(value, source.bits) for value in values)), source.bits)
    if name == "shrsi":
        return unsigned(signed(values[0], source.bits) >> values[1], source.bits)
    if name in _FLOAT:
        return _rounded(_FLOAT[name](*values), target)
    if name == "negf":
        return -float(values[0])
    if name == "cmpi" and predicate is not None:
        is_signed, compare = _INTEGER_COMPARISONS[predicate]
        a, b = (signed(value, source.bits) for value in values) if is_signed else values
        return int(compare(a, b))
    if name == "cmpf" and predicate is not None:
        return _compare_floats(predicate, *values)
    return _convert(name, values[0], source, target) if len(values) == 1 else None


def evaluate(
    name: str, values: Sequence[Any], source: ScalarType, target: ScalarType, predicate: int | None = None
) -> Scalar:
    """The result of a scalar operation on known operands.

    Args:
      name: The operation, e.g. `arith.addi`.
      values: Its operands.
      source: Type of the first operand.
      target: Type of the result.
      predicate: Number of the predicate of `arith.cmpi` and `arith.cmpf`.

    Returns:
      The value, or Unknown where the operation is not known or not defined on these operands.
    """
    try:
        if name.startswith("arith."):
            result = _arith(name.removeprefix("arith."), values, source, target, predicate)
        elif name == "math.absi":
            result = unsigned(abs(signed(values[0], source.bits)), target.bits)
        elif name == "math.ipowi":
            base, exponent = (signed(value, source.bits) for value in values)
            result = unsigned(base**exponent, target.bits) if 0 <= exponent <= 64 else None
        elif name in _MATH:
            result = _rounded(_MATH[name](*values), target)
        else:
            result = None
    except (ArithmeticError, ValueError) as error:
        return Unknown(f"{name} ({error})")
    return Unknown(f"the operation {name}") if result is None else result


#: Operations whose result may not fit.
_ARITHMETIC: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "arith.addi": ("+", operator.add),
    "arith.subi": ("-", operator.sub),
    "arith.muli": ("x", operator.mul),
}


def index_arithmetic(name: str, values: Sequence[Any]) -> int | Overflow | None:
    """The result of an operation on values of type `index`; None where it cannot be too large.

    An index is a size or a place in memory, and means nothing where it wraps; other integers may be meant to.
    """
    if name not in _ARITHMETIC:
        return None
    sign, operation = _ARITHMETIC[name]
    a, b = (signed(value, 64) for value in values)
    return checked_index(operation(a, b), f"{a} {sign} {b}")


def checked_index(value: int, text: str) -> int | Overflow:
    """An `index` of this value, which is that of `text`, for people."""
    if -(1 << 63) <= value < 1 << 63:
        return unsigned(value, 64)
    return Overflow(f"a size that does not fit 64 bits ({text})")


def evaluate_affine(affine_map: Any, values: Sequence[int]) -> list[int] | Unknown:
    """The results of an `AffineMap` (of the Python bindings) on signed dims, then symbols."""
    from iree.compiler import ir

    dims, symbols = values[: affine_map.n_dims], values[affine_map.n_dims :]
    binary: list[tuple[Any, Callable[[int, int], int]]] = [
        (ir.AffineAddExpr, operator.add),
        (ir.AffineMulExpr, operator.mul),
        (ir.AffineModExpr, operator.mod),
        (ir.AffineFloorDivExpr, operator.floordiv),
        (ir.AffineCeilDivExpr, lambda a, b: -(-a // b)),
    ]

    def value(expression: Any) -> int:
        if isinstance(expression, ir.AffineConstantExpr):
            return int(expression.value)
        if isinstance(expression, ir.AffineDimExpr):
            return dims[int(expression.position)]
        if isinstance(expression, ir.AffineSymbolExpr):
            return symbols[int(expression.position)]
        for kind, function in binary:
            if isinstance(expression, kind):
                return function(value(expression.lhs), value(expression.rhs))
        raise ValueError(f"affine expression {expression}")

    try:
        return [value(expression) for expression in affine_map.results]
    except (ArithmeticError, ValueError) as error:
        return Unknown(str(error))
