"""Where the sizes of a dispatch come from: back from its operands to the dims and scalars that a model is called with.

A value of the host program is followed through the calls of one chain of them, globals that never change, and
operations without effect. What depends on anything else is refused, with the reason: no function of the sizes gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from dispatchgen.extract.assumptions import Assumption, assumptions
from dispatchgen.extract.program import Program
from dispatchgen.extract.signature import input_index
from dispatchgen.iree import ir
from dispatchgen.iree.types import scalar_type

#: Calls within calls, at most; and chains of calls to one place that dispatches.
_DEPTH = 16
_CHAINS = 64

_PURE = ("arith.", "math.", "affine.apply", "affine.max", "affine.min", "util.align")
_CHECKS = ("cf.assert", "hal.buffer_view.assert")
_IDENTITIES = ("util.optimization_barrier",)

#: The `util.call` operations through which a function is reached from an entry function, outermost first.
Chain: TypeAlias = tuple[ir.Operation, ...]


class Refused(Exception):
    """A value that no function of the sizes gives; the argument is what it is."""


@dataclass(frozen=True)
class At:
    """A value of a function that was reached through a chain of calls."""

    value: ir.Value
    chain: Chain = ()


@dataclass(frozen=True)
class Same:
    """The value is another one."""

    source: At
    assumed: tuple[Assumption, ...] = ()  #: What the program assumes of it.


@dataclass(frozen=True)
class Dim:
    """A dim of an input; both are indices."""

    input: int
    dim: int


@dataclass(frozen=True)
class Scalar:
    """A scalar input."""

    input: int


@dataclass(frozen=True)
class Constant:
    """A constant of the program, as an attribute."""

    value: ir.Attribute


@dataclass(frozen=True)
class Computed:
    """The result of an operation without effect."""

    operation: ir.Operation
    operands: tuple[At, ...]


Origin: TypeAlias = Same | Dim | Scalar | Constant | Computed


class Arithmetic:
    """Where the values come from that an entry function, and what it calls, computes."""

    def __init__(self, program: Program, entry: str):
        self.program = program
        self.entry = entry

    def chains(self, function: str) -> list[Chain]:
        """The chains of calls from the entry function to another. Raises Refused: they are too many or too deep."""
        found: list[Chain] = []
        todo: list[tuple[str, Chain]] = [(self.entry, ())]
        while todo:
            name, chain = todo.pop(0)
            if name == function:
                found.append(chain)
            if len(chain) > _DEPTH or len(found) > _CHAINS:
                raise Refused(f"what more than {_DEPTH} calls within each other, or {_CHAINS} of them, pass on")
            for call in self._calls.get(name, ()):
                callee = ir.symbol_ref(call.attributes["callee"])[0]
                if function in self.program.callees.get(callee, ()):
                    todo.append((callee, (*chain, call)))
        return found

    @cached_property
    def _calls(self) -> dict[str, list[ir.Operation]]:
        return {name: ir.walk(op, "util.call") for name, op in self.program.functions.items()}

    def origin(self, at: At) -> Origin:
        """Where a value comes from, one step back. Raises Refused."""
        from iree.compiler import ir as mlir

        if isinstance(at.value.owner, mlir.Block):
            return self._argument(at)
        operation, name = at.value.owner, at.value.owner.name
        if name == "hal.buffer_view.dim":
            return Dim(self.input_of(At(operation.operands[0], at.chain)), ir.integer(operation.attributes["index"]))
        if name == "util.call":
            return Same(self._returned(at))
        if name == "util.global.load":
            return self._global(operation)
        if name in _IDENTITIES:
            return Same(At(operation.operands[_result(at.value)], at.chain))
        if name == "util.assume.int":
            index = _result(at.value)
            return Same(At(operation.operands[index], at.chain), assumptions(operation)[index])
        if name == "stream.resource.load":
            raise Refused("what is read back from the device's memory")
        if not name.startswith(_PURE) or scalar_type(str(at.value.type)) is None:
            raise Refused(f"the result of {name}")
        return Computed(operation, tuple(At(operand, at.chain) for operand in operation.operands))

    def _argument(self, at: At) -> Origin:
        """Where a block's argument comes from: of a function, what it is called with."""
        block = at.value.owner
        function = block.owner
        if function.name != "util.func" or block != function.regions[0].blocks[0]:
            chosen_by = "a loop carries" if block in _reachable(block) else "a branch chooses"
            raise Refused(f"a value that {chosen_by}")
        if at.chain:
            *chain, call = at.chain
            return Same(At(call.operands[_argument_number(at.value)], tuple(chain)))
        return Scalar(self.input_of(at))

    def input_of(self, at: At) -> int:
        """The index of the input that a value is. Raises Refused where it is none."""
        from iree.compiler import ir as mlir

        while at.chain and isinstance(at.value.owner, mlir.Block) and at.value.owner.owner.name == "util.func":
            *chain, call = at.chain
            at = At(call.operands[_argument_number(at.value)], tuple(chain))
        owner = at.value.owner
        if isinstance(owner, mlir.Block) and owner.owner == self.program.functions[self.entry]:
            index = input_index(owner.owner, _argument_number(at.value))
            if index is not None:
                return index
        raise Refused("a dim of a tensor that is no input")

    def _returned(self, at: At) -> At:
        """What a function returns as the result of a call."""
        call = at.value.owner
        callee = ir.symbol_ref(call.attributes["callee"])[0]
        returns = ir.walk(self.program.functions[callee], "util.return")
        if not returns:
            raise Refused(f"what the imported function @{callee} returns")
        if len(returns) > 1:
            raise Refused("a value that a branch chooses")
        if len(at.chain) > _DEPTH:
            raise Refused(f"what more than {_DEPTH} calls within each other return")
        return At(returns[0].operands[_result(at.value)], (*at.chain, call))

    def _global(self, load: ir.Operation) -> Origin:
        """Where the value of a global comes from that never changes once the module is loaded."""
        name = ir.symbol_ref(load.attributes["global"])[0]
        operation, stores = self.program.globals[name], self._stores.get(name, [])
        if "is_mutable" in operation.attributes:
            raise Refused(f"the mutable global @{name}")
        if not stores and "initial_value" in operation.attributes:
            return Constant(operation.attributes["initial_value"])
        if len(stores) == 1 and stores[0].parent.name == "util.initializer":
            return Same(At(stores[0].operands[0]))
        raise Refused(f"the global @{name}")

    @cached_property
    def _stores(self) -> dict[str, list[ir.Operation]]:
        found: dict[str, list[ir.Operation]] = {}
        for operation in self.program.operations:
            if operation.name in ("util.func", "util.initializer"):
                for store in ir.walk(operation, "util.global.store"):
                    found.setdefault(ir.symbol_ref(store.attributes["global"])[0], []).append(store)
        return found

    @cached_property
    def checks(self) -> Sequence[tuple[ir.Operation, Chain]]:
        """The checks of sizes that the entry function always makes, itself or in the function that has its body."""
        found: list[tuple[ir.Operation, Chain]] = []
        for name in dict.fromkeys((self.entry, self.program.body_of(self.entry))):
            start = self.program.functions[name].regions[0].blocks[0]
            checks = [op.operation for op in start.operations if op.operation.name in _CHECKS]
            found += [(check, chain) for chain in self.chains(name)[:1] for check in checks]
        return found


def operands_of(dispatch: ir.Operation) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
    """The workload, push constants and binding lengths of a `stream.cmd.dispatch`."""
    view = dispatch.opview
    return list(view.workload), list(view.uniform_operands), list(view.resource_lengths)


def _result(value: ir.Value) -> int:
    from iree.compiler import ir as mlir

    return int(mlir.OpResult(value).result_number)


def _argument_number(value: ir.Value) -> int:
    from iree.compiler import ir as mlir

    return int(mlir.BlockArgument(value).arg_number)


def _reachable(block: ir.Operation) -> Sequence[ir.Operation]:
    """The blocks that can follow a block: itself among them where it is in a loop."""
    seen: list[ir.Operation] = []
    todo = list(block.operations[-1].operation.successors) if len(block.operations) else []
    while todo:
        successor = todo.pop()
        if successor not in seen:
            seen.append(successor)
            todo += successor.operations[-1].operation.successors
    return seen
