"""The workload of a dispatch, from its push constants: what the kernel itself makes of them.

A recording has the push constants but not the workload. IREE's kernels say which of the values that they compute from
push constants are workload operands (`iree_tensor_ext.dispatch.workload.ordinal`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dispatchgen.errors import ShapeError
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator, Frame, Handler, Op
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.values import HostValue, Unknown
from dispatchgen.iree import ir

_ORDINAL = "iree_tensor_ext.dispatch.workload.ordinal"
_CONSTANT = "hal.interface.constant.load"


def workload_of(program: Program, export: Export, constants: Sequence[int]) -> tuple[int, ...] | Unknown:
    """The workload operands of a dispatch with these push constants (unsigned i32), or why they cannot be told."""
    fixed = _fixed_workload(program, export)
    if fixed is None:
        return Unknown("the workload differs in number between the places that dispatch it")
    ordinals = {ir.integer(op.attributes["ordinal"]): op for op in ir.walk(_kernel(export), _ORDINAL)}
    evaluator = Evaluator(program, {**HANDLERS, **_handlers(constants)})
    workload: list[int] = []
    frame: Frame = {}
    for ordinal, value in enumerate(fixed):
        found: HostValue = Unknown(f"workload operand {ordinal}") if value is None else value
        if ordinal in ordinals:
            try:
                found = _evaluate(evaluator, ordinals[ordinal].operands[0], frame)
            except ShapeError as error:
                return Unknown(error.problems[0].message)
        if not isinstance(found, int):
            reason = found.reason if isinstance(found, Unknown) else f"the value {found}"
            return Unknown(f"the kernel computes workload operand {ordinal} from {reason}")
        workload.append(found)
    return tuple(workload)


def _fixed_workload(program: Program, export: Export) -> list[int | None] | None:
    """Per workload operand the constant that it is at all places that dispatch the export; None: it is computed.

    None instead of a list where the places do not agree in number.
    """
    places = [
        [_constant(value) for value in site.operation.opview.workload]
        for site in program.sites
        if (site.executable, site.export) == (export.executable, export.name)
    ]
    if len({len(place) for place in places}) != 1:
        return None
    return [values[0] if len(set(values)) == 1 else None for values in zip(*places, strict=True)]


def _constant(value: ir.Value) -> int | None:
    from iree.compiler import ir as mlir

    owner = value.owner
    if isinstance(owner, mlir.Block) or owner.name != "arith.constant":
        return None
    return ir.integer(owner.attributes["value"])


def _kernel(export: Export) -> ir.Operation:
    """The function that an export runs; the whole executable where there is none of its name."""
    functions = [op for op in ir.walk(export.executable_op) if op.name.endswith(".func") and "sym_name" in op.attributes]
    return next((op for op in functions if ir.symbol(op) == export.name), export.executable_op)


def _handlers(constants: Sequence[int]) -> Mapping[str, Handler]:
    def load(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
        ordinal = ir.integer(op.operation.attributes["ordinal"])
        return [constants[ordinal] if ordinal < len(constants) else Unknown(f"push constant {ordinal}")]

    def same(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
        return [frame[op.operands[0]]]

    return {_CONSTANT: load, _ORDINAL: same}


def _evaluate(evaluator: Evaluator, value: ir.Value, frame: Frame) -> HostValue:
    """The value of a result in a kernel. Operations that only the device can do give unknown values."""
    from iree.compiler import ir as mlir

    if value in frame:
        return frame[value]
    if isinstance(value.owner, mlir.Block):
        return Unknown("an argument of a block")
    op = Op(value.owner)
    for operand in op.operands:
        frame[operand] = _evaluate(evaluator, operand, frame)
    evaluator.run_op(op, frame)
    return frame[value]
