"""Extraction: from a configured module and the calls of its model to dispatches, benchmarks and benchmark modules."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dispatchgen.buffers.contents import Content
from dispatchgen.errors import ModelError, Place, Problem, ShapeError
from dispatchgen.extract import emit, names
from dispatchgen.extract.buffer import archive_bytes
from dispatchgen.extract.data import DataPlan, Held, Origins, held_by
from dispatchgen.extract.evaluate import Trace, evaluate, evaluate_initializers
from dispatchgen.extract.found import Found, Key, record_profile, record_trace
from dispatchgen.extract.layout import Layout, archived, layout_of
from dispatchgen.extract.parameterized import AnySize, any_size
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.read_backs import ReadBacks
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.rotation import rotations_of
from dispatchgen.extract.schema import (
    INITIALIZER,
    BackendDispatches,
    Benchmark,
    Call,
    Dispatch,
    Parameterized,
    Skipped,
)
from dispatchgen.extract.sizes import sizes_of
from dispatchgen.manifest.suite import STATIC

#: How many calls that the program rejects are told of.
_ERRORS = 20


@dataclass(frozen=True)
class Extraction:
    """The dispatches of a model on a backend; valid while the module they come from is open."""

    lock: BackendDispatches
    read_backs: tuple[str, ...]  #: Names of what the calls read back from the device.
    held: Held  #: What bindings and inputs hold.
    _layouts: Mapping[str, Layout]  #: By dispatch.
    _program: Program
    _calls: Sequence[Call]
    _found: Mapping[Key, Found]
    _any_size: Mapping[str, AnySize]
    _cold_memory: int | None

    def modules(self) -> Iterator[tuple[str, str]]:
        """The name and the benchmark module of each dispatch."""
        for dispatch in self.lock.dispatches:
            found = self._found[dispatch.executable, dispatch.export]
            assert found.device is not None
            device = self._program.devices[found.device]
            layout, sizes = self._layouts[dispatch.name], self._any_size.get(dispatch.name)
            memory, benchmarks = self._cold_memory, dispatch.benchmarks
            copies = rotations_of(layout, benchmarks, memory) if memory is not None else None
            text = emit.benchmark_module(found.export, dispatch.name, device, layout, benchmarks, sizes, copies)
            yield dispatch.name, text

    def archive(self, dispatch: Dispatch) -> bytes | None:
        """The file with the data of a dispatch that lies beside its benchmark module; None: there is none."""
        return archive_bytes(self._layouts[dispatch.name]) if dispatch.archive else None

    def holding(self, dispatch: Dispatch, plan: DataPlan) -> Mapping[str, Sequence[Content]]:
        """What the bindings of each benchmark of a dispatch hold by another plan; one that is left out holds zeros.

        Raises DataError as `extract` does.
        """
        dispatches = [_with_kernel(each, self._found) for each in self.lock.dispatches]
        return held_by(dispatches, self._calls, plan, [dispatch.name]).bindings.get(dispatch.name, {})


def extract(
    program: Program,
    calls: Sequence[Call],
    backend: str,
    previous: BackendDispatches | None = None,
    recorded: Mapping[str, Recorded] | None = None,
    data: DataPlan | None = None,
    *,
    any_sizes: bool = True,
    cold_memory: int | None = None,
) -> Extraction:
    """Finds every dispatch of a model on a backend, at every call.

    Args:
      program: The configured module.
      calls: The calls to evaluate (see `calls_of`).
      backend: Id of the backend.
      previous: What an earlier extraction found: its names are kept.
      recorded: The sizes of the calls that are not run, by the name of the call.
      data: What bindings hold besides what the inputs of the calls do; None: all hold zeros.
      any_sizes: Whether to look for functions of any size.
      cold_memory: Bytes of copies that cold benchmarks rotate over. None: there are no cold benchmarks.

    Raises:
      ModelError: the program does not have the function of a call, or the call's inputs do not fit it, or data do not
        fit what they fill.
      ShapeError: the program itself rejects the shape of a call.
    """
    read_backs = ReadBacks(program)
    found = _find(program, calls, recorded or {}, read_backs)
    usable = {key: each for key, each in found.items() if each.counts}
    dispatches = list(_dispatches(program, usable, calls, previous))
    sizes = any_size(program, [call for call in calls if call.is_run], dispatches) if any_sizes else {}
    held = held_by([_with_kernel(each, usable) for each in dispatches], calls, data) if data is not None else Held()
    layouts = {each.name: _layout(each, held, sizes.get(each.name)) for each in dispatches}
    dispatches = [_with_data(each, held.bindings.get(each.name, {}), layouts[each.name]) for each in dispatches]
    dispatches = [_with_functions(each, sizes.get(each.name), layouts[each.name]) for each in dispatches]
    if cold_memory is not None:
        dispatches = [_with_cold_functions(each) for each in dispatches]
    lock = BackendDispatches(
        backend=backend,
        dispatches=tuple(dispatches),
        skipped=(
            *chain.from_iterable(_not_known(each, each.skipped) for each in found.values()),
            *chain.from_iterable(each.missing for each in (recorded or {}).values()),
        ),
        uncounted=tuple(chain.from_iterable(_not_known(each, each.uncounted) for each in found.values())),
    )
    return Extraction(lock, read_backs.names, held, layouts, program, calls, usable, sizes, cold_memory)


def _find(
    program: Program, calls: Sequence[Call], recorded: Mapping[str, Recorded], read_backs: ReadBacks
) -> dict[Key, Found]:
    """What each export of a program does at the calls, or why that is not known."""
    found = {key: Found(export) for key, export in program.exports.items()}
    run = [call for call in calls if call.is_run]
    for index, (call, trace) in enumerate(zip(run, _traces(program, run, read_backs), strict=True)):
        record_trace(program, found, call.name, trace, with_initializers=index == 0)
    if not run:
        record_trace(program, found, INITIALIZER, evaluate_initializers(program), with_initializers=True)
    for name, each in recorded.items():
        record_profile(program, found, name, each)
    _explain_the_rest(program, found, calls)
    return found


def _layout(dispatch: Dispatch, held: Held, any_size: AnySize | None) -> Layout:
    """Where in the buffer of a dispatch its bindings are."""
    takes_sizes = any_size is not None and bool(any_size.functions)
    return layout_of(dispatch.written, dispatch.benchmarks, held.bindings.get(dispatch.name), any_size=takes_sizes)


def _with_kernel(dispatch: Dispatch, found: Mapping[Key, Found]) -> tuple[Dispatch, Export, Origins]:
    """A dispatch, what it runs, and where inputs hold what its bindings hold."""
    each = found[dispatch.executable, dispatch.export]
    return dispatch, each.export, each.origins


def _with_data(dispatch: Dispatch, contents: Mapping[str, Sequence[Content]], layout: Layout) -> Dispatch:
    """A dispatch that says what its bindings hold: its own, and of its benchmarks."""
    benchmarks = tuple(
        each.model_copy(update={"data": _words(contents.get(each.name, ()))}) for each in dispatch.benchmarks
    )
    return dispatch.model_copy(update={"benchmarks": benchmarks, "archive": any(archived(layout))})


def _words(contents: Sequence[Content]) -> tuple[str, ...]:
    return tuple(map(str, contents)) if any(str(content) != "zeros" for content in contents) else ()


def _with_functions(dispatch: Dispatch, any_size: AnySize | None, layout: Layout) -> Dispatch:
    """A dispatch with the functions that take sizes."""
    if any_size is None:
        return dispatch
    functions = [(each.name, each.function) for each in any_size.functions]
    data = _words(layout.contents)
    parameterized = tuple(
        Parameterized(name=name, function=each.entry, symbols=each.symbols, data=data) for name, each in functions
    )
    return dispatch.model_copy(update={"parameterized": parameterized, "unparameterized": any_size.reason})


def _with_cold_functions(dispatch: Dispatch) -> Dispatch:
    """A dispatch each of whose benchmarks has a cold function."""
    taken = {each.name for each in dispatch.benchmarks} | {each.name for each in dispatch.parameterized}
    benchmarks = []
    for benchmark in dispatch.benchmarks:
        name = names.numbered(f"{benchmark.name}__cold", taken)
        taken.add(name)
        benchmarks.append(benchmark.model_copy(update={"cold": name}))
    return dispatch.model_copy(update={"benchmarks": tuple(benchmarks)})


def _not_known(found: Found, reasons: Mapping[str, Sequence[str]]) -> Iterator[Skipped]:
    for reason, calls in reasons.items():
        operation = names.operation_of(found.export.name)
        yield Skipped(
            executable=found.export.executable,
            export=found.export.name,
            operation=operation,
            calls=tuple(calls),
            reason=reason,
        )


def _traces(program: Program, calls: Sequence[Call], read_backs: ReadBacks) -> list[Trace]:
    """What each call runs. Raises ModelError, or ShapeError where shapes alone are wrong, with what is wrong at any."""
    traces: list[Trace] = []
    errors = list(_missing_functions(program, calls))
    for call in calls:
        if len(errors) >= _ERRORS:
            break
        if call.function not in program.public_functions:
            continue
        try:
            traces.append(evaluate(program, call.function, call.inputs, call.overrides, read_backs))
        except ModelError as error:
            errors.append(type(error)(*_placed(call, error)))
    if errors:
        problems = [problem for error in errors for problem in error.problems]
        raise (ShapeError if all(isinstance(error, ShapeError) for error in errors) else ModelError)(*problems)
    return traces


def _missing_functions(program: Program, calls: Sequence[Call]) -> Iterator[ModelError]:
    """An error for each function that is called and that the program does not have as a public one."""
    there = ", ".join(f"@{name}" for name in program.public_functions) or "none"
    for name in dict.fromkeys(call.function for call in calls):
        if name not in program.public_functions:
            message = f"the program has no public function @{name}; it has {there}"
            yield ModelError(Problem(message, Place(key=f"function @{name}")))


def _placed(call: Call, error: ModelError) -> Iterator[Problem]:
    """An error's problems, with the call they are found in."""
    symbols = ", ".join(f"{symbol}={value}" for symbol, value in call.symbols.items())
    place = Place(key=f"function @{call.function}, shape {call.shape}" + (f" ({symbols})" if symbols else ""))
    hint = "a shape that the program accepts" if isinstance(error, ShapeError) else None
    for problem in error.problems:
        yield Problem(problem.message, place, problem.hint or hint)


def _explain_the_rest(program: Program, found: dict[Key, Found], calls: Sequence[Call]) -> None:
    """Gives a reason for every export that did not run at any call; takes out what only other functions dispatch.

    The calls are of all entry functions, unless the manifest leaves some out.
    """
    # A profile may be of any function.
    called = {function for call in calls for function in ([call.function] if call.is_run else program.public_functions)}
    reached = {callee for name in called for callee in program.callees[name]} | program.called_by_initializers
    functions: dict[Key, set[str | None]] = {}
    for site in program.sites:
        functions.setdefault((site.executable, site.export), set()).add(site.function)
    has_shapes = any(call.is_run for call in calls)
    not_run = "it does not run at any of the shapes" if has_shapes else "no profile of this backend has it"
    for key, each in list(found.items()):
        if each.counts or each.skipped:
            continue
        if key not in functions:
            each.skipped["no place in the program dispatches it"] = [call.name for call in calls]
        elif functions[key] & reached:
            each.skipped[not_run] = [call.name for call in calls]
        else:
            del found[key]


def _dispatches(
    program: Program, found: Mapping[Key, Found], calls: Sequence[Call], previous: BackendDispatches | None
) -> Iterator[Dispatch]:
    static_calls = {INITIALIZER, *(call.name for call in calls if call.shape == STATIC)}
    described = [(names.operation_of(each.export.name), content_of(program, each.export)) for each in found.values()]
    old = {dispatch.name: dispatch for dispatch in previous.dispatches} if previous is not None else {}
    known = [names.Known(dispatch.name, dispatch.operation, dispatch.content) for dispatch in old.values()]
    # Results of calls and of dispatches share a folder.
    assigned = names.assign(described, known, {call.name for call in calls})
    for name, (operation, content), (key, each) in zip(assigned, described, found.items(), strict=True):
        before = old[name].benchmarks if name in old else ()
        is_static = key in program.static_dispatches
        yield Dispatch(
            name=name,
            operation=operation,
            executable=each.export.executable,
            variant=each.export.variant,
            export=each.export.name,
            content=content,
            written=each.written,
            omitted=each.omitted,
            benchmarks=tuple(_benchmarks(name, each, is_static, static_calls, before)),
        )


def content_of(program: Program, export: Export) -> str:
    """SHA-256 of an executable as it is in a benchmark module, but for the dispatch's name.

    Computed once for each export of a program: to print executables takes longer than to evaluate a call.
    """
    key = (export.executable, export.name)
    if key not in program.contents:
        text = emit.executable_text(export, "executable", "dispatch")
        program.contents[key] = hashlib.sha256(text.encode()).hexdigest()
    return program.contents[key]


def _benchmarks(
    name: str, found: Found, is_static: bool, static_calls: Collection[str], previous: Iterable[Benchmark]
) -> Iterator[Benchmark]:
    """The benchmarks of a dispatch, in the order of the calls that have them."""
    old = {sizes_of(benchmark): benchmark.name for benchmark in previous}
    bases = [
        [name if is_static or call in static_calls else f"{name}__{call}" for call in counts]
        for counts in found.counts.values()
    ]
    given = names.assign_benchmarks(bases, [old.get(sizes) for sizes in found.counts])
    for benchmark_name, sizes in zip(given, found.counts, strict=True):
        yield Benchmark(
            name=benchmark_name,
            workload=sizes.workload,
            constants=sizes.constants,
            bindings=sizes.bindings,
            counts=found.counts_of(sizes),
        )
