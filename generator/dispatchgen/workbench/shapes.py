"""What programs state of the sizes of models, and shapes chosen from it, for people to look at and to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dispatchgen.errors import DispatchgenError
from dispatchgen.extract.choose import Statement, choose
from dispatchgen.extract.program import Program
from dispatchgen.extract.ranges import Symbol
from dispatchgen.files import work_folder
from dispatchgen.iree.configure import configure, import_source, source_path
from dispatchgen.iree.ir import read_module
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.chosen import read_statement
from dispatchgen.manifest.inputs import format_input
from dispatchgen.manifest.shapes import DEFAULT_LIMIT
from dispatchgen.manifest.suite import AutoShapes, Model, Shape, Suite
from dispatchgen.manifest.yaml_text import scalar

#: Version of `as_data`.
VERSION = 1


@dataclass(frozen=True)
class Proposal:
    """What is stated of a model's sizes, and the shapes that are chosen from it, or why none are."""

    model: Model
    statement: Statement
    shapes: tuple[Shape, ...]
    error: DispatchgenError | None = None


def propose(tools: CompilerTools, suite: Suite, model: Model, limit: int | None, timeout: float) -> Proposal:
    """Compiles a model for each of its backends and chooses shapes, none of which it lists.

    Args:
      limit: How many shapes at most; None: as the manifest says.
      timeout: Time limit of each process, in seconds.

    Raises:
      DispatchgenError: the model does not compile, or what it states cannot be told.
    """
    auto = model.auto or AutoShapes(DEFAULT_LIMIT)
    auto = replace(auto, limit=auto.limit if limit is None else limit)
    with work_folder() as folder:
        imported = import_source(tools, suite, model, folder, timeout)
        configured = {}
        for backend in map(suite.backend, model.backends):
            (folder / backend.id).mkdir()
            configured[backend.id] = configure(tools, suite, model, backend, folder / backend.id, timeout, imported)
        stated = read_statement(model, source_path(suite, model), configured, tools.compiler_version)
        with read_module(next(iter(configured.values())), tools.compiler_version) as module:
            try:
                return Proposal(model, stated, choose(Program(module), replace(model, shapes=()), stated, auto))
            except DispatchgenError as error:
                return Proposal(model, stated, (), error)


def as_data(proposals: Sequence[Proposal]) -> dict[str, Any]:
    """The proposals as JSON has them."""
    return {"version": VERSION, "models": [_model_data(proposal) for proposal in proposals]}


def _model_data(proposal: Proposal) -> dict[str, Any]:
    return {
        "model": proposal.model.id,
        "inputs": {entry: list(map(format_input, each)) for entry, each in proposal.statement.inputs.items()},
        "symbols": [_symbol_data(symbol) for symbol in proposal.statement.symbols],
        "tile_sizes": list(proposal.statement.tiles),
        "shapes": [{"label": shape.label, "symbols": dict(shape.symbols)} for shape in proposal.shapes],
    }


def _symbol_data(symbol: Symbol) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "source": symbol.source,
        "sites": [{"function": site.function, "input": site.input, "dim": site.dim} for site in symbol.sites],
        "stated": [
            {"by": each.origin, "ranges": [{"min": c[0], "max": c[-1], "step": c.step} for c in each.choices if c]}
            for each in symbol.stated
        ],
    }


def as_yaml(proposals: Sequence[Proposal]) -> str:
    """The proposals as a manifest has them, with what is stated in comments."""
    lines = ["models:"]
    for proposal in proposals:
        lines += [f"  {scalar(proposal.model.name)}:", *(f"    {line}" for line in _model_lines(proposal))]
    return "".join(f"{line}\n" for line in lines)


def _model_lines(proposal: Proposal) -> Iterator[str]:
    for symbol in proposal.statement.symbols:
        yield f"# {symbol.name}: {', '.join(map(str, symbol.sites)) or 'a size that only the device computes'}"
        if symbol.source is not None:
            yield f"#   named {symbol.source} in the source"
        for stated in symbol.stated:
            yield f"#   {stated.text} ({stated.origin})"
        if not symbol.stated:
            yield "#   no range is stated"
    if proposal.statement.tiles:
        yield f"# tile and vector sizes of the kernels: {', '.join(map(str, proposal.statement.tiles))}"
    if not proposal.model.inputs:
        yield from _input_lines(proposal.statement)
    if proposal.shapes:
        yield "shapes:"
    for shape in proposal.shapes:
        yield f"  - {{{', '.join(f'{name}: {size}' for name, size in shape.symbols.items())}}}"


def _input_lines(stated: Statement) -> Iterator[str]:
    texts = {entry: f"[{', '.join(map(scalar, map(format_input, each)))}]" for entry, each in stated.inputs.items()}
    if len(texts) == 1:
        yield f"inputs: {next(iter(texts.values()))}"
    elif texts:
        yield "inputs:"
        yield from (f"  {scalar(entry)}: {text}" for entry, text in texts.items())
