"""What a program assumes of its sizes: the alternatives of `util.assume.int`, one per call site of a function."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dispatchgen.iree import ir

_ROW = re.compile(r"#util\.int\.assumption<([^>]*)>")
_BOUND = re.compile(r"(umin|umax|udiv) = (\d+)")


@dataclass(frozen=True)
class Assumption:
    """One alternative: a range, and a number that divides the value."""

    umin: int = 0
    umax: int | None = None
    udiv: int = 1

    def admits(self, value: int) -> bool:
        """Whether a value is in the range."""
        return self.umin <= value and (self.umax is None or value <= self.umax) and value % self.udiv == 0

    def __str__(self) -> str:
        text = f"at least {self.umin}" if self.umax is None else f"{self.umin} to {self.umax}"
        return text if self.udiv == 1 else f"{text}, a multiple of {self.udiv}"


def assumptions(operation: ir.Operation) -> list[tuple[Assumption, ...]]:
    """The alternatives of each operand of a `util.assume.int`; none: nothing is assumed of it.

    A value is legal if one of them admits it.
    """
    from iree.compiler import ir as mlir

    rows = mlir.ArrayAttr(operation.attributes["assumptions"])
    return [tuple(dict.fromkeys(_assumption(row) for row in _ROW.findall(str(of_operand)))) for of_operand in rows]


def _assumption(text: str) -> Assumption:
    bounds = {key: int(value) for key, value in _BOUND.findall(text)}
    return Assumption(bounds.get("umin", 0), bounds.get("umax"), bounds.get("udiv", 1) or 1)


def assumed(alternatives: tuple[Assumption, ...]) -> str:
    """The alternatives in words."""
    return " or ".join(map(str, alternatives))


def describe(value: ir.Value) -> str:
    """What a value is to a user: a dim of an input where it is one."""
    from iree.compiler import ir as mlir

    owner = value.owner
    if not isinstance(owner, mlir.Block) and owner.name == "hal.buffer_view.dim":
        source = owner.operands[0]
        if isinstance(source.owner, mlir.Block):
            return f"dim {ir.integer(owner.attributes['index'])} of input {mlir.BlockArgument(source).arg_number}"
    return "a value computed from the input shapes"
