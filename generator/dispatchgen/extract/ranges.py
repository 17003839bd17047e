"""Which sizes the dims of a program's inputs can have: ranges and equalities that program and source state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.assumptions import Assumption, assumptions
from dispatchgen.extract.program import Program
from dispatchgen.extract.progressions import image, intersection, preimage
from dispatchgen.extract.signature import input_index, signature
from dispatchgen.extract.source_dims import SourceDim, SourceDims
from dispatchgen.iree import ir
from dispatchgen.manifest.names import show
from dispatchgen.manifest.size_range import format_range
from dispatchgen.manifest.suite import AutoShapes, Input

#: Sizes from here on are no end that somebody means: exporters write the largest integer where a size is not bounded.
UNBOUNDED = 1 << 31
_ANY = range(1, 1 << 63)

#: The inputs of each entry function.
Inputs = Mapping[str, Sequence[Input]]


@dataclass(frozen=True, order=True)
class Site:
    """Where a size is passed: as a dim of an input, or as the value of a scalar one (`dim` is None)."""

    function: str
    input: int
    dim: int | None

    def __str__(self) -> str:
        return f"input {self.input}" if self.dim is None else f"dim {self.dim} of input {self.input}"


@dataclass(frozen=True)
class Stated:
    """A range that is stated of a size: one of several alternatives."""

    choices: tuple[range, ...]
    text: str
    origin: str  #: Which operation states it, and of what.
    by_source: bool = False  #: Whether that is in the source alone; the program checks what it states itself.


@dataclass(frozen=True)
class Symbol:
    """A symbol of a model: the size of some dims, which is `scale` times a number plus `offset`."""

    name: str
    sites: tuple[Site, ...]
    stated: tuple[Stated, ...]
    #: The number: a symbol of the source, or this symbol itself.
    number: str
    scale: int = 1
    offset: int = 0
    source: str | None = None  #: What the source calls the size.


@dataclass(frozen=True)
class Number:
    """A number that sizes are made from, and what it can be so that all of them are as stated."""

    symbols: tuple[Symbol, ...]
    choices: tuple[range, ...]

    @property
    def sizes(self) -> tuple[range, ...]:
        """What its first symbol can be."""
        first = self.symbols[0]
        return tuple(image(choice, first.scale, first.offset) for choice in self.choices)

    def of_size(self, size: int) -> dict[str, int]:
        """The sizes of all its symbols where the first has this one."""
        first = self.symbols[0]
        number = (size - first.offset) // first.scale
        return {symbol.name: symbol.scale * number + symbol.offset for symbol in self.symbols}

    @property
    def is_bounded(self) -> bool:
        """Whether an upper end is stated, or a single size given."""
        return all(len(choice) == 1 or choice.stop <= UNBOUNDED for choice in self.sizes)


@dataclass
class _Facts:
    """What is found of a symbol."""

    sites: list[Site] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    source: list[SourceDim] = field(default_factory=list)


def symbols(program: Program, inputs: Inputs, source: SourceDims, others: Sequence[str] = ()) -> tuple[Symbol, ...]:
    """The symbols in the inputs of entry functions, in the order of their appearance, then `others`.

    Raises ModelError where the inputs have one symbol for sizes that the source keeps apart.
    """
    facts: dict[str, _Facts] = {}
    for function, values in inputs.items():
        assumed = _assumed(program, function)
        for site, name in _symbol_sites(function, values):
            of_symbol = facts.setdefault(name, _Facts())
            of_symbol.sites.append(site)
            of_symbol.stated += _of_type(program, site)
            of_symbol.stated += [_of_program(site, alternatives) for alternatives in assumed.get(site, ())]
            dim = None if site.dim is None else source.of(function, site.input, site.dim)
            if dim is not None:
                of_symbol.source.append(dim)
    for name in others:
        facts.setdefault(name, _Facts())
    same, problems = _unified(facts)
    if problems:
        raise ModelError(*problems)
    return tuple(_symbol(name, of_symbol, same) for name, of_symbol in facts.items())


def _symbol_sites(function: str, values: Sequence[Input]) -> Iterator[tuple[Site, str]]:
    for index, value in enumerate(values):
        for position, dim in enumerate(value.dims or ()):
            if isinstance(dim, str):
                yield Site(function, index, position), dim
        for item in value.data or ():
            if isinstance(item, str):
                yield Site(function, index, None), item


def _assumed(program: Program, entry: str) -> dict[Site, list[tuple[Assumption, ...]]]:
    """What `util.assume.int` states of the dims and scalars that an entry function takes."""
    from iree.compiler import ir as mlir

    function = program.functions[program.body_of(entry)]
    found: dict[Site, list[tuple[Assumption, ...]]] = {}
    for operation in ir.walk(function, "util.assume.int"):
        for operand, alternatives in zip(operation.operands, assumptions(operation), strict=True):
            dim, value = None, operand
            if not isinstance(operand.owner, mlir.Block) and operand.owner.name == "hal.buffer_view.dim":
                dim, value = ir.integer(operand.owner.attributes["index"]), operand.owner.operands[0]
            if not alternatives or value not in list(function.regions[0].blocks[0].arguments):
                continue
            index = input_index(function, mlir.BlockArgument(value).arg_number)
            if index is not None:
                found.setdefault(Site(entry, index, dim), []).append(alternatives)
    return found


def _of_type(program: Program, site: Site) -> list[Stated]:
    """The size of a dim that is static in the program, whatever the inputs call it."""
    arguments = signature(program, site.function)
    dims = arguments[site.input].dims if site.input < len(arguments) else None
    size = dims[site.dim] if dims is not None and site.dim is not None and site.dim < len(dims) else None
    return [Stated((range(size, size + 1),), str(size), f"the program's {site}")] if size else []


def _of_program(site: Site, alternatives: Sequence[Assumption]) -> Stated:
    text = " or ".join(map(str, alternatives))
    return Stated(tuple(map(_progression, alternatives)), text, f"util.assume.int of {site}")


def _progression(assumption: Assumption) -> range:
    """The sizes that an assumption admits, zero left out: nothing runs there."""
    start = max(1, -(-assumption.umin // assumption.udiv)) * assumption.udiv
    end = _ANY[-1] if assumption.umax is None else min(assumption.umax, _ANY[-1])
    return range(start, end + 1, assumption.udiv)


def _unified(facts: Mapping[str, _Facts]) -> tuple[dict[str, str], list[Problem]]:
    """Symbols of the source for which the inputs have one, by the first of them; and what does not go together."""
    same: dict[str, str] = {}
    problems = []
    for name, of_symbol in facts.items():
        for dim in of_symbol.source[1:]:
            first = of_symbol.source[0]
            if dim == first:
                continue
            are_plain = all((each.scale, each.offset) == (1, 0) for each in (first, dim))
            if not are_plain or dim.symbol == first.symbol:
                sites = ", ".join(map(str, of_symbol.sites))
                message = f"the symbol {show(name)} stands for {sites}, which the source has as {first} and {dim}"
                problems.append(Problem(message, hint="a symbol for each"))
                break
            same[_root(dim.symbol, same)] = _root(first.symbol, same)
    return {symbol: root for symbol in same if (root := _root(symbol, same)) != symbol}, problems


def _root(symbol: str, same: Mapping[str, str]) -> str:
    while symbol in same and same[symbol] != symbol:
        symbol = same[symbol]
    return symbol


def _symbol(name: str, facts: _Facts, same: Mapping[str, str]) -> Symbol:
    sites, stated = tuple(facts.sites), list(facts.stated)
    if not facts.source:
        return Symbol(name, sites, tuple(dict.fromkeys(stated)), f"{name} of the manifest")
    for dim in facts.source:
        if dim.assumption is not None:
            of_symbol = _progression(dim.assumption)
            sizes = intersection(image(of_symbol, dim.scale, dim.offset), _ANY)
            stated.append(Stated((sizes,), f"{dim.assumption}", f"torch.symbolic_int {show(dim.symbol)}", True))
    first = facts.source[0]
    number = _root(first.symbol, same)
    return Symbol(name, sites, tuple(dict.fromkeys(stated)), number, first.scale, first.offset, str(first))


def numbers(found: Sequence[Symbol], auto: AutoShapes) -> tuple[Number, ...]:
    """What the symbols are made from, in the order of the symbols.

    Args:
      auto: With the sizes of symbols that are given.

    Raises:
      ModelError: no number fits all that is stated, or no upper end is stated; of every symbol.
    """
    groups: dict[str, list[Symbol]] = {}
    for symbol in found:
        groups.setdefault(symbol.number, []).append(symbol)
    result = [Number(tuple(group), _choices(group, auto.symbols)) for group in groups.values()]
    problems = [_contradiction(number.symbols, auto.symbols) for number in result if not number.choices]
    problems += _unbounded([number.symbols[0] for number in result if not number.is_bounded], auto)
    if problems:
        raise ModelError(*problems)
    return tuple(result)


def check_sizes(found: Sequence[Symbol], sizes: Mapping[str, int]) -> None:
    """Raises ModelError where sizes of all symbols contradict the source: they are not equal, or not in its ranges.

    Sizes of zero are taken. Symbols that the source has as equal need not be where the program states otherwise.
    """
    groups: dict[str, list[Symbol]] = {}
    for symbol in found:
        if sizes[symbol.name]:
            groups.setdefault(symbol.number, []).append(symbol)
    possible = (group for group in groups.values() if _choices([_stated(each, by_source=False) for each in group], {}))
    of_source = [[_stated(each, by_source=True) for each in group] for group in possible]
    problems = [_contradiction(group, sizes) for group in of_source if not _choices(group, sizes)]
    if problems:
        raise ModelError(*problems)


def _stated(symbol: Symbol, *, by_source: bool) -> Symbol:
    """A symbol with what is stated of it by the source, or by the program."""
    return replace(symbol, stated=tuple(stated for stated in symbol.stated if stated.by_source == by_source))


def _choices(group: Sequence[Symbol], fixed: Mapping[str, int]) -> tuple[range, ...]:
    """What a number can be, from all that is stated of the symbols that are made from it."""
    choices: tuple[range, ...] = (_ANY,)
    for symbol in group:
        given = [(range(fixed[symbol.name], fixed[symbol.name] + 1),)] if symbol.name in fixed else []
        for alternatives in (*given, *(stated.choices for stated in symbol.stated)):
            possible = (preimage(each, symbol.scale, symbol.offset) for each in alternatives)
            pairs = itertools.product(choices, possible)
            choices = tuple(dict.fromkeys(each for a, b in pairs if (each := intersection(a, b))))
    return choices


def _unbounded(symbols: Sequence[Symbol], auto: AutoShapes) -> Iterator[Problem]:
    given = {name: str(size) for name, size in auto.symbols.items()}
    given |= {name: format_range(sizes) for name, sizes in auto.ranges.items()}
    sizes = [f"{name}: {size}" for name, size in (given | {symbol.name: "1..64" for symbol in symbols}).items()]
    for symbol in symbols:
        sites = f" ({', '.join(map(str, symbol.sites))})" if symbol.sites else ""
        message = f"no range is stated for the symbol {show(symbol.name)}{sites}: it needs a size, or a range"
        yield Problem(message, hint=f"`shapes: {{auto: {auto.limit}, {', '.join(sizes)}}}`")


def _contradiction(group: Sequence[Symbol], fixed: Mapping[str, int]) -> Problem:
    names = ", ".join(show(symbol.name) for symbol in group)
    lines = [f"no size fits all that is stated of {names}"]
    for symbol in group:
        lines += [f"  {symbol.name} is {fixed[symbol.name]} in the manifest"] if symbol.name in fixed else []
        lines += [f"  {symbol.name} is {symbol.source} in the source"] if symbol.source and len(group) > 1 else []
        lines += [f"  {stated.origin}: {stated.text}" for stated in symbol.stated]
    several = "sizes that fit, or one symbol for dims that the source has as equal"
    hint = several if len(group) > 1 else "other sizes, or a symbol for each of the dims"
    return Problem("\n".join(dict.fromkeys(lines)), hint=hint)
