"""Which dispatches may compute what the host reads back, as far as one function tells without being evaluated."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.extract.accesses import written_bindings
from dispatchgen.extract.names import operation_of
from dispatchgen.iree import ir

#: A resource, and an offset in it where one is known.
_Place = tuple[ir.Value, ir.Value | None]


def writers(load: ir.Operation, function: ir.Operation) -> set[str]:
    """The operations of the dispatches in a function that may write what a `stream.resource.load` in it reads.

    Those are missing that write through other functions, globals or the arguments of blocks.
    """
    view = load.opview
    found: set[str] = set()
    seen: list[_Place] = []
    todo: list[_Place] = [_place(view.source, view.source_offset)]
    executes = ir.walk(function, "stream.cmd.execute")
    while todo:
        resource, offset = todo.pop()
        if (resource, offset) in seen:
            continue
        seen.append((resource, offset))
        for execute in executes:
            for argument, operand in _captured(execute):
                captured, at = _place(operand, offset)
                if captured == resource:
                    found.update(_dispatched(execute, argument, at))
                    todo += _copied(execute, argument, at)
    return found


def _place(value: ir.Value, offset: ir.Value | None) -> _Place:
    """The resource that a value is a later state of, or a part: then an offset in it is not known."""
    from iree.compiler import ir as mlir

    while not isinstance(value.owner, mlir.Block):
        if value.owner.name == "stream.timepoint.await":
            value = list(value.owner.opview.resource_operands)[mlir.OpResult(value).result_number]
        elif value.owner.name == "stream.resource.subview":
            value, offset = value.owner.opview.source, None
        else:
            break
    return value, offset


def _captured(execute: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """What the commands of a `stream.cmd.execute` call the resources that it captures, and these."""
    return zip(execute.regions[0].blocks[0].arguments, execute.opview.resource_operands, strict=True)


def _dispatched(execute: ir.Operation, resource: ir.Value, offset: ir.Value | None) -> Iterator[str]:
    """The operations of dispatches that write to a place."""
    for dispatch in ir.walk(execute, "stream.cmd.dispatch"):
        view = dispatch.opview
        places = zip(view.resources, view.resource_offsets, written_bindings(view.resource_accesses), strict=True)
        if any(writes and into == resource and _may_be(offset, at) for into, at, writes in places):
            *_, export = ir.symbol_ref(dispatch.attributes["entry_points"][0])
            yield operation_of(export)


def _copied(execute: ir.Operation, resource: ir.Value, offset: ir.Value | None) -> Iterator[_Place]:
    """The places that are copied to a place."""
    operands = dict(_captured(execute))
    for copy in ir.walk(execute, "stream.cmd.copy"):
        view = copy.opview
        if view.target == resource and _may_be(offset, view.target_offset):
            yield _place(operands[view.source], view.source_offset)


def _may_be(offset: ir.Value | None, other: ir.Value) -> bool:
    """Whether two offsets may be the same: equal constants are one value after canonicalization."""
    return offset is None or offset == other or not (_is_constant(offset) and _is_constant(other))


def _is_constant(value: ir.Value) -> bool:
    from iree.compiler import ir as mlir

    return not isinstance(value.owner, mlir.Block) and value.owner.name == "arith.constant"
