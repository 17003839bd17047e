"""The workload of a dispatch, from its push constants: what the kernel itself makes of them.

A recording has the push constants but not the workload. IREE's kernels say which of the values that they compute from
push constants are workload operands (`iree_tensor_ext.dispatch.workload.ordinal`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.errors import ShapeError
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator, Frame, Op
from dispatchgen.extract.interface import interface_of
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.values import HostValue, Unknown
from dispatchgen.iree import ir
from dispatchgen.iree.executable import function_of

_ORDINAL = "iree_tensor_ext.dispatch.workload.ordinal"
_CONSTANT = "hal.interface.constant.load"


class Workloads:
    """Computes workloads of a program's dispatches."""

    def __init__(self, program: Program):
        self._program = program
        self._constants: Sequence[int] = ()
        self._evaluator = Evaluator(program, {**HANDLERS, _CONSTANT: self._load, _ORDINAL: _identity})

    def of(self, export: Export, constants: Sequence[int]) -> tuple[int, ...] | Unknown:
        """The workload operands of a dispatch with these push constants (unsigned i32), or why they cannot be told."""
        interface = interface_of(self._program, export.executable, export.name)
        if interface is None:
            return Unknown("no place in the program dispatches it, or not all in the same way")
        self._constants = constants
        ordinals = {
            ir.integer(op.attributes["ordinal"]): op
            for op in ir.walk(function_of(export.executable_op, export.name), _ORDINAL)
        }
        workload: list[int] = []
        frame: Frame = {}
        for ordinal, constant in enumerate(interface.workload):
            value: HostValue = Unknown("what it does not say") if constant is None else constant
            if ordinal in ordinals:
                try:
                    value = self._evaluate(ordinals[ordinal].operands[0], frame)
                except ShapeError as error:
                    return Unknown(error.problems[0].message)
            if not isinstance(value, int):
                reason = value.reason if isinstance(value, Unknown) else str(value)
                return Unknown(f"the kernel computes operand {ordinal} of its workload from {reason}")
            workload.append(value)
        return tuple(workload)

    def _load(self, evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG002
        ordinal = ir.integer(op.operation.attributes["ordinal"])
        return [self._constants[ordinal] if ordinal < len(self._constants) else Unknown(f"push constant {ordinal}")]

    def _evaluate(self, value: ir.Value, frame: Frame) -> HostValue:
        """A value of a kernel. What operations give that only the device can do is unknown."""
        from iree.compiler import ir as mlir

        if value in frame:
            return frame[value]
        if isinstance(value.owner, mlir.Block):
            return Unknown("an argument of a block")
        op = Op(value.owner)
        for operand in op.operands:
            frame[operand] = self._evaluate(operand, frame)
        self._evaluator.run_op(op, frame)
        return frame[value]


def _identity(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    return [frame[op.operands[0]]]
