"""Which of a dispatch's sizes are functions of the model's: those functions, checked against evaluation.

A function is made for each place that dispatches and each chain of calls to it; equal ones are merged. One whose sizes
no listed benchmark has is left out: its place did not run at any shape, so nothing shows that it is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dispatchgen.errors import ShapeError
from dispatchgen.extract.arithmetic import Arithmetic, At, Chain, Refused, operands_of
from dispatchgen.extract.arithmetic_function import ArithmeticFunction
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator, arguments_and_results
from dispatchgen.extract.names import numbered
from dispatchgen.extract.program import Program, Site
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.extract.sizes import Sizes, sizes_of
from dispatchgen.iree import ir
from dispatchgen.manifest.inputs import parse_input, symbols_of

#: An evaluator gives up after a number of operations, as of a loop that never ends.
_CALLS_PER_EVALUATOR = 1000

#: Why there is no function where no shape is listed.
_ONLY_PROFILES = "its sizes are those of profiles, and no shape is listed"


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

    def evaluator(self) -> Evaluator:
        """What evaluates the function; it can be used again."""
        return Evaluator(self._program, HANDLERS)

    def sizes(self, symbols: Mapping[str, int], evaluator: Evaluator | None = None) -> Sizes | None:
        """The sizes of the dispatch; None where they cannot be told. Raises ShapeError: the program rejects these."""
        values = (evaluator or self.evaluator()).call("sizes", [symbols[name] for name in self.symbols])
        numbers = [value for value in values if isinstance(value, int)]
        if len(numbers) != len(values):
            return None
        end = len(numbers) - self.bindings
        types = arguments_and_results(self.function)[1][self.workload : end]
        constants = zip(types, numbers[self.workload : end], strict=True)
        return Sizes(tuple(numbers[: self.workload]), tuple(constants), tuple(numbers[end:]))


@dataclass(frozen=True)
class Named:
    """A function of a benchmark module that takes sizes."""

    name: str
    function: SizesFunction
    limits: dict[str, int]  #: The largest size of each symbol that the dispatch depends on.


@dataclass(frozen=True)
class AnySize:
    """What is known of the sizes of a dispatch, where they are not constants of the program."""

    calls: Sequence[Call]  #: Those that bind symbols.
    functions: Sequence[Named]
    reason: str | None  #: Why there are places that dispatch it with sizes that none of the functions gives.


def any_size(program: Program, calls: Sequence[Call], dispatches: Iterable[Dispatch]) -> dict[str, AnySize]:
    """The functions of every dispatch whose sizes are not constants of the program, by the dispatch's name.

    Args:
      program: The configured module.
      calls: All calls that were evaluated; none: the sizes are those of profiles alone.
      dispatches: What evaluation found at these calls.
    """
    by_key = {(each.executable, each.export): each for each in dispatches}
    found = {key: _Found(dispatch) for key, dispatch in by_key.items() if key not in program.static_dispatches}
    binding = _by_entry(calls)
    if not binding:
        # Calls without symbols have one size each, and there is no other to ask for.
        return {} if calls else {each.dispatch.name: AnySize((), (), _ONLY_PROFILES) for each in found.values()}
    for entry, at in binding.items():
        arithmetic = Arithmetic(program, entry)
        for site in program.sites:
            key = (site.executable, site.export)
            if key in found and site.function is not None and site.function in program.callees[entry]:
                found[key].add(arithmetic, site, at)
    every = [call for at in binding.values() for call in at]
    return {each.dispatch.name: AnySize(every, each.named(binding), each.reason) for each in found.values()}


@dataclass
class _Found:
    """The functions of a dispatch so far."""

    dispatch: Dispatch
    functions: list[SizesFunction] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str | None:
        return "; ".join(self.reasons) or None

    def add(self, arithmetic: Arithmetic, site: Site, calls: Sequence[Call]) -> None:
        """Adds the functions of a place that dispatches."""
        assert site.function is not None
        try:
            chains = arithmetic.chains(site.function)
        except Refused as refused:
            self._refuse(f"its sizes depend on {refused}")
            return
        for chain in chains:
            try:
                self._add(_function(arithmetic, site, chain, calls[0]), calls, always=_always_runs(site, chain))
            except Refused as refused:
                self._refuse(f"its sizes depend on {refused}")

    def _add(self, function: SizesFunction, calls: Sequence[Call], *, always: bool) -> None:
        if not function.used or any(_is_same(function, each) for each in self.functions):
            return
        matches = list(_matches(function, calls, self.dispatch))
        if any(matches) and (all(matches) or not always):
            self.functions.append(function)
        elif always:
            self._refuse("its arithmetic gives other sizes than evaluation of the program does")

    def _refuse(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)

    def named(self, calls: Mapping[str, Sequence[Call]]) -> list[Named]:
        """The functions with names that no benchmark has, and with limits."""
        taken = {benchmark.name for benchmark in self.dispatch.benchmarks}
        found = []
        for function in self.functions:
            name = numbered(f"{self.dispatch.name}__dims", taken)
            taken.add(name)
            sizes = [call.symbols for call in calls[function.entry]]
            used = [symbol for symbol in function.symbols if symbol in function.used]
            found.append(Named(name, function, {symbol: max(each[symbol] for each in sizes) for symbol in used}))
        return found


def _by_entry(calls: Sequence[Call]) -> dict[str, list[Call]]:
    """The calls that bind symbols, by the function that they call."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        if call.is_run and call.symbolic:
            found.setdefault(call.function, []).append(call)
    return found


def _function(arithmetic: Arithmetic, site: Site, chain: Chain, call: Call) -> SizesFunction:
    """The function of a place that dispatches, reached through a chain of calls. Raises Refused."""
    inputs = [parse_input(text) for text in call.symbolic]
    # Not in the order of the call's symbols, which is lost in a lock file.
    symbols = tuple(dict.fromkeys([*symbols_of(inputs), *sorted(call.symbols)]))
    building = ArithmeticFunction(arithmetic, inputs, symbols)
    workload, constants, lengths = operands_of(site.operation)
    results = [building.value(At(value, chain)) for value in (*workload, *constants, *lengths)]
    used = building.symbols_of(results)
    for check, chain_of_check in arithmetic.checks:
        building.check(check, chain_of_check)
    return SizesFunction(
        entry=arithmetic.entry,
        symbols=symbols,
        used=used,
        module=building.finish(results),
        workload=len(workload),
        bindings=len(lengths),
    )


def _is_same(function: SizesFunction, other: SizesFunction) -> bool:
    return function.entry == other.entry and function.text == other.text


def _matches(function: SizesFunction, calls: Sequence[Call], dispatch: Dispatch) -> Iterator[bool]:
    """Whether the function gives sizes at each call that evaluation found there too, if there is anything to write."""
    for index, call in enumerate(calls):
        if index % _CALLS_PER_EVALUATOR == 0:
            evaluator = function.evaluator()
        try:
            sizes = function.sizes(call.symbols, evaluator)
        except ShapeError:
            sizes = None
        if sizes is None or not sizes.writes_nothing(dispatch.written):
            yield any(sizes_of(each) == sizes and call.name in each.counts for each in dispatch.benchmarks)


def _always_runs(site: Site, chain: Chain) -> bool:
    """Whether a place that dispatches is on the way of every call of the entry function."""
    return all(_is_at_start(operation) for operation in (*chain, site.operation))


def _is_at_start(operation: ir.Operation) -> bool:
    """Whether an operation is in the block that a function starts with, in commands at most."""
    while operation.parent.name != "util.func":
        if not operation.parent.name.startswith("stream.cmd."):
            return False
        operation = operation.parent
    blocks = operation.parent.regions[0].blocks
    return len(blocks) == 1 or any(op.operation == operation for op in blocks[0].operations)
