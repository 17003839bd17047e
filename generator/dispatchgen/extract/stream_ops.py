"""What the operations of `stream` in a host program do: resources, and the commands that run on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dispatchgen.errors import Problem, ShapeError
from dispatchgen.extract.accesses import written_bindings
from dispatchgen.extract.evaluator import Dispatched, Evaluator, Frame, Handler, Op, forget
from dispatchgen.extract.names import operation_of
from dispatchgen.extract.read_backs import Computed, computed_by, overridden
from dispatchgen.extract.values import BufferView, HostValue, Origin, Overflow, Resource, Storage, Unknown
from dispatchgen.iree import ir, types
from dispatchgen.iree.types import ScalarType, scalar_type
from dispatchgen.manifest.inputs import MAX_SIZE

_TIMEPOINT = Unknown("a timepoint")
#: Why the contents of an input are not known, behind its name.
NOT_GIVEN = "known only where `inputs` give values (`2xi64=4 16`), and not of zeros, random data or files"


def _values(frame: Frame, operands: Sequence[ir.Value]) -> tuple[HostValue, ...]:
    return tuple(frame[operand] for operand in operands)


def _allocate(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    size = op.value(frame, "storage_size")
    results: list[HostValue] = [Resource(_size(size), Storage(Unknown("uninitialized memory"))), _TIMEPOINT]
    return results[: len(op.results)]


def _size(value: HostValue) -> int | Unknown:
    return value if isinstance(value, (int, Unknown)) else Unknown("a size")


def _import(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    view = op.value(frame, "source")
    size = _size(op.value(frame, "result_size"))
    if not isinstance(view, BufferView):
        unknown = view if isinstance(view, Unknown) else Unknown("the contents of an imported tensor")
        return [Resource(size, Storage(unknown))]
    origin = None if view.index is None else Origin(view.index, 0)
    if view.contents is None:
        return [Resource(size, Storage(Unknown(f"the contents of {view.name}, {NOT_GIVEN}"), origin))]
    storage = Storage(Unknown(f"the contents of {view.name}"))
    if isinstance(size, int):
        storage.write(0, size, view.contents, origin)
    return [Resource(size, storage)]


def _try_map(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    """Constants may be mapped or else are copied, which gives the same contents: evaluation takes the first way."""
    reason = Unknown("the contents of a constant")
    return [1, Resource(reason, Storage(reason))]


def _no_effect(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    """An operation that leaves the contents of its resources as they are."""
    return op.unknown_results(Unknown(f"the result of {op.name}"))


def _await(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    return _values(frame, op.named("resource_operands"))


def _subview(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    source, offset, size = (
        op.value(frame, "source"),
        op.value(frame, "source_offset"),
        _size(op.value(frame, "result_size")),
    )
    if not isinstance(source, Resource):
        return op.unknown_results(source if isinstance(source, Unknown) else Unknown("a subview"))
    return [Resource(size, source.storage, _sum(source.offset, offset))]


def _sum(a: HostValue, b: HostValue) -> int | Unknown:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return next((value for value in (a, b) if isinstance(value, Unknown)), Unknown("an offset"))


def _resource_size(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    resource = frame[op.operands[0]]
    return [resource.size if isinstance(resource, Resource) else Unknown("the size of a resource")]


def _load(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:
    """`stream.resource.load`: the host reads a value from the device's memory."""
    type_ = op.result_types[0]
    source, offset = op.value(frame, "source"), op.value(frame, "source_offset")
    if not isinstance(source, Resource) or type_ is None:
        return op.unknown_results(Unknown(f"the result of {op.name}"))
    at = _sum(source.offset, offset)
    data = at if isinstance(at, Unknown) else source.storage.read(at, type_.bytes)
    if isinstance(data, Computed):
        return [_read_back(evaluator, op, data, type_)]
    if isinstance(data, Unknown):
        return [data if data.reason.startswith(op.name) else Unknown(f"{op.name} of {data.reason}")]
    try:
        return [types.from_bytes(data, type_)]
    except ValueError as error:
        return [Unknown(str(error))]


def _read_back(evaluator: Evaluator, op: Op, computed: Computed, type_: ScalarType) -> HostValue:
    """A value that a dispatch computed: known only where the manifest overrides it."""
    name = evaluator.read_backs.name(computed, op.operation)
    value = overridden(name, evaluator.overrides, type_)
    return Unknown(f"{op.name} of {computed.reason} (override {name})") if value is None else value


def _store(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:  # noqa: ARG001
    """`stream.resource.store`: the host writes a value to the device's memory."""
    type_ = scalar_type(str(op.named("value").type))
    target, offset = op.value(frame, "target"), op.value(frame, "target_offset")
    if type_ is not None:
        _write(target, offset, type_.bytes, _pattern(op.value(frame, "value"), type_))
    else:
        forget([target], Unknown(f"the result of {op.name}"))
    return op.unknown_results(_TIMEPOINT)


def _pattern(value: HostValue, type_: ScalarType) -> bytes | Unknown:
    if isinstance(value, Unknown):
        return value
    assert isinstance(value, (int, float))
    try:
        return types.to_bytes(value, type_)
    except ValueError as error:
        return Unknown(str(error))


def _write(target: HostValue, offset: HostValue, length: HostValue, content: bytes | Unknown) -> None:
    """Writes to a resource; a place or a length that is not known makes the whole storage unknown."""
    if not isinstance(target, Resource):
        return
    at = _sum(target.offset, offset)
    if isinstance(at, int) and isinstance(length, int):
        target.storage.write(at, length, content)
    else:
        target.storage.forget(Unknown("memory that is written at a place that is not known"))


def _execute(evaluator: Evaluator, op: Op, frame: Frame) -> Sequence[HostValue]:
    """`stream.cmd.execute`: its commands, on the resources that it captures."""
    block = op.once("block", _block)
    frame.update(zip(op.once("arguments", _arguments), _values(frame, op.named("resource_operands")), strict=True))
    _run_commands(evaluator, block, frame, op.once("device", _device))
    return op.unknown_results(_TIMEPOINT)


def _block(op: Op) -> ir.Operation:
    return op.operation.regions[0].blocks[0]


def _arguments(op: Op) -> list[ir.Value]:
    return list(_block(op).arguments)


def device_of(operation: ir.Operation) -> str | None:
    """The device symbol of an operation's `#hal.device.affinity<@device>`; None where it has another affinity."""
    attributes = operation.attributes
    if "affinity" not in attributes:
        return None
    text = str(attributes["affinity"])
    prefix, suffix = "#hal.device.affinity<@", ">"
    return text[len(prefix) : -len(suffix)].strip('"') if text.startswith(prefix) and "," not in text else None


def _device(op: Op) -> str | None:
    return device_of(op.operation)


def _run_commands(evaluator: Evaluator, block: Any, frame: Frame, device: str | None) -> None:
    for op in evaluator.ops(block):
        if op.name in ("stream.cmd.concurrent", "stream.cmd.serial"):
            _run_commands(evaluator, op.once("block", _block), frame, device)
        elif op.name in _COMMANDS:
            _COMMANDS[op.name](evaluator, op, frame, device)
        elif op.name not in _COMMANDS_WITHOUT_EFFECT:
            evaluator.run_unknown(op, frame)


@dataclass(frozen=True)
class _Site:
    """What is the same each time that a `stream.cmd.dispatch` runs."""

    executable: str
    export: str
    written: tuple[bool, ...]
    constant_types: tuple[str, ...]
    computed: Computed


def _site(op: Op) -> _Site:
    executable, *_, export = ir.symbol_ref(op.operation.attributes["entry_points"][0])
    return _Site(
        executable,
        export,
        written=written_bindings(op.named("resource_accesses")),
        constant_types=tuple(str(operand.type) for operand in op.named("uniform_operands")),
        computed=computed_by(operation_of(export)),
    )


def _dispatch(evaluator: Evaluator, op: Op, frame: Frame, device: str | None) -> None:
    site = op.once("site", _site)
    lengths = _values(frame, op.named("resource_lengths"))
    offsets = _values(frame, op.named("resource_offsets"))
    workload = _values(frame, op.named("workload"))
    _check_sizes(site, workload, lengths)
    constants = zip(site.constant_types, _values(frame, op.named("uniform_operands")), strict=True)
    places = zip(op.named("resources"), offsets, lengths, strict=True)
    evaluator.dispatched.append(
        Dispatched(
            initializer=evaluator.initializing,
            executable=site.executable,
            export=site.export,
            workload=workload,
            constants=tuple(constants),
            lengths=lengths,
            written=site.written,
            device=device,
            origins=tuple(_origin(frame[resource], offset, length) for resource, offset, length in places),
        )
    )
    for resource, offset, length, writes in zip(op.named("resources"), offsets, lengths, site.written, strict=True):
        if writes:
            _write(frame[resource], offset, length, site.computed)


def _check_sizes(site: _Site, workload: Sequence[HostValue], lengths: Sequence[HostValue]) -> None:
    """Raises ShapeError where a dispatch has a size that there cannot be."""
    found = [text for value in (*workload, *lengths) if (text := _not_a_size(value))]
    total = sum(length for length in lengths if isinstance(length, int))
    if not found and total > MAX_SIZE:
        found = [f"bindings of {total} bytes, which 64 bits do not hold"]
    if found:
        raise ShapeError(Problem(f"the dispatch {operation_of(site.export)} would have {found[0]}"))


def _not_a_size(value: HostValue) -> str | None:
    if isinstance(value, Overflow):
        return value.reason
    if isinstance(value, int) and value > MAX_SIZE:
        return f"the size {types.signed(value, 64)}"
    return None


def _origin(resource: HostValue, offset: HostValue, length: HostValue) -> Origin | None:
    """Where an input of the call holds what a part of a resource holds."""
    if not isinstance(resource, Resource):
        return None
    at = _sum(resource.offset, offset)
    return resource.storage.origin_of(at, length) if isinstance(at, int) and isinstance(length, int) else None


def _fill(evaluator: Evaluator, op: Op, frame: Frame, device: str | None) -> None:  # noqa: ARG001
    type_ = scalar_type(str(op.named("value").type))
    content = _pattern(op.value(frame, "value"), type_) if type_ is not None else Unknown(f"the result of {op.name}")
    _write(op.value(frame, "target"), op.value(frame, "target_offset"), op.value(frame, "target_length"), content)


def _copy(evaluator: Evaluator, op: Op, frame: Frame, device: str | None) -> None:  # noqa: ARG001
    source, target, length = op.value(frame, "source"), op.value(frame, "target"), op.value(frame, "length")
    if isinstance(source, Resource) and isinstance(target, Resource) and isinstance(length, int):
        source_start = _sum(source.offset, op.value(frame, "source_offset"))
        start = _sum(target.offset, op.value(frame, "target_offset"))
        if isinstance(start, int) and isinstance(source_start, int):
            target.storage.copy(start, length, source.storage, source_start)
            return
    _write(target, op.value(frame, "target_offset"), length, Unknown(f"the result of {op.name}"))


_COMMANDS = {
    "stream.cmd.copy": _copy,
    "stream.cmd.dispatch": _dispatch,
    "stream.cmd.fill": _fill,
}
_COMMANDS_WITHOUT_EFFECT = {"stream.cmd.discard", "stream.cmd.flush", "stream.cmd.invalidate", "stream.yield"}

STREAM_OPS: Mapping[str, Handler] = {
    "stream.cmd.execute": _execute,
    "stream.resource.alloc": _allocate,
    "stream.resource.alloca": _allocate,
    "stream.resource.dealloca": _no_effect,
    "stream.resource.load": _load,
    "stream.resource.release": _no_effect,
    "stream.resource.retain": _no_effect,
    "stream.resource.size": _resource_size,
    "stream.resource.store": _store,
    "stream.resource.subview": _subview,
    "stream.resource.try_map": _try_map,
    "stream.tensor.export": _no_effect,
    "stream.tensor.import": _import,
    "stream.timepoint.await": _await,
}
