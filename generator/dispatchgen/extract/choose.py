"""Shapes that are chosen for a model, from what its program and its source state of its sizes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dispatchgen.errors import ModelError, Problem, ShapeError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.program import Program
from dispatchgen.extract.ranges import Number, Stated, Symbol, numbers, symbols
from dispatchgen.extract.read_backs import ReadBacks
from dispatchgen.extract.signature import Argument, signature
from dispatchgen.extract.source_dims import SourceDims, symbol_names
from dispatchgen.extract.spread import candidates, combinations
from dispatchgen.iree import ir
from dispatchgen.manifest.names import MAX_NAME, did_you_mean, show
from dispatchgen.manifest.shapes import default_label
from dispatchgen.manifest.size_range import format_range
from dispatchgen.manifest.suite import AutoShapes, Input, Model, Shape

#: How many shapes are tried for each that is wanted, before the search ends.
_TRIES = 20
#: Longest label that may be numbered.
_LABEL = MAX_NAME - 5
_SIZES = re.compile(r"\[([0-9, ]+)\]")


@dataclass(frozen=True)
class Statement:
    """What a configured module and its source state of a model's sizes."""

    inputs: Mapping[str, tuple[Input, ...]]  #: Of each entry function, with symbols.
    symbols: tuple[Symbol, ...]
    tiles: tuple[int, ...]  #: Tile and vector sizes of the kernels, sorted.

    def numbers(self, auto: AutoShapes) -> tuple[Number, ...]:
        """What is chosen. Raises ModelError where something is stated of no symbol, or not enough of one."""
        known = [symbol.name for symbol in self.symbols]
        unknown = [
            Problem(f"no input has the symbol {show(name)}", hint=did_you_mean(name, known))
            for name in (*auto.symbols, *auto.ranges)
            if name not in known
        ]
        if unknown:
            raise ModelError(*unknown)
        return numbers(self.symbols, auto)


def statement(program: Program, model: Model, source: SourceDims) -> Statement:
    """What a program states of the sizes of a model.

    Raises ModelError where the model's inputs contradict the source, or the program has no such entry function.
    """
    inputs = named_inputs(program, model, source)
    others = [size for size in model.overrides.values() if isinstance(size, str)]
    found = symbols(program, inputs, source, others)
    ranges = model.auto.ranges if model.auto is not None else {}
    return Statement(inputs, tuple(_in_range(symbol, ranges) for symbol in found), tile_sizes(program))


def _in_range(symbol: Symbol, ranges: Mapping[str, range]) -> Symbol:
    """A symbol of which is stated what the manifest says of it too."""
    if symbol.name not in ranges:
        return symbol
    sizes = ranges[symbol.name]
    stated = Stated((sizes,), format_range(sizes), "the manifest")
    return replace(symbol, stated=(*symbol.stated, stated))


def merged(statements: Mapping[str, Statement]) -> Statement:
    """What the programs of several backends state, by backend. Raises ModelError where they do not state the same."""
    (first, one), *others = statements.items()
    for name, other in others:
        if (other.inputs, other.symbols) != (one.inputs, one.symbols):
            message = f"on the backends {first} and {name} the program does not state the same of its sizes"
            raise ModelError(Problem(message, hint="`shapes` with sizes, or a model for each backend"))
    tiles = {tile for each in statements.values() for tile in each.tiles}
    return replace(one, tiles=tuple(sorted(tiles)))


def tile_sizes(program: Program) -> tuple[int, ...]:
    """The sizes above one in the lowering configurations of all kernels, sorted."""
    executables = {id(each.executable_op): each.executable_op for each in program.exports.values()}
    configurations = {
        str(op.attributes["lowering_config"])
        for executable in executables.values()
        for op in ir.walk(executable)
        if "lowering_config" in op.attributes
    }
    lists = (found for text in configurations for found in _SIZES.findall(text))
    return tuple(sorted({size for found in lists for size in map(int, found.split(",")) if size > 1}))


def named_inputs(program: Program, model: Model, source: SourceDims) -> dict[str, tuple[Input, ...]]:
    """The inputs of each entry function: the manifest's, else the program's, with symbols named as in the source."""
    entries = [model.entry] if model.entry is not None else program.entries
    given = {entry: model.inputs.get(entry, model.inputs.get(None)) for entry in entries if entry in program.functions}
    arguments = {entry: signature(program, entry) for entry, inputs in given.items() if inputs is None}
    names = symbol_names(arguments, source)
    found = {}
    for entry, inputs in given.items():
        of_entry = inputs if inputs is not None else _inputs(arguments[entry], names)
        if of_entry is not None:
            found[entry] = of_entry
    return found


def _inputs(arguments: Sequence[Argument], names: Iterator[str]) -> tuple[Input, ...] | None:
    """Inputs for arguments, with the next of `names` for each dynamic dim; None where a type is not known."""
    found = []
    for argument in arguments:
        if argument.element is None:
            return None
        dims = argument.dims
        sizes = None if dims is None else tuple(next(names) if dim is None else dim for dim in dims)
        found.append(Input(argument.element, sizes))
    return tuple(found)


def choose(program: Program, model: Model, stated: Statement, auto: AutoShapes) -> tuple[Shape, ...]:
    """Shapes that fit what is stated and that the program takes, sorted by their sizes; none that the model lists.

    Raises ModelError: a symbol has no range and no size; sizes contradict each other; the program takes no shape.
    """
    listed = [dict(shape.symbols) for shape in model.shapes]
    refused: list[Problem] = []
    read_backs = ReadBacks(program)

    def is_wanted(sizes: Mapping[str, int]) -> bool:
        try:
            check(program, model, stated, sizes, read_backs)
        except ShapeError as error:
            refused.extend(error.problems)
            return False
        return sizes not in listed

    order = [symbol.name for symbol in stated.symbols]
    found = fitting(stated.numbers(auto), stated.tiles, auto.limit, is_wanted)
    if refused and not found:
        message = f"the program takes none of {len(refused)} shapes that fit what is stated: {refused[0].message}"
        raise ModelError(Problem(message, hint="`shapes` with sizes that it takes"))
    bindings = [{name: sizes[name] for name in order} for sizes in found]
    return tuple(_labelled(sorted(bindings, key=lambda binding: list(binding.values())), model))


def fitting(
    of_numbers: Sequence[Number], tiles: Sequence[int], limit: int, is_wanted: Callable[[Mapping[str, int]], bool]
) -> list[dict[str, int]]:
    """Sizes of all symbols that are wanted, those that tell most first: at most `limit`, of those that are tried."""
    by_first = {number.symbols[0].name: number for number in of_numbers}
    lists = {name: candidates(number.sizes, tiles) for name, number in by_first.items()}
    found: list[dict[str, int]] = []
    for tried in itertools.islice(combinations(lists), limit * _TRIES):
        sizes: dict[str, int] = {}
        for name, size in tried.items():
            sizes |= by_first[name].of_size(size)
        if is_wanted(sizes):
            found.append(sizes)
        if len(found) == limit:
            break
    return found


def check(
    program: Program, model: Model, stated: Statement, binding: Mapping[str, int], read_backs: ReadBacks | None = None
) -> None:
    """Evaluates the program at these sizes. Raises ShapeError where it rejects them.

    Args:
      read_backs: Those of the program, where more than one binding is checked.
    """
    shape = Shape("tried", binding)
    for call in calls_of(program, replace(with_inputs(model, stated), shapes=(shape,))):
        evaluate(program, call.function, call.inputs, call.overrides, read_backs)


def with_inputs(model: Model, stated: Statement) -> Model:
    """The model with the inputs of each of its entry functions."""
    return replace(model, inputs=dict(stated.inputs.items()))


def _labelled(bindings: Sequence[dict[str, int]], model: Model) -> Iterator[Shape]:
    taken = {shape.label.casefold() for shape in model.shapes} | {each.label.casefold() for each in model.profiles}
    for binding in bindings:
        label = default_label(binding)
        base = label if len(label) <= _LABEL else "chosen"
        number = 1
        while label.casefold() in taken or len(label) > MAX_NAME:
            number += 1
            label = f"{base}_{number}"
        taken.add(label.casefold())
        yield Shape(label, binding)
