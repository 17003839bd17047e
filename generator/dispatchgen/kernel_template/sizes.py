"""Sizes that a kernel computes from its push constants, as expressions for C and GLSL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dispatchgen.iree import ir

Operator = Literal["+", "-", "*", "/", "%", "|", "<<", ">>"]


@dataclass(frozen=True)
class Number:
    """A number."""

    value: int


@dataclass(frozen=True)
class PushConstant:
    """A push constant, an unsigned i32."""

    ordinal: int


@dataclass(frozen=True)
class Workload:
    """An argument of the workload, computed from push constants as `definition` says."""

    ordinal: int
    definition: Size


@dataclass(frozen=True)
class Variable:
    """A variable of the code that a size stands in."""

    name: str


@dataclass(frozen=True)
class Operation:
    """Unsigned arithmetic."""

    operator: Operator
    left: Size
    right: Size


Size = Number | PushConstant | Workload | Variable | Operation

#: Signed operations are among them: sizes are not negative.
_OPERATORS: dict[str, Operator] = {
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.divui": "/",
    "arith.divsi": "/",
    "arith.floordivsi": "/",
    "arith.remui": "%",
    "arith.remsi": "%",
    "arith.ori": "|",
    "arith.shli": "<<",
    "arith.shrui": ">>",
}
_CASTS = frozenset(("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "arith.index_castui"))


def read_size(value: ir.Value) -> Size | None:
    """The size that a value of a kernel is; None where it depends on more than push constants."""
    from iree.compiler import ir as mlir

    op = value.owner
    if isinstance(op, mlir.Block):
        return None
    if op.name == "arith.constant":
        return _number(ir.integer(op.attributes["value"]))
    if op.name == "hal.interface.constant.load":
        return PushConstant(ir.integer(op.attributes["ordinal"]))
    if op.name == "iree_tensor_ext.dispatch.workload.ordinal":
        definition = read_size(op.operands[0])
        return None if definition is None else Workload(ir.integer(op.attributes["ordinal"]), definition)
    if op.name == "util.assume.int":
        return read_size(op.operands[mlir.OpResult(value).result_number])
    if op.name in _CASTS:
        return read_size(op.operands[0])
    operands = [read_size(operand) for operand in op.operands]
    if op.name == "affine.apply":
        return _apply(mlir.AffineMapAttr(op.attributes["map"]).value, operands)
    if op.name in _OPERATORS and operands[0] is not None and operands[1] is not None:
        return Operation(_OPERATORS[op.name], operands[0], operands[1])
    return None


def _number(value: int) -> Number | None:
    """A number; None for a negative one, of which unsigned division would make something else."""
    return Number(value) if value >= 0 else None


def _apply(affine_map: Any, operands: Sequence[Size | None]) -> Size | None:
    """The only result of an affine map; dims come before symbols among its operands."""
    dims, symbols = operands[: affine_map.n_dims], operands[affine_map.n_dims :]
    return _affine(affine_map.results[0], dims, symbols)


def _affine(expression: Any, dims: Sequence[Size | None], symbols: Sequence[Size | None]) -> Size | None:
    from iree.compiler import ir as mlir

    match expression:
        case mlir.AffineConstantExpr():
            return _number(expression.value)
        case mlir.AffineDimExpr():
            return dims[int(expression.position)]
        case mlir.AffineSymbolExpr():
            return symbols[int(expression.position)]
    left = _affine(expression.lhs, dims, symbols)
    right = _affine(expression.rhs, dims, symbols)
    if left is None or right is None:
        return None
    match expression:
        case mlir.AffineAddExpr():
            return Operation("+", left, right)
        case mlir.AffineMulExpr():
            return Operation("*", left, right)
        case mlir.AffineModExpr():
            return Operation("%", left, right)
        case mlir.AffineFloorDivExpr():
            return Operation("/", left, right)
        case mlir.AffineCeilDivExpr():
            return Operation("/", Operation("+", left, Operation("-", right, Number(1))), right)
    return None


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes, with the numbers among them multiplied."""
    number = 1
    rest: Size | None = None
    for size in sizes:
        if isinstance(size, Number):
            number *= size.value
        else:
            rest = size if rest is None else Operation("*", rest, size)
    if rest is None or number == 0:
        return Number(number)
    return rest if number == 1 else Operation("*", rest, Number(number))


def workloads(size: Size) -> dict[int, Size]:
    """The arguments of the workload that a size is computed from, by ordinal, with their definitions."""
    match size:
        case Workload(ordinal, definition):
            return {**workloads(definition), ordinal: definition}
        case Operation(_, left, right):
            return {**workloads(left), **workloads(right)}
    return {}


#: How tightly operators bind, the same in C and GLSL.
_PRECEDENCE: dict[Operator, int] = {"|": 0, "<<": 1, ">>": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3}


def c_text(size: Size) -> str:
    """A size in C, of 64 bits; workload arguments are variables `workload<ordinal>`."""
    match size:
        case Number(value):
            return str(value) if value < 1 << 31 else f"UINT64_C({value})"
        case PushConstant(ordinal):
            return f"(uint64_t)constant{ordinal}"
        case Workload(ordinal, _):
            return f"workload{ordinal}"
        case Variable(name):
            return name
        case Operation(operator, left, right):
            return _infix(size, c_text(left), operator, c_text(right))


def glsl_text(size: Size) -> str:
    """A size in GLSL, of 32 bits, which is how far its arrays reach: of longer push constants the lower half counts."""
    match size:
        case Number(value):
            return f"{value & 0xFFFFFFFF}u"
        case PushConstant(ordinal):
            return f"constant{ordinal}"
        case Workload(ordinal, _):
            return f"workload{ordinal}"
        case Variable(name):
            return name
        case Operation("<<" | ">>", _, Number(value)) if value >= 32:
            return "0u"
        case Operation("|" | "+", left, right) if glsl_text(right) == "0u":
            return glsl_text(left)
        case Operation(operator, left, right):
            return _infix(size, glsl_text(left), operator, glsl_text(right))


def _infix(size: Operation, left: str, operator: Operator, right: str) -> str:
    """An operation of two texts, with parentheses where they are needed, and around operands of bitwise operators."""
    is_bitwise = operator in ("|", "<<", ">>")
    if isinstance(size.left, Operation) and " " in left and (is_bitwise or _binds(size.left) < _binds(size)):
        left = f"({left})"
    if isinstance(size.right, Operation) and " " in right and (is_bitwise or _binds(size.right) <= _binds(size)):
        right = f"({right})"
    return f"{left} {operator} {right}"


def _binds(size: Operation) -> int:
    return _PRECEDENCE[size.operator]
