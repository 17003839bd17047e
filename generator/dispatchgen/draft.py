"""A first manifest for models, from what the programs say of themselves."""

from __future__ import annotations

import itertools
import math
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from dispatchgen.errors import ModelError, Problem, ShapeError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.evaluate import Trace, evaluate
from dispatchgen.extract.program import Program
from dispatchgen.extract.ranges import numbers, symbols
from dispatchgen.extract.signature import signature, suggestion
from dispatchgen.extract.source_dims import SourceDims, source_dims, symbol_names
from dispatchgen.extract.stream_ops import NOT_GIVEN
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import ir
from dispatchgen.iree.configure import configure, source_path
from dispatchgen.iree.tools import Tools
from dispatchgen.iree.types import is_integer
from dispatchgen.manifest.inputs import format_input, parse_input, symbols_of
from dispatchgen.manifest.names import MAX_NAME, make_id, show
from dispatchgen.manifest.schema import DEFAULT_BACKENDS
from dispatchgen.manifest.sources import (
    SourceProblem,
    checked_package_path,
    checked_suite_path,
    package_folders,
    source_format,
)
from dispatchgen.manifest.suite import AutoShapes, Backend, Input, Model, Shape, Source, Suite
from dispatchgen.manifest.yaml_text import scalar
from dispatchgen.render.quote import path_refusal

#: Sizes that are tried for the symbols of a model, until its program accepts them.
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: How many combinations of them are tried.
_TRIES = 500
#: The opset that IREE's importer wants at least; older models are converted.
_OPSET = 17
_PACKAGE = "package:"
#: Most characters of a file's name that become a model's name: a number and `_` in front of a digit may come to it.
_NAME = MAX_NAME - 8
#: Most values of an input that are written one by one.
_WRITTEN_OUT = 8
#: What `suggestion` writes for a tensor of a type that the program does not state.
_UNKNOWN_TYPE = "TYPE"
#: Why evaluation does not know a value that comes from an input.
_NO_DATA = re.compile(rf"the contents of input (\d+), {re.escape(NOT_GIVEN)}")

#: An input: entry function and index.
_Position = tuple[str, int]
_Inputs = Mapping[str, tuple[Input, ...]]


@dataclass(frozen=True)
class DraftModel:
    """What the manifest is to say of a model."""

    name: str
    source: Source
    import_flags: Sequence[str]
    inputs: Mapping[str, Sequence[str]]  #: By entry function; empty: all types are static and read from the program.
    sizes: Mapping[str, int]  #: Sizes of the symbols that the program accepts.
    accepted: bool  #: Whether it does; else `sizes` are a guess.
    holding_sizes: Collection[_Position] = ()  #: Tensors whose values are sizes: entry function and index.
    ranges: Mapping[str, str] = field(
        default_factory=dict
    )  #: Of the symbols, in words; empty: not of all is one stated.


def parse_source(text: str, manifest: Path) -> Source:
    """The source that a path, or `package:<import name>/<path>`, names, for a manifest that will be at `manifest`.

    Raises ModelError, also for a path that the build could not carry.
    """
    try:
        if text.startswith(_PACKAGE):
            package, _, path = text.removeprefix(_PACKAGE).partition("/")
            if not package_folders(package):
                raise SourceProblem(f"the Python package {show(package)} is not installed", f"pip install {package}")
            source = Source(checked_package_path(package, path), source_format(path), package)
        else:
            path = _suite_path(text, manifest)
            source = Source(path, source_format(path))
    except SourceProblem as problem:
        raise ModelError(Problem(problem.message, hint=problem.hint)) from problem
    reason = path_refusal(source.path)
    if reason is not None:
        raise ModelError(
            Problem(f"the build cannot use the path {show(source.path)}: {reason}", hint="rename the file")
        )
    return source


def _suite_path(text: str, manifest: Path) -> str:
    """The path of a file from the manifest's folder. Raises SourceProblem, also where the file is not below it."""
    root = manifest.parent.resolve()
    path = Path(os.path.relpath(text, manifest.parent)).as_posix()
    leaves = path.startswith("../")
    exists = os.path.isfile(text)  # noqa: PTH113 - false, and no error, for a path that no file can have
    if leaves and not exists:
        raise SourceProblem(f"there is no file {show(text)}")
    if exists and (leaves or not Path(text).resolve().is_relative_to(root)):
        example = shlex.quote(str(Path(text).parent / manifest.name))
        hint = f"a manifest in a folder above all models, e.g. `-o {example}`"
        raise SourceProblem(f"the model {show(text)} lies outside of the manifest's folder", hint)
    return checked_suite_path(path, root, allow_outside=False)


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
        if source.format == "onnx" and _opset(path) < _OPSET:
            model = replace(model, import_flags=(f"--opset-version={_OPSET}",))
        with ir.read_module(
            configure(tools, suite, model, backend, work_dir, timeout), tools.compiler_version
        ) as module:
            models.append(_draft_model(Program(module), model, source_dims(path, source.format)))
    return models


def _names(sources: Sequence[Source]) -> list[str]:
    """A name for each model: the file's, or the package's where the file is called `model`."""
    names: list[str] = []
    for source in sources:
        stem = PurePosixPath(source.path).stem
        base = (source.package if source.package is not None and stem == "model" else stem)[:_NAME]
        candidates = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(2)))
        names.append(next(name for name in candidates if make_id(name) not in {make_id(other) for other in names}))
    return names


def _opset(path: Path) -> int:
    """The opset of an ONNX model."""
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    return max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=_OPSET)


def _draft_model(program: Program, model: Model, source: SourceDims) -> DraftModel:
    if not program.entries:
        calls_of(program, model)  # says so
    arguments = {entry: signature(program, entry) for entry in program.entries}
    is_static = not any(a.dims is None or None in a.dims for each in arguments.values() for a in each)
    names = symbol_names(arguments, source)
    texts = {entry: suggestion(each, names) for entry, each in arguments.items()}
    is_known = all(argument.element is not None for each in arguments.values() for argument in each)
    inputs = {entry: tuple(parse_input(t) for t in each if t != _UNKNOWN_TYPE) for entry, each in texts.items()}
    trial = _accepted(program, model, inputs) if is_known else None
    if is_static and (trial is None or not trial.holding_sizes):
        return DraftModel(model.name, model.source, model.import_flags, {}, {}, True)
    if trial is None:
        guess = dict.fromkeys(symbols_of([value for each in inputs.values() for value in each]), 1)
        return DraftModel(model.name, model.source, model.import_flags, texts, guess, False)
    texts = {entry: [format_input(value) for value in each] for entry, each in trial.inputs.items()}
    ranges = _ranges(program, trial.inputs, source) if trial.accepted else {}
    return DraftModel(
        model.name, model.source, model.import_flags, texts, trial.sizes, trial.accepted, trial.holding_sizes, ranges
    )


def _ranges(program: Program, inputs: _Inputs, source: SourceDims) -> dict[str, str]:
    """What is stated of each symbol, where both ends are for all of them."""
    try:
        found = symbols(program, inputs, source)
        numbers(found, AutoShapes(1))
    except ModelError:
        return {}
    return {symbol.name: symbol.stated[0].text for symbol in found if symbol.stated}


@dataclass(frozen=True)
class _Trial:
    """Inputs and sizes that a program was evaluated with."""

    inputs: _Inputs
    sizes: Mapping[str, int]
    holding_sizes: frozenset[_Position]  #: The inputs that were given values.
    accepted: bool = True


def _accepted(program: Program, model: Model, inputs: _Inputs) -> _Trial | None:
    """The first trial that the program accepts, else the one with all sizes 1; None where none can be evaluated."""
    # A tensor of one integer needs a value in any case.
    holding = frozenset(
        (function, index)
        for function, values in inputs.items()
        for index, value in enumerate(values)
        if value.dims == () and is_integer(value.element)
    )
    while True:
        trials = list(_trials(inputs, sorted(holding)))
        for trial in trials:
            try:
                lacking = _lacking(program, model, trial)
            except ShapeError:
                continue
            except ModelError:
                return None
            if lacking <= holding:
                return trial
            holding |= lacking
            break
        else:
            return replace(trials[0], accepted=False)


def _trials(inputs: _Inputs, holding: Sequence[_Position]) -> Iterator[_Trial]:
    """All sizes for the symbols and for the values of the inputs that hold sizes, small ones first."""
    names = symbols_of([value for values in inputs.values() for value in values])
    products = itertools.product(_SIZES, repeat=len(names) + len(holding))
    for sizes in sorted(itertools.islice(products, _TRIES), key=sum):
        values = dict(zip(holding, sizes[len(names) :], strict=True))
        filled = {
            entry: tuple(
                _filled(value, values[entry, index]) if (entry, index) in values else value
                for index, value in enumerate(each)
            )
            for entry, each in inputs.items()
        }
        yield _Trial(filled, dict(zip(names, sizes, strict=False)), frozenset(holding))


def _filled(value: Input, number: int) -> Input:
    """The input with the same number everywhere, written out where that is short."""
    dims = value.dims or ()
    count = math.prod(dim for dim in dims if isinstance(dim, int))
    is_short = count <= _WRITTEN_OUT and not any(isinstance(dim, str) for dim in dims)
    return replace(value, data=(number,) * (count if is_short else 1))


def _lacking(program: Program, model: Model, trial: _Trial) -> frozenset[_Position]:
    """The inputs whose values the program reads and that have none. Raises ShapeError where it rejects the trial."""
    traces = _traces(program, model, trial.inputs, trial.sizes)
    return frozenset(
        (function, int(match[1]))
        for function, trace in traces.items()
        for reason in _unknown(trace)
        for match in _NO_DATA.finditer(reason)
    )


def _traces(program: Program, model: Model, inputs: _Inputs, sizes: Mapping[str, int]) -> dict[str, Trace]:
    given: dict[str | None, tuple[Input, ...]] = dict(inputs.items())
    calls = calls_of(program, replace(model, inputs=given, shapes=(Shape("tried", sizes),)))
    return {call.function: evaluate(program, call.function, call.inputs) for call in calls}


def _unknown(trace: Trace) -> Iterator[str]:
    """Why evaluation does not know what it does not know."""
    yield from (stop.reason for stop in trace.stops)
    for each in trace.dispatched:
        operands = (*each.workload, *(value for _, value in each.constants), *each.lengths)
        yield from (value.reason for value in operands if isinstance(value, Unknown))


def manifest_text(models: Sequence[DraftModel]) -> str:
    """The manifest, with comments on what to change."""
    lines = ["version: 1", "models:"]
    for model in models:
        lines += [f"  {line}".rstrip() for line in _model_lines(model)]
    return "\n".join(lines) + "\n"


def _model_lines(model: DraftModel) -> Iterator[str]:
    yield f"{scalar(model.name)}:"
    source = model.source
    if source.package is None:
        yield f"  source: {scalar(source.path)}"
    else:
        yield f"  source: {{package: {scalar(source.package)}, path: {scalar(source.path)}}}"
    if model.import_flags:
        yield f"  import_flags: [{', '.join(map(scalar, model.import_flags))}]"
    is_single = len(model.inputs) == 1
    if model.inputs and not is_single:
        yield "  inputs:"
    for function, texts in model.inputs.items():
        key = "  inputs" if is_single else f"    {scalar(function)}"
        yield f"{key}: [{', '.join(map(scalar, texts))}]{_sizes_comment(model, function)}"
    if model.ranges:
        yield f"  shapes: auto  # {'; '.join(f'{symbol}: {text}' for symbol, text in model.ranges.items())}"
    elif model.sizes:
        symbol, size = next(iter(model.sizes.items()))
        ranges = ", ".join(f"{each}: 1..64" for each in model.sizes)
        comment = f"more sizes as you need: {{{symbol}: [{size}, {8 * size}]}}, or ranges: {{auto: 8, {ranges}}}"
        if not model.accepted:
            comment = "no sizes were found that the program accepts"
        sizes = ", ".join(f"{symbol}: {size}" for symbol, size in model.sizes.items())
        yield f"  shapes: {{{sizes}}}  # {comment}"


def _sizes_comment(model: DraftModel, function: str) -> str:
    """What to say of the inputs of a function that hold sizes."""
    indices = sorted(index for entry, index in model.holding_sizes if entry == function)
    if not indices:
        return ""
    if len(indices) == 1:
        return f"  # input {indices[0]} may hold sizes: give it the values of your model"
    return f"  # inputs {', '.join(map(str, indices))} may hold sizes: give them the values of your model"
