"""A function with the program's own shape arithmetic: its operations are cloned, and nothing else is in it.

    util.func private @sizes(%B: i64, %S: i64) -> (index, i32, index) { ... }

The arguments are the sizes of the model's symbols. What the program assumes of them and asserts is asserted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dispatchgen.extract.arithmetic import (
    Arithmetic,
    At,
    Chain,
    Computed,
    Constant,
    Dim,
    Origin,
    Refused,
    Same,
    Scalar,
)
from dispatchgen.extract.assumptions import Assumption, assumed, describe
from dispatchgen.iree import ir
from dispatchgen.iree.types import scalar_type
from dispatchgen.manifest.suite import Input

#: Numbers of predicates of `arith.cmpi`.
_EQ, _ULE, _UGE = 0, 7, 9


@dataclass
class ArithmeticFunction:
    """A function that is being built. To be used in the context of the program's module."""

    arithmetic: Arithmetic
    inputs: Sequence[Input]  #: Of the entry function, with symbols.
    symbols: Sequence[str]
    _built: dict[At, ir.Value] = field(default_factory=dict, init=False)
    #: By what makes them equal: no operation is there twice.
    _operations: dict[tuple[object, ...], ir.Operation] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        from iree.compiler import ir as mlir

        arguments = ", ".join(f"%{index}: i64" for index in range(len(self.symbols)))
        text = f"module {{ util.func private @sizes({arguments}) {{ util.return }} }}"
        self._module = mlir.Module.parse(text)
        self._function = self._module.body.operations[0].operation
        self._block = self._function.regions[0].blocks[0]
        self._end = self._block.operations[0]

    def value(self, at: At) -> ir.Value:
        """The value of the host program, computed in this function. Raises Refused."""
        origins: dict[At, Origin] = {}
        todo = [at]
        while todo:  # no recursion: arithmetic is as deep as the model
            current = todo[-1]
            if current in self._built:
                todo.pop()
                continue
            origin = origins.get(current) or self.arithmetic.origin(current)
            origins[current] = origin
            missing = [each for each in _sources(origin) if each not in self._built]
            if missing:
                todo += reversed(missing)
            else:
                self._built[current] = self._build(current, origin)
                todo.pop()
        return self._built[at]

    def _build(self, at: At, origin: Origin) -> ir.Value:
        match origin:
            case Same(source, alternatives):
                value = self._built[source]
                if alternatives:
                    self._assume(value, alternatives, describe(source.value))
                return value
            case Dim(index, dim):
                dims = self.inputs[index].dims
                return self._size(dims[dim] if dims is not None else 0, "index")
            case Scalar(index):
                (value,) = self.inputs[index].data or (0,)
                return self._size(value, str(at.value.type))
            case Constant(attribute):
                return self._create("arith.constant", at.value.type, [], value=attribute)
            case Computed(operation, operands):
                return self._clone(operation, [self._built[operand] for operand in operands])

    def _size(self, size: int | float | str, type_: str) -> ir.Value:
        """A size that the manifest gives, or a symbol's, as a value of a type."""
        from iree.compiler import ir as mlir

        target = mlir.Type.parse(type_)
        if not isinstance(size, str):
            return self._create("arith.constant", target, [], value=mlir.Attribute.parse(f"{size} : {type_}"))
        argument = self._block.arguments[self.symbols.index(size)]
        scalar = scalar_type(type_)
        if type_ == "i64":
            return argument
        if type_ == "index":
            return self._create("arith.index_cast", target, [argument])
        if scalar is None or scalar.kind != "i" or scalar.bits > 64:
            raise Refused(f"a scalar input of type {type_}")
        return self._create("arith.trunci", target, [argument])

    def _clone(self, operation: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        results = [result.type for result in operation.results]
        return self._operation(operation.name, results, operands, attributes).results[0]

    def _create(self, name: str, type_: Any, operands: Sequence[ir.Value], **attributes: ir.Attribute) -> ir.Value:
        return self._operation(name, [type_], operands, attributes).results[0]

    def _operation(
        self, name: str, types: Sequence[Any], operands: Sequence[ir.Value], attributes: dict[str, ir.Attribute]
    ) -> ir.Operation:
        """An operation of the function, the same one for the same operands."""
        from iree.compiler import ir as mlir

        key = (name, *map(str, types), *operands, *sorted((key, str(value)) for key, value in attributes.items()))
        if key not in self._operations:
            with mlir.InsertionPoint(self._end):
                created = mlir.Operation.create(
                    name, results=list(types), operands=list(operands), attributes=attributes
                )
            self._operations[key] = created
        return self._operations[key]

    def check(self, operation: ir.Operation, chain: Chain) -> None:
        """Makes a check of the program, a `cf.assert` or a `hal.buffer_view.assert`.

        What of it depends on anything but sizes is left out.
        """
        if operation.name == "cf.assert":
            condition = self._known(At(operation.operands[0], chain))
            if condition is not None:
                self._assert(condition, ir.string(operation, "msg") or "")
            return
        view = operation.opview
        for index, wanted in enumerate(view.shape):
            dim, expected = self._dim(At(view.buffer_view, chain), index), self._known(At(wanted, chain))
            if dim is not None and expected is not None and dim != expected:
                name = ir.string(operation, "message") or "an input"
                self._assert(self._compare(_EQ, dim, expected), f"{name} does not have the shape that is expected")

    def _known(self, at: At) -> ir.Value | None:
        try:
            return self.value(at)
        except Refused:
            return None

    def _dim(self, view: At, dim: int) -> ir.Value | None:
        """A dim of an input that the host program itself may not ask for."""
        try:
            dims = self.inputs[self.arithmetic.input_of(view)].dims
            return None if dims is None or dim >= len(dims) else self._size(dims[dim], "index")
        except Refused:
            return None

    def _assume(self, value: ir.Value, alternatives: Sequence[Assumption], what: str) -> None:
        """Asserts that one of the alternatives admits a value."""
        conditions = [self._admits(value, each) for each in alternatives]
        known = [condition for condition in conditions if condition is not None]
        if len(known) == len(conditions):  # an alternative that admits all makes the check needless
            legal = self._reduce("arith.ori", known)
            self._assert(legal, f"{what} is not what the program assumes: {assumed(tuple(alternatives))}")

    def _admits(self, value: ir.Value, assumption: Assumption) -> ir.Value | None:
        """Whether an assumption admits a value; None: it always does."""
        conditions = []
        if assumption.umin > 0:
            conditions.append(self._compare(_UGE, value, self._number(assumption.umin, value.type)))
        if assumption.umax is not None:
            conditions.append(self._compare(_ULE, value, self._number(assumption.umax, value.type)))
        if assumption.udiv > 1:
            divisor = self._number(assumption.udiv, value.type)
            rest = self._create("arith.remui", value.type, [value, divisor])
            conditions.append(self._compare(_EQ, rest, self._number(0, value.type)))
        return self._reduce("arith.andi", conditions) if conditions else None

    def _reduce(self, name: str, conditions: Sequence[ir.Value]) -> ir.Value:
        result = conditions[0]
        for condition in conditions[1:]:
            result = self._create(name, condition.type, [result, condition])
        return result

    def _compare(self, predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
        from iree.compiler import ir as mlir

        attribute = mlir.IntegerAttr.get(mlir.IntegerType.get_signless(64), predicate)
        return self._create("arith.cmpi", mlir.IntegerType.get_signless(1), [left, right], predicate=attribute)

    def _number(self, value: int, type_: Any) -> ir.Value:
        from iree.compiler import ir as mlir

        return self._create("arith.constant", type_, [], value=mlir.Attribute.parse(f"{value} : {type_}"))

    def _assert(self, condition: ir.Value, message: str) -> None:
        from iree.compiler import ir as mlir

        self._operation("cf.assert", [], [condition], {"msg": mlir.StringAttr.get(message)})

    def symbols_of(self, values: Sequence[ir.Value]) -> frozenset[str]:
        """The symbols that values of the function depend on."""
        from iree.compiler import ir as mlir

        seen: set[ir.Value] = set()
        todo = list(values)
        while todo:
            value = todo.pop()
            if value not in seen:
                seen.add(value)
                todo += [] if isinstance(value.owner, mlir.Block) else value.owner.operands
        arguments = zip(self.symbols, self._block.arguments, strict=True)
        return frozenset(symbol for symbol, argument in arguments if argument in seen)

    def finish(self, results: Sequence[ir.Value]) -> ir.Operation:
        """The module of the function, which has these results. Nothing can be added to it any more."""
        from iree.compiler import ir as mlir

        with mlir.InsertionPoint(self._end):
            mlir.Operation.create("util.return", operands=list(results))
        self._end.operation.erase()
        type_ = mlir.FunctionType.get([each.type for each in self._block.arguments], [r.type for r in results])
        self._function.attributes["function_type"] = mlir.TypeAttr.get(type_)
        for op in reversed(list(self._block.operations)):  # what was built for something that was refused then
            if len(op.operation.results) and not any(list(result.uses) for result in op.operation.results):
                op.operation.erase()
        return self._module.operation


def _sources(origin: Origin) -> Sequence[At]:
    match origin:
        case Same(source, _):
            return [source]
        case Computed(_, operands):
            return operands
        case _:
            return []
