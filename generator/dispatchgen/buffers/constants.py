"""Scalars of kernels that depend on push constants alone: offsets of bindings, sizes of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.iree import ir
from dispatchgen.iree.types import scalar_type, unsigned

#: Operations whose result is their first operand, in its own width.
_SAME = frozenset(
    {
        "arith.extui",
        "arith.index_cast",
        "arith.index_castui",
        "arith.trunci",
        "iree_tensor_ext.dispatch.workload.ordinal",
    }
)


def scalar_value(value: ir.Value, constants: Sequence[int]) -> int | None:
    """The unsigned value of a scalar; None where it depends on more than push constants, or that cannot be told.

    Args:
      value: The scalar.
      constants: Values of the push constants, unsigned.
    """
    from iree.compiler import ir as mlir

    owner = value.owner
    if isinstance(owner, mlir.Block):
        return None
    if owner.name == "arith.constant":
        return unsigned(ir.integer(owner.attributes["value"]), 64)
    if owner.name == "hal.interface.constant.load":
        ordinal = ir.integer(owner.attributes["ordinal"])
        return constants[ordinal] if ordinal < len(constants) else None
    if owner.name == "util.assume.int":
        return scalar_value(owner.operands[mlir.OpResult(value).result_number], constants)
    operands = [scalar_value(operand, constants) for operand in owner.operands]
    known = [operand for operand in operands if operand is not None]
    type_ = scalar_type(str(value.type))
    if len(known) != len(operands) or type_ is None:
        return None
    result = _result(owner.name, known)
    return None if result is None else unsigned(result, type_.bits)


def _result(name: str, operands: Sequence[int]) -> int | None:
    """The result of an operation on unsigned numbers; None where it is not known here."""
    if name in _SAME:
        return operands[0]
    match name, operands:
        case "arith.addi", [left, right]:
            return left + right
        case "arith.subi", [left, right]:
            return left - right
        case "arith.muli", [left, right]:
            return left * right
        case "arith.ori", [left, right]:
            return left | right
        case "arith.shli", [left, right]:
            return left << right
        case "arith.divui", [left, right] if right:
            return left // right
    return None
