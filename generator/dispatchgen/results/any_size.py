"""Calls at sizes that nothing lists: from a build as it is, without compiling anything.

The program is evaluated at the sizes. What it dispatches then is run by the functions of the benchmark modules: by one
of a listed shape where the sizes are the same, else by one that takes sizes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.errors import ModelError, Place, Problem, ShapeError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.data import Held
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.layout import layout_of
from dispatchgen.extract.names import numbered
from dispatchgen.extract.parameterized import AnySize, Named, any_size
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.extract.sizes import sizes_of
from dispatchgen.files import write_if_changed
from dispatchgen.iree import ir
from dispatchgen.lock.data import data_plan
from dispatchgen.lock.modules import call_flags
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.fills import DataSettings
from dispatchgen.manifest.inputs import parse_input
from dispatchgen.manifest.suite import Input, Model


@dataclass(frozen=True)
class SizedBenchmark:
    """How a benchmark is run that is none of its module's: a function that takes sizes."""

    function: str
    sizes: tuple[int, ...]  #: Its arguments after the batch size.


@dataclass(frozen=True)
class AtSizes:
    """The calls of a model on a backend at sizes that nothing lists."""

    calls: tuple[Call, ...]
    dispatches: BackendDispatches  #: What the build has, and what the calls dispatch.
    sized: Mapping[str, SizedBenchmark]  #: By the name of the benchmark.
    folder: Path  #: Of their flag files.
    #: Why inputs of whole models hold zeros that hold something else at listed shapes, by call and number.
    unfit: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def flag_file(self, call: Call) -> Path | None:
        """The flag file of a call; None: it is listed, and the build has one."""
        return self.folder / f"{call.name}.flags" if call in self.calls else None

    def fills(self, call: Call, fills: Mapping[int, str]) -> dict[int, str]:
        """What inputs of a call hold, in words, of what they hold at listed shapes."""
        return {
            index: f"zeros ({self.unfit[call.name, index]})" if (call.name, index) in self.unfit else text
            for index, text in fills.items()
        }


def at_sizes(
    model: Model, lock: Lock, dispatches: BackendDispatches, tree: BuildTree, work: BuildTree, root: Path
) -> AtSizes:
    """What a model dispatches at `model.sizes`; also writes the flag files of these calls, and those of their inputs.

    Args:
      model: The model.
      lock: Its lock.
      dispatches: What the build has of it on a backend.
      tree: The build.
      work: Where the flag files are written.
      root: The suite's folder.

    Raises:
      ModelError: the sizes do not fit the program, or are beyond the limits; all that is wrong.
      ShapeError: the program itself rejects them.
    """
    with ir.read_module(tree.configured(model.id, dispatches.backend)) as module:
        program = Program(module)
        calls = calls_of(program, _with_sizes(model, lock))
        # Bindings hold what they hold in the build: of data, only that of inputs is made.
        data = replace(data_plan(DataSettings(), root), must_fit=False)
        extraction = extract(program, calls, dispatches.backend, dispatches, data=data, any_sizes=False)
        found = extraction.lock
        run = [call for call in lock.calls if call.is_run]
        matching = _Matching(model, run, calls, any_size(program, run, dispatches.dispatches))
        built = {(each.executable, each.export): each for each in dispatches.dispatches}
        for dispatch in found.dispatches:
            matching.add(dispatch, built.get((dispatch.executable, dispatch.export)))
    problems = [*matching.problems, *_unfit_values(calls, extraction.held)]
    if problems:
        raise ModelError(*dict.fromkeys(problems))
    folder = work.sizes(model.id, dispatches.backend)
    _write_calls(folder, calls, extraction.held)
    return AtSizes(calls, matching.added(dispatches, found), matching.sized, folder, extraction.held.unfit)


def _unfit_values(calls: Sequence[Call], held: Held) -> Iterator[Problem]:
    """What is wrong with values that inputs are given: no zeros take their place, they may be sizes."""
    for call in calls:
        for index, text in enumerate(call.inputs):
            if (call.name, index) in held.unfit and text.rpartition("@")[2] not in call.files:
                yield Problem(f"input {index}: {held.unfit[call.name, index]}", Place(key=f"shape {call.shape}"))


def _write_calls(folder: Path, calls: Sequence[Call], held: Held) -> None:
    """Writes the flag files of calls and the files of their inputs, in the place of those of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    for call in calls:
        write_if_changed(folder / f"{call.name}.flags", "\n".join([*call_flags(call, str(folder)), ""]))
        for name in call.files:
            write_if_changed(folder / name, held.files[name])


def _with_sizes(model: Model, lock: Lock) -> Model:
    """The model with these sizes for its only shapes, and with the inputs that its lock has where it has none."""
    inputs: dict[str | None, tuple[Input, ...]] = dict(model.inputs)
    if not inputs:
        inputs |= {call.function: tuple(map(parse_input, call.symbolic)) for call in lock.calls if call.is_run}
    return replace(model, shapes=model.sizes, auto=None, profiles=(), inputs=inputs)


@dataclass
class _Matching:
    """Which function of its module runs what is dispatched."""

    model: Model
    listed: Sequence[Call]
    calls: Sequence[Call]
    any_size: Mapping[str, AnySize]  #: By the dispatch's name.
    benchmarks: dict[str, list[Benchmark]] = field(default_factory=dict)  #: All of a dispatch, by its name.
    sized: dict[str, SizedBenchmark] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, dispatch: Dispatch, there: Dispatch | None) -> None:
        """Adds a dispatch with its benchmarks at the calls; `there`: as the build has it."""
        if there is None:
            self._skip(dispatch, dispatch.benchmarks, "it does not run at any listed shape: there is no module of it")
            return
        known = self.benchmarks.setdefault(there.name, list(there.benchmarks))
        for benchmark in dispatch.benchmarks:
            self._add(there, known, benchmark)

    def _add(self, dispatch: Dispatch, known: list[Benchmark], benchmark: Benchmark) -> None:
        counts = {name: count for name, count in benchmark.counts.items() if name in self._names}
        if not counts:
            return
        for index, each in enumerate(known):
            if sizes_of(each) == sizes_of(benchmark):
                known[index] = each.model_copy(update={"counts": each.counts | counts})
                return
        for call in [call for call in self.calls if call.name in counts]:
            function = self._function(dispatch, benchmark, call)
            if function is None:
                reason = dispatch.unparameterized or "no function of its module computes its sizes"
                self._skip(dispatch, [benchmark], f"no listed shape has these sizes, and {reason}", call)
                continue
            self._check_limits(dispatch, function, benchmark, call)
            built = next(each for each in dispatch.parameterized if each.name == function.name)
            name = numbered(f"{dispatch.name}__{call.name}", {each.name for each in known})
            update = {"name": name, "counts": {call.name: counts[call.name]}, "data": built.data}
            known.append(benchmark.model_copy(update=update))
            self.sized[name] = SizedBenchmark(built.name, tuple(call.symbols[symbol] for symbol in built.symbols))

    @cached_property
    def _names(self) -> set[str]:
        return {call.name for call in self.calls}

    def _function(self, dispatch: Dispatch, benchmark: Benchmark, call: Call) -> Named | None:
        """The function that computes a benchmark's sizes from those of a call."""
        built = {each.name for each in dispatch.parameterized}
        known = self.any_size.get(dispatch.name)
        for each in known.functions if known is not None else ():
            if each.name not in built or each.function.entry != call.function:
                continue
            try:
                sizes = each.function.sizes(call.symbols)
            except ShapeError:
                continue
            if sizes == sizes_of(benchmark):
                return each
        return None

    def _check_limits(self, dispatch: Dispatch, function: Named, benchmark: Benchmark, call: Call) -> None:
        """Notes what is beyond the limits of the function, which refuses it too."""
        place = Place(key=f"model {self.model.name}, {call.name}")
        beyond = [symbol for symbol, limit in function.limits.items() if call.symbols[symbol] > limit]
        for symbol in beyond:
            listed = [each for each in self.listed if each.function == call.function and symbol in each.symbols]
            largest = max(listed, key=lambda each: each.symbols[symbol])
            message = (
                f"{symbol}={call.symbols[symbol]} is beyond the limit: the largest listed shape, {largest.shape}, "
            )
            self.problems.append(
                Problem(f"{message}has {symbol}={largest.symbols[symbol]}", place, "list a larger one in `shapes`")
            )
        capacities = layout_of(dispatch.written, dispatch.benchmarks).capacities
        lengths = list(zip(benchmark.bindings, capacities, strict=True))
        too_long = next((binding for binding, (length, most) in enumerate(lengths) if length > most), None)
        if too_long is not None and not beyond:
            largest_of = max(dispatch.benchmarks, key=lambda each: each.bindings[too_long])
            length, most = lengths[too_long]
            message = f"{dispatch.name} is beyond the limit: binding {too_long} needs {length} bytes, "
            message += f"the most that a listed shape has is {most} ({largest_of.name})"
            self.problems.append(Problem(message, place, "list a larger one in `shapes`"))

    def _skip(self, dispatch: Dispatch, benchmarks: Sequence[Benchmark], reason: str, call: Call | None = None) -> None:
        names = [call.name] if call else [name for each in benchmarks for name in each.counts if name in self._names]
        self.skipped.append(
            Skipped(
                executable=dispatch.executable,
                export=dispatch.export,
                operation=dispatch.operation,
                calls=tuple(dict.fromkeys(names)),
                reason=reason,
            )
        )

    def added(self, built: BackendDispatches, found: BackendDispatches) -> BackendDispatches:
        """What the build has, with what the calls dispatch."""
        names = self._names
        return BackendDispatches(
            backend=built.backend,
            dispatches=tuple(
                each.model_copy(update={"benchmarks": tuple(self.benchmarks.get(each.name, each.benchmarks))})
                for each in built.dispatches
            ),
            skipped=(*built.skipped, *_at(names, found.skipped), *self.skipped),
            uncounted=(*built.uncounted, *_at(names, found.uncounted)),
        )


def _at(calls: set[str], skips: Sequence[Skipped]) -> Iterator[Skipped]:
    """What is not known at these calls; what is said of loading the model is said already."""
    for skip in skips:
        at = tuple(call for call in skip.calls if call in calls)
        if at:
            yield skip.model_copy(update={"calls": at})
