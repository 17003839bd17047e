"""The calls of a model: each entry function at each shape, with its inputs checked against the program's signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dispatchgen.errors import ModelError, Place, Problem
from dispatchgen.extract import inputs
from dispatchgen.extract.inputs import ConcreteInput
from dispatchgen.extract.names import numbered
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call
from dispatchgen.extract.signature import Argument, signature, suggestion
from dispatchgen.manifest.data_sections import is_in_file, item_of
from dispatchgen.manifest.inputs import format_input
from dispatchgen.manifest.names import make_label, nearest
from dispatchgen.manifest.suite import Input, Model, Shape


def calls_of(program: Program, model: Model) -> tuple[Call, ...]:
    """Every call of a model that is benchmarked.

    Raises:
      ModelError: the program has no such entry function or nothing that dispatches, or inputs do not fit its
        signature; all that is wrong at once.
    """
    entries = _entries(program, model)
    prefixes = _prefixes(entries)
    calls, problems = [], []
    for entry in entries:
        arguments = signature(program, entry)
        given = _inputs(model, entry)
        for shape in model.shapes:
            found = list(_problems(arguments, given, shape))
            if found:
                place = Place(key=f"function @{entry}")
                problems += [Problem(p.message, place, p.hint) for p in found]
                continue
            values = given if given is not None else [_from(argument) for argument in arguments]
            files = _files(prefixes[entry] + shape.label, values)
            calls.append(
                Call(
                    name=prefixes[entry] + shape.label,
                    function=entry,
                    shape=shape.label,
                    symbols=dict(shape.symbols),
                    inputs=tuple(
                        str(replace(inputs.bind(value, shape), file=files.get(index)))
                        for index, value in enumerate(values)
                    ),
                    fills={index: item_of(value.fill) for index, value in enumerate(values) if value.fill is not None},
                    files=tuple(files.values()),
                    overrides=_overrides(model, shape),
                    symbolic=_symbolic(values) if shape.symbols else (),
                )
            )
    if problems:
        raise ModelError(*dict.fromkeys(problems))  # each once, at however many shapes it is found
    return tuple(calls)


def _symbolic(values: Sequence[Input]) -> tuple[str, ...]:
    """Inputs with their symbols; the values of scalars are kept, which may be sizes."""
    return tuple(
        format_input(replace(value, fill=None, data=value.data if value.dims is None else None)) for value in values
    )


def _prefixes(entries: Sequence[str]) -> dict[str, str]:
    """What the names of an entry function's calls start with: nothing where there is one function only."""
    if len(entries) == 1:
        return {entries[0]: ""}
    identifiers: dict[str, str] = {}
    for entry in entries:
        identifiers[entry] = numbered(make_label(entry), identifiers.values())
    return {entry: f"{identifier}__" for entry, identifier in identifiers.items()}


def _entries(program: Program, model: Model) -> list[str]:
    """The entry functions that the manifest selects."""
    found = program.entries
    if not found:
        raise ModelError("no public function of the program dispatches anything: there is nothing to benchmark")
    wanted = [model.entry] if model.entry is not None else [name for name in model.inputs if name is not None]
    for name in wanted:
        if name not in found:
            raise ModelError(_unknown_function(name, found))
    return [model.entry] if model.entry is not None else found


def _unknown_function(name: str, found: Sequence[str]) -> Problem:
    return Problem(
        f"the program has no public function @{name} that dispatches; it has {', '.join('@' + f for f in found)}",
        hint=nearest(name, found),
    )


def _inputs(model: Model, entry: str) -> Sequence[Input] | None:
    """What the manifest says of an entry function's inputs; None where it says nothing."""
    if entry in model.inputs:
        return model.inputs[entry]
    return model.inputs.get(None)


def _files(call: str, values: Sequence[Input]) -> dict[int, str]:
    """The names of the files that hold inputs of a call, by number."""
    return {index: f"{call}.input{index}.bin" for index, value in enumerate(values) if is_in_file(value.fill)}


def _overrides(model: Model, shape: Shape) -> dict[str, int]:
    """The sizes at a shape that only the device computes."""
    overrides = sorted(model.overrides.items())
    return {name: shape.symbols[size] if isinstance(size, str) else size for name, size in overrides}


def _from(argument: Argument) -> Input:
    assert argument.element is not None and argument.dims is not None and None not in argument.dims
    return Input(argument.element, tuple(d for d in argument.dims if d is not None))


def _problems(arguments: Sequence[Argument], given: Sequence[Input] | None, shape: Shape) -> Iterator[Problem]:
    """What is wrong with the inputs of a function at a shape."""
    start = f"inputs: [{', '.join(suggestion(arguments))}]"
    takes = f"the function takes ({', '.join(map(str, arguments))})"
    if given is None:
        if any(argument.dims is None or None in argument.dims or argument.is_boxed_integer for argument in arguments):
            yield Problem(f"inputs are needed: {takes}", hint=start)
        return
    if len(given) != len(arguments):
        yield Problem(f"{len(given)} inputs are given; {takes}", hint=start)
        return
    for index, (argument, input_) in enumerate(zip(arguments, given, strict=True)):
        for message in _mismatches(argument, input_, inputs.bind(input_, shape), shape):
            yield Problem(f"input {index}: {message}", hint=str(argument))


def _mismatches(argument: Argument, input_: Input, concrete: ConcreteInput, shape: Shape) -> Iterator[str]:
    if argument.is_tensor != (concrete.dims is not None):
        yield "it is a tensor, not a scalar" if argument.is_tensor else "it is a scalar, not a tensor"
        return
    if concrete.dims is None and concrete.data is None:
        yield "a scalar needs a value, e.g. index=3 or index=N"
    if concrete.data is None and argument.is_boxed_integer:
        yield "an integer needs a value, e.g. tensor<i64>=3: it may be a size"
    if argument.element is not None and argument.element.lstrip("su") != concrete.element.lstrip("su"):
        yield f"the element type is {concrete.element}, the program has {argument.element}"
    if argument.dims is None or concrete.dims is None or input_.dims is None:
        return
    if len(argument.dims) != len(concrete.dims):
        yield f"it has {len(concrete.dims)} dims, the program has {len(argument.dims)}"
        return
    for dim, (static, found, written) in enumerate(zip(argument.dims, concrete.dims, input_.dims, strict=True)):
        if static is not None and static != found:
            symbol = f" ({written} at shape {shape.label})" if isinstance(written, str) else ""
            yield f"dim {dim} is {found}{symbol}, the program has {static}"
