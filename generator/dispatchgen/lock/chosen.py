"""A model whose shapes are chosen, with the shapes: before its lock is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem
from dispatchgen.extract.choose import Statement, choose, merged, statement, with_inputs
from dispatchgen.extract.program import Program
from dispatchgen.extract.ranges import check_sizes
from dispatchgen.extract.source_dims import source_dims
from dispatchgen.iree.ir import read_module
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Model, Shape


def with_chosen_shapes(model: Model, source: Path, configured: Mapping[str, Path], compiler: str) -> Model:
    """The model with the shapes that its `auto` asks for after its own, and with the inputs that have their symbols.

    Args:
      source: The model's source file.
      configured: The configured module on each backend.
      compiler: Version text of the compiler.

    Raises ModelError: as `choose` and `merged` do.
    """
    if model.auto is None or not configured:
        return model
    stated = read_statement(model, source, configured, compiler)
    with read_module(next(iter(configured.values())), compiler) as module:
        shapes = choose(Program(module), model, stated, model.auto)
    return replace(with_inputs(model, stated), shapes=(*model.shapes, *shapes))


def check_shapes(model: Model, source: Path, configured: Path, compiler: str) -> None:
    """Raises ModelError for shapes of a model that contradict what its source states of its sizes."""
    dims = source_dims(source, model.source.format)
    if not any(dims.functions.values()) or not any(shape.symbols for shape in model.shapes):
        return
    with read_module(configured, compiler) as module:
        stated = statement(Program(module), model, dims)
    problems = []
    for shape in model.shapes:
        try:
            check_sizes(stated.symbols, shape.symbols)
        except ModelError as error:
            place = Place(key=f"shape {shape.label}")
            problems += [Problem(problem.message, place, problem.hint) for problem in error.problems]
    if problems:
        raise ModelError(*problems)


def with_locked_shapes(program: Program, model: Model, source: Path, lock: Lock | None) -> Model:
    """The same where the shapes that the lock has are chosen, if it has one: `program` is of one of the backends.

    Raises ModelError: as `choose` does.
    """
    if model.auto is None:
        return model
    stated = statement(program, model, source_dims(source, model.source.format))
    names = {symbol.name for symbol in stated.symbols}
    calls = [call for call in lock.calls if call.symbols.keys() == names] if lock is not None else []
    locked = {call.shape: Shape(call.shape, call.symbols) for call in calls}
    listed = {shape.label for shape in model.shapes}
    chosen = tuple(shape for shape in locked.values() if shape.label not in listed)
    shapes = chosen or choose(program, model, stated, model.auto)
    return replace(with_inputs(model, stated), shapes=(*model.shapes, *shapes))


def read_statement(model: Model, source: Path, configured: Mapping[str, Path], compiler: str) -> Statement:
    """What the configured modules of a model and its source state of its sizes. Raises ModelError as `merged` does."""
    dims = source_dims(source, model.source.format)
    statements = {}
    for backend, path in configured.items():
        with read_module(path, compiler) as module:
            statements[backend] = statement(Program(module), model, dims)
    return merged(statements)
