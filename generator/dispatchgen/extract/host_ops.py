"""What the operations of `util`, `hal`, `cf` and `affine` in a host program do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dispatchgen.errors import Problem, ShapeError
from dispatchgen.extract import scalars
from dispatchgen.extract.assumptions import Assumption, assumed, assumptions, describe
from dispatchgen.extract.evaluator import Evaluator, Frame, Handler, Op, forget
from dispatchgen.extract.values import BufferView, HostValue, Resource, Storage, Unknown
from dispatchgen.iree import ir, types


def _call(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:
    return evaluator.call(ir.symbol_ref(op.operation.attributes["callee"])[0], [frame[value] for value in op.operands])


def _global_load(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    name = ir.symbol_ref(op.operation.attributes["global"])[0]
    value = evaluator.globals[name]
    if isinstance(value, Unknown) and op.is_resource[0]:
        value = evaluator.globals[name] = Resource(value, Storage(value))
    return [value]


def _global_store(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:
    evaluator.globals[ir.symbol_ref(op.operation.attributes["global"])[0]] = frame[op.operands[0]]
    return []


def _identity(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    return [frame[value] for value in op.operands[: len(op.results)]]


def _assume_int(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:
    """`util.assume.int`: a value is legal if one of its alternatives admits it."""
    for operand, alternatives in zip(op.operands, op.once("assumptions", _assumptions), strict=True):
        value = frame[operand]
        if isinstance(value, int) and alternatives and not any(each.admits(value) for each in alternatives):
            legal = f"the program assumes {assumed(alternatives)} (util.assume.int)"
            raise ShapeError(Problem(f"{describe(operand)} is {value}; {legal}"))
    return _identity(evaluator, op, frame)


def _assumptions(op: Op) -> list[tuple[Assumption, ...]]:
    return assumptions(op.operation)


def _assert(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    if frame[op.operands[0]] == 0:
        raise ShapeError(Problem(f"the program's own check fails: {ir.string(op.operation, 'msg')} (cf.assert)"))
    return []


def _select(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    condition, if_true, if_false = (frame[operand] for operand in op.operands)
    if if_true == if_false:
        return [if_true]
    if isinstance(condition, Unknown):
        # Either resource may be written through the result, and neither can be told.
        forget([if_true, if_false], condition)
        return op.unknown_results(condition)
    return [if_true if condition else if_false]


def _align(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    value, alignment = (frame[operand] for operand in op.operands)
    for operand in (value, alignment):
        if isinstance(operand, Unknown):
            return [operand]
    assert isinstance(value, int) and isinstance(alignment, int)
    if not alignment:
        return [Unknown("util.align to 0")]
    aligned = -(-types.signed(value, 64) // alignment) * alignment
    return [scalars.checked_index(aligned, f"{value} aligned to {alignment}")]


def _dim(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    view, index = frame[op.operands[0]], ir.integer(op.operation.attributes["index"])
    if isinstance(view, BufferView) and index < len(view.shape):
        return [view.shape[index]]
    return [view if isinstance(view, Unknown) else Unknown(f"dim {index} of a buffer view")]


def _rank(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    view = frame[op.operands[0]]
    return [len(view.shape) if isinstance(view, BufferView) else Unknown("the rank of a buffer view")]


def _view_assert(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    view = op.value(frame, "buffer_view")
    wanted = [frame[value] for value in op.named("shape")]
    if isinstance(view, BufferView):
        fits = len(view.shape) == len(wanted) and all(
            isinstance(w, Unknown) or w == d for w, d in zip(wanted, view.shape, strict=True)
        )
        if not fits:
            expected = "x".join("?" if isinstance(w, Unknown) else str(w) for w in wanted)
            found = "x".join(str(d) for d in view.shape)
            raise ShapeError(
                Problem(f"{view.name} has the shape {found}; the program expects {expected} (hal.buffer_view.assert)")
            )
    return []


def _affine(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    values = []
    for operand in op.operands:
        value = frame[operand]
        if not isinstance(value, int):
            return [value if isinstance(value, Unknown) else Unknown(f"the operation {op.name}")]
        values.append(types.signed(value, 64))
    results = scalars.evaluate_affine(op.operation.attributes["map"].value, values)
    if isinstance(results, Unknown):
        return [results]
    value = {"affine.min": min(results), "affine.max": max(results)}.get(op.name, results[0])
    return [scalars.checked_index(value, f"{op.name} of {', '.join(map(str, values))}")]


HOST_OPS: Mapping[str, Handler] = {
    "arith.select": _select,
    "affine.apply": _affine,
    "affine.max": _affine,
    "affine.min": _affine,
    "cf.assert": _assert,
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer_view.dim": _dim,
    "hal.buffer_view.rank": _rank,
    "util.align": _align,
    "util.assume.int": _assume_int,
    "util.call": _call,
    "util.global.load": _global_load,
    "util.global.store": _global_store,
    "util.optimization_barrier": _identity,
}
