"""What the bindings of a kernel hold: element types, and where they begin."""

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.buffers.constants import scalar_value
from dispatchgen.iree import ir
from dispatchgen.iree.executable import element_of


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
        offset = scalar_value(subspan.operands[0], constants) if len(subspan.operands) else 0
        if element is None or offset is None or found.setdefault(offset, element) != element:
            return []
    ordered = sorted(found.items())
    return ordered[:1] if len(set(found.values())) == 1 and 0 in found else ordered


def is_dynamic(executable: ir.Operation, binding: int) -> bool:
    """Whether a kernel takes any number of elements for a binding."""
    return any(
        "?" in str(subspan.results[0].type)
        for subspan in ir.walk(executable, "hal.interface.binding.subspan")
        if ir.integer(subspan.attributes["binding"]) == binding
    )
