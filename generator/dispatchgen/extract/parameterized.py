"""Which of a dispatch's sizes are functions of the model's: those functions, checked against evaluation.

A function is made for each place that dispatches and each chain of calls to it; equal ones are merged. One whose sizes
no listed benchmark has is left out: its place did not run at any shape, so nothing shows that it is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dispatchgen.errors import ShapeError
from dispatchgen.extract.arithmetic import Arithmetic, At, Chain, Refused, operands_of
from dispatchgen.extract.arithmetic_function import ArithmeticFunction
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator, arguments_and_results
from dispatchgen.extract.program import Program, Site
from dispatchgen.extract.schema import Benchmark, Call
from dispatchgen.extract.sizes import Sizes, sizes_of
from dispatchgen.iree import ir
from dispatchgen.manifest.inputs import parse_input

Key = tuple[str, str]  #: Executable and export.


@dataclass(frozen=True)
class SizesFunction:
    """A function from the sizes of a model to those of a dispatch; valid while the program's module is open."""

    entry: str  #: The entry function whose arithmetic it has.
    symbols: tuple[str, ...]  #: Its arguments.
    used: frozenset[str]  #: The symbols that the sizes depend on.
    module: ir.Operation  #: What the function is alone in.
    workload: int  #: How many of its results are the workload; push constants follow, then lengths.
    bindings: int

    @property
    def function(self) -> ir.Operation:
        """The `util.func`; its name is `@sizes`."""
        return self._program.functions["sizes"]

    @cached_property
    def text(self) -> str:
        """The function as text."""
        return str(self.function.get_asm(use_local_scope=True))

    @cached_property
    def _program(self) -> Program:
        return Program(self.module)

    def sizes(self, symbols: Mapping[str, int]) -> Sizes | None:
        """The sizes of the dispatch; None where they cannot be told. Raises ShapeError: the program rejects the call."""
        values = Evaluator(self._program, HANDLERS).call("sizes", [symbols[name] for name in self.symbols])
        numbers = [value for value in values if isinstance(value, int)]
        if len(numbers) != len(values):
            return None
        end = len(numbers) - self.bindings
        types = arguments_and_results(self.function)[1][self.workload : end]
        constants = zip(types, numbers[self.workload : end], strict=True)
        return Sizes(tuple(numbers[: self.workload]), tuple(constants), tuple(numbers[end:]))


@dataclass
class Parameterization:
    """What is known of the sizes of a dispatch."""

    functions: list[SizesFunction] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)  #: Why there are places whose sizes no function gives.


def parameterize(
    program: Program, calls: Sequence[Call], benchmarks: Mapping[Key, Sequence[Benchmark]]
) -> dict[Key, Parameterization]:
    """The functions of every dispatch whose sizes are not constants of the program.

    Args:
      program: The configured module.
      calls: All calls that were evaluated.
      benchmarks: The benchmarks of each dispatch, which tell the sizes that evaluation found at these calls.
    """
    found = {key: Parameterization() for key in benchmarks if key not in program.static_dispatches}
    for entry, at in _by_entry(calls).items():
        arithmetic = Arithmetic(program, entry)
        for site in program.sites:
            key = (site.executable, site.export)
            if key in found and site.function is not None and site.function in program.callees[entry]:
                _add(found[key], arithmetic, site, at, benchmarks[key])
    return found


def _by_entry(calls: Sequence[Call]) -> dict[str, list[Call]]:
    """The calls that bind symbols, by the function that they call."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        if call.is_run and call.symbolic:
            found.setdefault(call.function, []).append(call)
    return found


def _add(
    found: Parameterization, arithmetic: Arithmetic, site: Site, calls: Sequence[Call], benchmarks: Sequence[Benchmark]
) -> None:
    """Adds the functions of a place that dispatches."""

    def refuse(reason: str) -> None:
        if reason not in found.refusals:
            found.refusals.append(reason)

    assert site.function is not None
    try:
        chains = arithmetic.chains(site.function)
    except Refused as refused:
        refuse(f"its sizes depend on {refused}")
        return
    for chain in chains:
        try:
            function = _function(arithmetic, site, chain, calls[0])
        except Refused as refused:
            refuse(f"its sizes depend on {refused}")
            continue
        if not function.used or any(_is_same(function, each) for each in found.functions):
            continue
        matches = list(_matches(function, calls, benchmarks))
        always = _always_runs(site, chain)
        if all(matches) or (any(matches) and not always):
            found.functions.append(function)
        elif always:
            refuse("its arithmetic gives other sizes than evaluation of the program does")


def _function(arithmetic: Arithmetic, site: Site, chain: Chain, call: Call) -> SizesFunction:
    """The function of a place that dispatches, reached through a chain of calls. Raises Refused."""
    inputs = [parse_input(text) for text in call.symbolic]
    building = ArithmeticFunction(arithmetic, inputs, tuple(call.symbols))
    workload, constants, lengths = operands_of(site.operation)
    results = [building.value(At(value, chain)) for value in (*workload, *constants, *lengths)]
    used = building.symbols_of(results)
    for check, chain_of_check in arithmetic.checks():
        building.check(check, chain_of_check)
    return SizesFunction(
        entry=arithmetic.entry,
        symbols=tuple(call.symbols),
        used=used,
        module=building.finish(results),
        workload=len(workload),
        bindings=len(lengths),
    )


def _is_same(function: SizesFunction, other: SizesFunction) -> bool:
    return function.entry == other.entry and function.text == other.text


def _matches(function: SizesFunction, calls: Sequence[Call], benchmarks: Sequence[Benchmark]) -> Iterator[bool]:
    """Whether the function gives sizes at each call that evaluation found there too."""
    for call in calls:
        try:
            sizes = function.sizes(call.symbols)
        except ShapeError:
            sizes = None
        yield any(sizes_of(each) == sizes and call.name in each.counts for each in benchmarks)


def _always_runs(site: Site, chain: Chain) -> bool:
    """Whether a place that dispatches is on the way of every call of the entry function."""
    return all(_is_at_start(operation) for operation in (*chain, site.operation))


def _is_at_start(operation: ir.Operation) -> bool:
    """Whether an operation is in the block that a function starts with, in commands at most."""
    while operation.parent.name != "util.func":
        if not operation.parent.name.startswith("stream.cmd."):
            return False
        operation = operation.parent
    return any(op.operation == operation for op in operation.parent.regions[0].blocks[0].operations)


def largest(calls: Sequence[Call], function: SizesFunction) -> dict[str, int]:
    """The limit of each symbol that a function's sizes depend on: the largest size that a call of it has."""
    sizes = [call.symbols for call in _by_entry(calls).get(function.entry, ())]
    return {symbol: max(each[symbol] for each in sizes) for symbol in function.symbols if symbol in function.used}
