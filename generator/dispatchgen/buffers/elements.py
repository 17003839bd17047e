"""What the bindings of a kernel hold: element types, and where they begin."""

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.iree import ir
from dispatchgen.iree.executable import element_of
from dispatchgen.iree.types import scalar_type, unsigned


def pieces(executable: ir.Operation, binding: int, constants: Sequence[int]) -> list[tuple[int, str]]:
    """Where a binding's elements begin, in bytes, and of which type they are, in order.

    Args:
      executable: The operation, or a part of it that holds the kernel.
      binding: Ordinal of the binding.
      constants: Values of the push constants, unsigned.

    Returns:
      Nothing where the kernel does not use the binding, or that cannot be told.
    """
    found: dict[int, str] = {}
    for subspan in ir.walk(executable, "hal.interface.binding.subspan"):
        if ir.integer(subspan.attributes["binding"]) != binding:
            continue
        element = element_of(str(subspan.results[0].type))
        offset = _value(subspan.operands[0], constants) if len(subspan.operands) else 0
        if element is None or offset is None or found.setdefault(offset, element) != element:
            return []
    ordered = sorted(found.items())
    return ordered[:1] if len(set(found.values())) == 1 and 0 in found else ordered


def _value(value: ir.Value, constants: Sequence[int]) -> int | None:
    """A scalar that depends on push constants alone; None where it cannot be told."""
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
        return _value(owner.operands[mlir.OpResult(value).result_number], constants)
    operands = [_value(operand, constants) for operand in owner.operands]
    known = [operand for operand in operands if operand is not None]
    if len(known) != len(operands):
        return None
    type_ = scalar_type(str(value.type))
    match owner.name, known:
        case ("arith.extui" | "arith.trunci" | "arith.index_castui" | "arith.index_cast", [one]):
            result = one
        case "arith.addi", [left, right]:
            result = left + right
        case "arith.muli", [left, right]:
            result = left * right
        case "arith.ori", [left, right]:
            result = left | right
        case "arith.shli", [left, right]:
            result = left << right
        case _:
            return None
    return None if type_ is None else unsigned(result, type_.bits)
