"""What the bindings of a kernel hold: element types, where they begin, and which integers are used as an index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatchgen.extract.scalars import is_integer, scalar_type, unsigned
from dispatchgen.iree import ir
from dispatchgen.iree.executable import element_of

_INDEX_CASTS = ("arith.index_cast", "arith.index_castui")
_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
#: Operations that take integers from memory as positions without a cast that is seen in this phase.
_INDEXING = re.compile(r"(iree_linalg_ext|iree_vector_ext|tensor|vector)\.\w*(gather|scatter)\w*")


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


def index_elements(executable: ir.Operation) -> frozenset[str]:
    """Element types of which the kernel uses what it loads as an index, or may do so."""
    found: set[str] = set()
    for op in ir.walk(executable):
        if op.name in _INDEX_CASTS and str(op.results[0].type) == "index":
            found |= _loaded(op.operands[0])
        elif _INDEXING.fullmatch(op.name):
            elements = [element_of(str(operand.type)) for operand in op.operands]
            found |= {element for element in elements if element is not None and is_integer(element)}
    return frozenset(found)


def boolean_elements(executable: ir.Operation) -> frozenset[str]:
    """Element types of which the kernel takes what it loads for a truth value, or shifts by that many bits.

    Right kernels may differ on values other than 0 and 1.
    """
    found: set[str] = set()
    for op in ir.walk(executable):
        if op.name == "arith.trunci" and str(op.results[0].type) == "i1":
            found |= _loaded(op.operands[0])
        elif op.name in _SHIFTS:
            found |= _loaded(op.operands[1])
    return frozenset(found)


def _loaded(value: ir.Value) -> set[str]:
    """Types of the values from memory that a value is computed from; no push constant or position is one."""
    from iree.compiler import ir as mlir

    found: set[str] = set()
    seen: set[ir.Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, mlir.Block) or not _is_scalar_arithmetic(owner):
            type_ = str(value.type)
            found |= {element_of(type_) or type_} - {"index"}
        elif owner.name != "hal.interface.constant.load":
            todo += owner.operands
    return found


def _is_scalar_arithmetic(op: ir.Operation) -> bool:
    return op.name.split(".")[0] in ("arith", "math", "affine") or op.name in (
        "hal.interface.constant.load",
        "util.assume.int",
        "iree_tensor_ext.dispatch.workload.ordinal",
    )
