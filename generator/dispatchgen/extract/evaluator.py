"""Evaluation of the host program, the frame of it: functions, control flow, scalars.

The functions of a module in the `executable-configurations` phase say how IREE calls the device: `util.func` bodies of
scalar arithmetic, control flow, globals and `stream` operations. They are run here operation by operation with the
scalars known and the device's memory unknown, except for the small pieces that the host itself wrote. What each
operation does is given as handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dispatchgen.extract import scalars
from dispatchgen.extract.program import Program
from dispatchgen.extract.read_backs import ReadBacks
from dispatchgen.extract.values import HostValue, Origin, Resource, Storage, Unknown
from dispatchgen.iree import ir, types
from dispatchgen.iree.types import ScalarType, scalar_type

#: Operations evaluated per call of a program; a loop that has not ended by then is taken for one that never does.
STEP_LIMIT = 2_000_000

_T = TypeVar("_T")
Frame = dict[ir.Value, HostValue]
Handler = Callable[["Evaluator", "Op", Frame], Sequence[HostValue]]


@dataclass(frozen=True)
class Dispatched:
    """One execution of a dispatch."""

    initializer: bool  #: Whether it runs when the module is loaded, and not at the call.
    executable: str
    export: str
    workload: tuple[HostValue, ...]
    constants: tuple[tuple[str, HostValue], ...]  #: Type and value.
    lengths: tuple[HostValue, ...]
    written: tuple[bool, ...]  #: Which bindings the site may write.
    device: str | None  #: Symbol of the device the site runs on, where it names one.
    origins: tuple[Origin | None, ...] = ()  #: Where inputs of the call hold what each binding holds.


@dataclass(frozen=True)
class Stop:
    """A place where a function could not be run any further, and what may have run from there on."""

    initializer: bool  #: Whether that was when the module was loaded.
    reason: str
    pending: frozenset[tuple[str, str]]  #: Executable and export of the dispatches that may follow.


class Stopped(Exception):
    """Evaluation of a function cannot go on; the argument is the reason. `rest`: the operations that may follow."""

    rest: Sequence[ir.Operation] = ()

    @property
    def reason(self) -> Unknown:
        """Why, as a value for all that depends on it."""
        return Unknown(str(self.args[0]))


class Op:
    """An operation with its operands and results taken apart once, since a loop runs it many times."""

    def __init__(self, operation: ir.Operation):
        self.operation = operation
        self.name: str = operation.name
        self.operands = list(operation.operands)
        self.results = list(operation.results)
        self.result_types: list[ScalarType | None] = [scalar_type(str(result.type)) for result in self.results]
        self.source_type = scalar_type(str(self.operands[0].type)) if self.operands else None
        self.is_index = len(self.results) == 1 and str(self.results[0].type) == "index"
        self.is_resource = [is_resource(str(result.type)) for result in self.results]
        self._named: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        """The operand, or the list of operands, that the dialect calls `name`."""
        if name not in self._named:
            value = getattr(self.operation.opview, name)
            self._named[name] = list(value) if hasattr(value, "__len__") else value
        return self._named[name]

    def value(self, frame: Frame, name: str) -> HostValue:
        """The value of the operand that the dialect calls `name`."""
        return frame[self.named(name)]

    def once(self, name: str, compute: Callable[[Op], _T]) -> _T:
        """What `compute` gives for the operation, computed once."""
        if name not in self._named:
            self._named[name] = compute(self)
        result: _T = self._named[name]
        return result

    def unknown_results(self, reason: Unknown) -> list[HostValue]:
        """Results that are not known; resources among them have a storage of their own."""
        return _unknown_values(self.is_resource, reason)


class Evaluator:
    """One run of a program: initializers, then a call. Its state: globals, dispatches so far, what stopped early."""

    def __init__(
        self,
        program: Program,
        handlers: Mapping[str, Handler],
        overrides: Mapping[str, int] | None = None,
        read_backs: ReadBacks | None = None,
    ):
        """Runs the initializers. `overrides`: values that the host reads back from the device, by name."""
        self.program = program
        self.handlers = handlers
        self.overrides = overrides or {}
        self.read_backs = read_backs or ReadBacks(program)
        self.globals: dict[str, HostValue] = {}
        self.dispatched: list[Dispatched] = []
        self.stops: list[Stop] = []
        self.initializing = True
        self._steps = 0
        self._blocks: dict[ir.Operation, list[Op]] = {}
        for name, op in program.globals.items():
            self._initialize_global(name, op)
        for op in program.initializers:
            try:
                self.run_region(op.regions[0], [])
            except Stopped as stop:
                self._give_up([op], [], stop)
        self.initializing = False

    def _initialize_global(self, name: str, op: ir.Operation) -> None:
        from iree.compiler import ir as mlir

        value = None
        if "initial_value" in op.attributes:
            type_ = scalar_type(str(mlir.TypeAttr(op.attributes["type"]).value))
            value = _attribute_value(op.attributes["initial_value"], type_)
        self.globals[name] = Unknown(f"the global @{name}") if value is None else value

    def call(self, name: str, arguments: Sequence[HostValue]) -> Sequence[HostValue]:
        """Calls a function; where it cannot be run to its end its results are unknown."""
        op = self.program.functions[name]
        if not op.regions[0].blocks:
            reason = Unknown(f"what the imported function @{name} returns")
            forget(arguments, reason)
            return _unknown_values(map(is_resource, arguments_and_results(op)[1]), reason)
        try:
            return self.run_region(op.regions[0], arguments)
        except Stopped as stop:
            self._give_up([self.program.functions[f] for f in self.program.callees[name]], arguments, stop)
            return _unknown_values(map(is_resource, arguments_and_results(op)[1]), stop.reason)

    def _give_up(self, ops: list[ir.Operation], arguments: Sequence[HostValue], stop: Stopped) -> None:
        """Forgets all that a function that was not run to its end may have changed."""
        self._note_stop(stop.reason.reason, stop.rest)
        self._forget_stores(ops, stop.reason)
        forget((*arguments, *self.globals.values()), stop.reason)

    def _forget_stores(self, ops: Iterable[ir.Operation], reason: Unknown) -> None:
        """Forgets the globals that these operations may write."""
        for op in ops:
            for store in ir.walk(op, "util.global.store"):
                self.globals[ir.symbol_ref(store.attributes["global"])[0]] = reason

    def run_region(self, region: ir.Operation, arguments: Sequence[HostValue]) -> Sequence[HostValue]:
        """Runs a region of basic blocks from its entry to a return and gives the operands of that.

        Raises Stopped where it cannot be run to its end.
        """
        block = region.blocks[0]
        op = self.ops(block)[0]
        frame: Frame = {}
        try:
            while True:
                frame.update(zip(block.arguments, arguments, strict=True))
                *ops, terminator = self.ops(block)
                for op in ops:
                    self._count_step()
                    self.run_op(op, frame)
                op = terminator
                self._count_step()
                if op.name in ("util.return", "hal.return"):
                    return [frame[value] for value in op.operands]
                block, arguments = _branch(op, frame)
        except Stopped as stop:
            stop.rest = _rest(block, op.operation)
            raise

    def run_op(self, op: Op, frame: Frame) -> None:
        """Runs one operation that does not end its block."""
        handler = self.handlers.get(op.name)
        if handler is not None:
            results = handler(self, op, frame)
        elif op.name.startswith(("arith.", "math.")) and len(op.results) == 1:
            results = [_scalar(op, [frame[value] for value in op.operands])]
        else:
            results = self.run_unknown(op, frame)
        frame.update(zip(op.results, results, strict=True))

    def run_unknown(self, op: Op, frame: Frame) -> Sequence[HostValue]:
        """Results of an operation that evaluation does not know: unknown, as is the memory that it may write."""
        reason = Unknown(f"the result of {op.name}")
        forget([frame[operand] for operand in op.operands], reason)
        if op.operation.regions:
            # What its regions may do: dispatch, store to globals, write to any resource that is in reach.
            self._note_stop(f"the operation {op.name}", [op.operation])
            self._forget_stores([op.operation], reason)
            forget((*frame.values(), *self.globals.values()), reason)
        return op.unknown_results(reason)

    def ops(self, block: ir.Operation) -> list[Op]:
        """The operations of a block."""
        if block not in self._blocks:
            self._blocks[block] = [Op(op.operation) for op in block.operations]
        return self._blocks[block]

    def _note_stop(self, reason: str, operations: Iterable[ir.Operation]) -> None:
        """Notes that the dispatches in these operations, and in what they call, may have run or not."""
        pending = frozenset(key for operation in operations for key in self.program.dispatched_in(operation))
        if pending:
            self.stops.append(Stop(self.initializing, reason, pending))

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > STEP_LIMIT:
            raise Stopped(f"a loop that has not ended after {STEP_LIMIT} operations of the host program")


def _rest(block: ir.Operation, start: ir.Operation) -> list[ir.Operation]:
    """The operations of a block from `start` on, and of all blocks that can follow (itself, where it is in a loop)."""
    operations = [op.operation for op in block.operations]
    seen: list[ir.Operation] = []
    todo = list(operations[-1].successors)
    while todo:
        successor = todo.pop()
        if successor not in seen:
            seen.append(successor)
            todo += successor.operations[-1].operation.successors
    return [*operations[operations.index(start) :], *(op.operation for each in seen for op in each.operations)]


def forget(values: Iterable[HostValue], reason: Unknown) -> None:
    """Makes the memory behind all resources among these values unknown."""
    for value in values:
        if isinstance(value, Resource):
            value.storage.forget(reason)


def is_resource(type_: str) -> bool:
    """Whether a type is one of device memory."""
    return type_.startswith("!stream.resource")


def _unknown_values(are_resources: Iterable[bool], reason: Unknown) -> list[HostValue]:
    """Values that are not known; resources among them have a storage of their own."""
    return [Resource(reason, Storage(reason)) if each else reason for each in are_resources]


def arguments_and_results(function: ir.Operation) -> tuple[list[str], list[str]]:
    """The types of a `util.func`."""
    from iree.compiler import ir as mlir

    type_ = mlir.FunctionType(mlir.TypeAttr(function.attributes["function_type"]).value)
    return [str(t) for t in type_.inputs], [str(t) for t in type_.results]


def _branch(op: Op, frame: Frame) -> tuple[ir.Operation, list[HostValue]]:
    """Where a terminator goes, and the arguments of the block there."""
    successors = list(op.operation.successors)
    if not successors:
        raise Stopped(f"the operation {op.name}")
    values = [frame[value] for value in op.operands]
    if op.name == "cf.br":
        return successors[0], values
    if op.name not in ("cf.cond_br", "cf.switch"):
        raise Stopped(f"the operation {op.name}")
    condition = values[0]
    if not isinstance(condition, int):
        raise Stopped(f"a branch ({op.name}) on {condition.reason if isinstance(condition, Unknown) else condition}")
    if op.name == "cf.cond_br":
        taken = 0 if condition else 1
    else:
        cases = op.once("cases", _case_values)
        taken = cases.index(condition) + 1 if condition in cases else 0
    segments = op.once("segments", _successor_segments)
    start = 1 + sum(segments[:taken])
    return successors[taken], values[start : start + segments[taken]]


def _successor_segments(op: Op) -> list[int]:
    """How many operands each successor of a `cf.cond_br` or `cf.switch` gets."""
    sizes = _segments(op, "operandSegmentSizes")[1:]
    return sizes if op.name == "cf.cond_br" else [sizes[0], *_segments(op, "case_operand_segments")]


def _segments(op: Op, attribute: str) -> list[int]:
    from iree.compiler import ir as mlir

    return [int(size) for size in mlir.DenseI32ArrayAttr(op.operation.attributes[attribute])]


def _case_values(op: Op) -> list[int]:
    from iree.compiler import ir as mlir

    bits = op.source_type.bits if op.source_type else 64
    if "case_values" not in op.operation.attributes:
        return []
    return [
        types.unsigned(int(value), bits) for value in mlir.DenseIntElementsAttr(op.operation.attributes["case_values"])
    ]


def _scalar(op: Op, values: Sequence[HostValue]) -> HostValue:
    """The result of an `arith` or `math` operation."""
    if op.name == "arith.constant":
        return op.once("constant", _constant)
    for value in values:
        if isinstance(value, Unknown):
            return value
    source, target = op.source_type, op.result_types[0]
    if source is None or target is None:
        return Unknown(f"the operation {op.name} on {op.operands[0].type}")
    index = scalars.index_arithmetic(op.name, values) if op.is_index else None
    if index is not None:
        return index
    return scalars.evaluate(op.name, values, source, target, op.once("predicate", _predicate))


def _predicate(op: Op) -> int | None:
    attributes = op.operation.attributes
    return ir.integer(attributes["predicate"]) if "predicate" in attributes else None


def _constant(op: Op) -> HostValue:
    value = _attribute_value(op.operation.attributes["value"], op.result_types[0])
    return Unknown(f"a constant of type {op.results[0].type}") if value is None else value


def _attribute_value(attribute: ir.Attribute, type_: ScalarType | None) -> int | float | None:
    """The scalar that an attribute holds; None where it holds none."""
    from iree.compiler import ir as mlir

    if type_ is not None and isinstance(attribute, (mlir.IntegerAttr, mlir.BoolAttr)):
        return types.unsigned(int(attribute.value), type_.bits)
    return float(attribute.value) if isinstance(attribute, mlir.FloatAttr) else None
