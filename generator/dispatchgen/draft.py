"""A first manifest for models, from what the programs say of themselves."""

from __future__ import annotations

import itertools
import math
import os
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import yaml

from dispatchgen.errors import ModelError, Problem, ShapeError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.program import Program
from dispatchgen.extract.signature import signature, suggestion
from dispatchgen.iree import ir
from dispatchgen.iree.configure import configure, source_path
from dispatchgen.iree.tools import Tools
from dispatchgen.manifest.inputs import parse_input, symbols_of, why_not_a_symbol
from dispatchgen.manifest.names import make_id, show
from dispatchgen.manifest.schema import DEFAULT_BACKENDS
from dispatchgen.manifest.sources import (
    SourceProblem,
    checked_package_path,
    checked_suite_path,
    package_folders,
    source_format,
)
from dispatchgen.manifest.suite import Backend, Input, Model, Shape, Source, Suite

#: Sizes that are tried for the symbols of a model, until its program accepts them.
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: How many combinations of them are tried.
_TRIES = 500
#: The opset that IREE's importer wants at least; older models are converted.
_OPSET = 17
_PACKAGE = "package:"
#: What exporters call dims that have no name.
_UNNAMED_DIM = re.compile(r"(unk__|dynamic_axes_|\?)\w*")


@dataclass(frozen=True)
class DraftModel:
    """What the manifest is to say of a model."""

    name: str
    source: Source
    import_flags: Sequence[str]
    inputs: Mapping[str, Sequence[str]]  #: By entry function; empty: all types are static and read from the program.
    sizes: Mapping[str, int]  #: Sizes of the symbols that the program accepts.
    accepted: bool  #: Whether it does; else `sizes` are a guess.


def parse_source(text: str, folder: Path) -> Source:
    """The source that a path, or `package:<import name>/<path>`, names. Raises ModelError."""
    try:
        if text.startswith(_PACKAGE):
            package, _, path = text.removeprefix(_PACKAGE).partition("/")
            if not package_folders(package):
                raise SourceProblem(f"the Python package {show(package)} is not installed", f"pip install {package}")
            return Source(checked_package_path(package, path), source_format(path), package)
        path = Path(os.path.relpath(text, folder)).as_posix()
        return Source(checked_suite_path(path, folder.resolve(), allow_outside=False), source_format(path))
    except SourceProblem as problem:
        raise ModelError(Problem(problem.message, hint=problem.hint)) from problem


def draft(tools: Tools, manifest: Path, sources: Sequence[Source], work_dir: Path, timeout: float) -> list[DraftModel]:
    """Reads each program's signature and finds sizes that it accepts.

    Args:
      manifest: Where the manifest will be.
      work_dir: A folder for intermediate files.
      timeout: Time limit of each process of IREE, in seconds.

    Raises:
      ModelError: a program cannot be read or has nothing to benchmark.
      ToolError: a process of IREE's crashed or ran past the time limit.
    """
    (settings,) = DEFAULT_BACKENDS.values()
    flags = tuple(settings["compile_flags"])
    backend = Backend("cpu", "cpu", settings["target_device"], settings["local_backend"], flags)
    models = []
    for source, name in zip(sources, _names(sources), strict=True):
        model = Model(name, make_id(name), source, backends=(backend.id,))
        suite = Suite(manifest, (backend,), (model,))
        path = source_path(suite, model)
        opset, symbols = _of_onnx(path) if source.format == "onnx" else (_OPSET, {})
        if opset < _OPSET:
            model = replace(model, import_flags=(f"--opset-version={_OPSET}",))
        with ir.read_module(
            configure(tools, suite, model, backend, work_dir, timeout), tools.compiler_version
        ) as module:
            models.append(_draft_model(Program(module), model, symbols))
    return models


def _names(sources: Sequence[Source]) -> list[str]:
    """A name for each model: the file's, or the package's where the file is called `model`."""
    names: list[str] = []
    for source in sources:
        stem = PurePosixPath(source.path).stem
        base = source.package if source.package is not None and stem == "model" else stem
        candidates = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(2)))
        names.append(next(name for name in candidates if make_id(name) not in {make_id(other) for other in names}))
    return names


def _of_onnx(path: Path) -> tuple[int, dict[int, list[str]]]:
    """The opset of an ONNX model, and the names of the dynamic dims of each input, which are lost at import."""
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    opset = max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=_OPSET)
    weights = {initializer.name for initializer in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    dims = [[d.dim_param for d in value.type.tensor_type.shape.dim if not d.HasField("dim_value")] for value in inputs]
    return opset, dict(enumerate(dims))


def _draft_model(program: Program, model: Model, onnx_dims: Mapping[int, Sequence[str]]) -> DraftModel:
    calls_problem = _needs_inputs(program, model)
    if not calls_problem:
        return DraftModel(model.name, model.source, model.import_flags, {}, {}, True)
    symbols = _symbols(onnx_dims)
    inputs = {entry: suggestion(signature(program, entry), symbols) for entry in program.entries}
    parsed: dict[str | None, tuple[Input, ...]] = {
        entry: tuple(parse_input(text) for text in texts if text != "TYPE") for entry, texts in inputs.items()
    }
    names = symbols_of([value for values in parsed.values() for value in values])
    sizes = _accepted_sizes(program, model, parsed, names)
    guess = dict.fromkeys(names, 1)
    return DraftModel(model.name, model.source, model.import_flags, inputs, sizes or guess, sizes is not None)


def _needs_inputs(program: Program, model: Model) -> bool:
    """Whether the program's types alone do not say what its inputs are. Raises ModelError if nothing dispatches."""
    if not program.entries:
        calls_of(program, model)
    arguments = [argument for entry in program.entries for argument in signature(program, entry)]
    return any(argument.dims is None or None in argument.dims for argument in arguments)


def _symbols(onnx_dims: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Symbols named as in the ONNX model; a dim of another's name there has the same symbol here."""
    given: dict[str, str] = {}
    for number, name in enumerate(itertools.chain.from_iterable(onnx_dims.values())):
        plain = re.sub(r"[^A-Za-z0-9_]", "", name).upper()
        usable = why_not_a_symbol(plain) is None and not _UNNAMED_DIM.fullmatch(name)
        letter = string.ascii_uppercase[number] if number < len(string.ascii_uppercase) else f"D{number}"
        yield given.setdefault(name or f" {number}", plain if usable else letter)


def _accepted_sizes(
    program: Program, model: Model, inputs: Mapping[str | None, tuple[Input, ...]], names: Sequence[str]
) -> dict[str, int] | None:
    """The first sizes that the program accepts; None where none of those tried do."""
    combinations = sorted(itertools.islice(itertools.product(_SIZES, repeat=len(names)), _TRIES), key=sum)
    for sizes in combinations:
        shape = Shape("tried", dict(zip(names, sizes, strict=True)))
        try:
            for call in calls_of(program, replace(model, inputs=dict(inputs), shapes=(shape,))):
                evaluate(program, call.function, call.inputs)
        except ShapeError:
            continue
        except ModelError:
            return None  # an input of a type that the program does not state
        return dict(shape.symbols)
    return None


def manifest_text(models: Sequence[DraftModel]) -> str:
    """The manifest, with comments on what to change."""
    lines = ["version: 1", "models:"]
    for model in models:
        lines += [f"  {line}".rstrip() for line in _model_lines(model)]
    return "\n".join(lines) + "\n"


def _model_lines(model: DraftModel) -> Iterator[str]:
    yield f"{_scalar(model.name)}:"
    source = model.source
    if source.package is None:
        yield f"  source: {_scalar(source.path)}"
    else:
        yield f"  source: {{package: {_scalar(source.package)}, path: {_scalar(source.path)}}}"
    if model.import_flags:
        yield f"  import_flags: [{', '.join(map(_scalar, model.import_flags))}]"
    if len(model.inputs) == 1:
        (texts,) = model.inputs.values()
        yield f"  inputs: [{', '.join(map(_scalar, texts))}]"
    elif model.inputs:
        yield "  inputs:"
        for function, texts in model.inputs.items():
            yield f"    {_scalar(function)}: [{', '.join(map(_scalar, texts))}]"
    if model.sizes:
        comment = (
            "more sizes as you need: {B: [1, 8]}" if model.accepted else "no sizes were found that the program accepts"
        )
        sizes = ", ".join(f"{symbol}: {size}" for symbol, size in model.sizes.items())
        yield f"  shapes: {{{sizes}}}  # {comment}"


def _scalar(text: str) -> str:
    """A text as YAML, plain where it is read back as that text inside a flow sequence."""
    plain = text.isascii() and text.isprintable() and not set(text) & set(" ,[]{}#:&*!|>'\"%@`\n\t?")
    reader: Callable[[str], object] = yaml.safe_load
    if plain and text and reader(f"[{text}]") == [text]:
        return text
    return str(yaml.safe_dump(text, default_style='"', width=math.inf)).strip()
