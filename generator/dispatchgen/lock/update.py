"""Making, renewing and checking locks."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from dispatchgen.errors import DispatchgenError, LockError, ModelError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches, Call
from dispatchgen.files import sha256_of, work_folder
from dispatchgen.iree.configure import DEFAULT_TIMEOUT, configure, import_source, source_path
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.compare import Difference, added_functions, compare, stale_parts
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.store import NewerLockError, lock_text, read_lock, write_lock
from dispatchgen.lock.workers import Outcome, run_tasks
from dispatchgen.manifest.suite import Backend, Model, Suite

#: Modules that every worker needs: imported once.
_PRELOAD = ("dispatchgen.lock.update", "dispatchgen.extract.extraction", "iree.compiler.ir")


class Change(Enum):
    """What became of a model's lock file."""

    WRITTEN = "written"
    SAME = "same"  #: Made anew, with the same content.
    CURRENT = "current"  #: Left alone: it was made from what there is today.
    FAILED = "failed"


@dataclass(frozen=True)
class Update:
    """The outcome for one model; `lock` is None only where it FAILED, with `problems`."""

    model: Model
    change: Change
    lock: Lock | None = None
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[Problem, ...] = ()  #: Why the lock file that there was could not be read: its names are lost.


@dataclass(frozen=True)
class Check:
    """What a check of one model's lock found. `problems`: the lock, or today's dispatches, could not be read."""

    model: Model
    stale: tuple[str, ...] = ()  #: What the lock was made from and is no longer the same, in words.
    drift: tuple[Difference, ...] = ()  #: Per backend whose dispatches differ.
    lock: Lock | None = None  #: Today's.
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the lock is what `dispatchgen lock` would write today."""
        return not (self.stale or self.drift or self.problems)


@dataclass(frozen=True)
class _Task:
    tools: CompilerTools
    suite: Suite
    model: Model
    previous: Lock | None
    timeout: float
    unreadable: tuple[Problem, ...] = ()


def _task(
    tools: CompilerTools,
    suite: Suite,
    model: Model,
    previous: Lock | None,
    timeout: float,
    unreadable: tuple[Problem, ...] = (),
) -> _Task:
    """A task whose suite holds its own model only: it is sent to another process."""
    return _Task(tools, replace(suite, models=(model,), presets=()), model, previous, timeout, unreadable)


def _ignore(model: Model) -> None:
    """Called when a model is started; says nothing."""


def made_from(compiler: str, suite: Suite, model: Model) -> MadeFrom:
    """What a lock of the model would be made from today, by a compiler of this version.

    Raises ModelError when the model's source cannot be read.
    """
    path = source_path(suite, model)
    try:
        source = sha256_of(path)
    except OSError as error:
        raise ModelError(Problem(f"model {model.name}: cannot read it: {error.strerror}", Place(str(path)))) from error
    return MadeFrom(
        source=source,
        settings={backend.id: settings_digest(model, backend) for backend in _backends(suite, model)},
        compiler=compiler,
    )


def settings_digest(model: Model, backend: Backend) -> str:
    """SHA-256 of all that the manifest says and that the dispatches of `model` on `backend` depend on.

    Labels, presets, devices, run settings, what drift means and the place of the source file are not among it.
    """
    data = {
        "format": model.source.format,
        "import_flags": model.import_flags,
        "entry": model.entry,
        "inputs": {entry or "": [asdict(value) for value in inputs] for entry, inputs in model.inputs.items()},
        # In their order: a benchmark is named after the first shape that has its sizes.
        "shapes": [[shape.label, sorted(shape.symbols.items())] for shape in model.shapes],
        "bindings": model.bindings,
        "target": [backend.target_device, backend.local_backend],
        "compile_flags": [*backend.compile_flags, *model.compile_flags.get(backend.id, ())],
    }
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def make_lock(
    tools: CompilerTools, suite: Suite, model: Model, previous: Lock | None = None, timeout: float = DEFAULT_TIMEOUT
) -> Lock:
    """Makes the lock of a model from its program, in this process.

    Args:
      previous: The lock to be renewed: dispatches of unchanged content keep their names.
      timeout: Time limit of each process that is started, in seconds.

    Raises:
      DispatchgenError: with the problems of all backends.
    """
    origin = made_from(tools.compiler_version, suite, model)
    calls: dict[str, tuple[Call, ...]] = {}
    locks: dict[str, BackendDispatches] = {}
    errors: list[DispatchgenError] = []
    with work_folder() as folder:
        imported = import_source(tools, suite, model, folder, timeout)
        for backend in _backends(suite, model):
            work_dir = folder / backend.id
            work_dir.mkdir()
            try:
                configured = configure(tools, suite, model, backend, work_dir, timeout, imported)
                before = None if previous is None else previous.backends.get(backend.id)
                calls[backend.id], locks[backend.id] = _dispatches(configured, model, backend, before, tools)
            except DispatchgenError as error:
                errors.append(error)
    raise_all(errors)
    _check_calls(suite, model, calls)
    return Lock(
        model=model.id,
        made_from=origin,
        entry=model.entry,
        files=model.data_files,
        calls=next(iter(calls.values()), ()),
        backends=locks,
    )


def update_locks(
    tools: CompilerTools,
    suite: Suite,
    models: Sequence[Model],
    *,
    force: bool = False,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    on_start: Callable[[Model], None] = _ignore,
) -> Generator[Update, None, None]:
    """Renews the lock files of `models`, and yields the outcome for each as soon as its file is written.

    A lock that was made from what there is today is left alone, unless `force`. An error of one model does not keep the
    others from being written. A lock that cannot be read is replaced, but not one of a newer dispatchgen.
    """
    tasks = []
    for model in models:
        path = suite.lock_path(model)
        try:
            previous, unreadable = _previous(path)
            if (
                previous
                and not force
                and not stale_parts(previous.made_from, made_from(tools.compiler_version, suite, model))
            ):
                yield Update(model, Change.CURRENT, previous)
                continue
        except DispatchgenError as error:
            yield Update(model, Change.FAILED, problems=tuple(error.problems))
            continue
        tasks.append(_task(tools, suite, model, previous, timeout, unreadable))
    with closing(_run(tasks, jobs, on_start)) as outcomes:
        for outcome in outcomes:
            yield _written(outcome)


def check_locks(
    tools: CompilerTools,
    suite: Suite,
    models: Sequence[Model],
    *,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    on_start: Callable[[Model], None] = _ignore,
) -> Generator[Check, None, None]:
    """Compares the lock files of `models` with what they would be today; writes nothing."""
    tasks = []
    for model in models:
        path = suite.lock_path(model)
        if not path.exists():
            yield Check(model, stale=("there is no lock file",))
            continue
        try:
            previous = read_lock(path)
        except LockError as error:
            yield Check(model, problems=tuple(error.problems))
            continue
        tasks.append(_task(tools, suite, model, previous, timeout))
    with closing(_run(tasks, jobs, on_start)) as outcomes:
        for outcome in outcomes:
            task, lock = outcome.task, outcome.value
            if lock is None or task.previous is None:
                yield Check(task.model, problems=_problems(outcome.error, task))
            else:
                yield compare_locks(task.model, task.previous, lock)


def check_origins(suite: Suite, models: Sequence[Model]) -> Iterator[Check]:
    """Compares the sources and settings of `models` with what their locks were made from; compiles nothing."""
    for model in models:
        try:
            lock = read_lock(suite.lock_path(model))
            today = made_from(lock.made_from.compiler, suite, model)
        except DispatchgenError as error:
            yield Check(model, problems=tuple(error.problems))
            continue
        yield Check(model, stale=tuple(stale_parts(lock.made_from, today)))


def compare_locks(model: Model, old: Lock, new: Lock) -> Check:
    """Tells whether `old` is stale, and on which backends it drifted, `new` being today's lock."""
    stale = stale_parts(old.made_from, new.made_from)
    both = [backend for backend in new.backends if backend in old.backends]
    functions = added_functions(old, (call.function for call in new.calls))
    differences = [compare(old.backends[backend], new.backends[backend], functions) for backend in both]
    drift = [difference for difference in differences if difference]
    if not stale and not drift and lock_text(old) != lock_text(new):
        stale = ["the calls, or something else that dispatchgen derives, changed"]
    return Check(model, tuple(stale), tuple(drift), new)


def coverage(model: Model, lock: Lock) -> Iterator[str]:
    """A line per backend: `magika/cpu: 13 of 13 dispatches`; what is skipped is named below, with its reason."""
    for backend, content in lock.backends.items():
        exports = {(dispatch.executable, dispatch.export) for dispatch in content.dispatches}
        skipped = {(skip.executable, skip.export) for skip in content.skipped}
        # One that is skipped at some calls only has benchmarks, yet is not covered.
        line = f"{model.name}/{backend}: {len(exports - skipped)} of {len(exports | skipped)} dispatches"
        yield f"{line}, {len(skipped)} skipped:" if skipped else line
        for skip in content.skipped:
            yield f"  {skip.export} at {', '.join(skip.calls)}: {skip.reason}"
        for each in content.uncounted:
            yield f"  {each.export} at {', '.join(each.calls)}: how often it runs depends on {each.reason}"


def raise_all(errors: Sequence[DispatchgenError]) -> None:
    """Raises the only error, or one that carries the problems of all; does nothing where there is none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DispatchgenError(*(problem for error in errors for problem in error.problems))


def _run(
    tasks: Sequence[_Task], jobs: int | None, on_start: Callable[[Model], None]
) -> Generator[Outcome[_Task, Lock], None, None]:
    return run_tasks(_make, tasks, jobs or _cpus(), lambda task: on_start(task.model), _PRELOAD)


def _make(task: _Task) -> Lock:
    return make_lock(task.tools, task.suite, task.model, task.previous, task.timeout)


def _written(outcome: Outcome[_Task, Lock]) -> Update:
    task, lock = outcome.task, outcome.value
    if lock is None:
        return Update(task.model, Change.FAILED, problems=_problems(outcome.error, task))
    try:
        written = write_lock(task.suite.lock_path(task.model), lock)
    except DispatchgenError as error:
        return Update(task.model, Change.FAILED, problems=tuple(error.problems))
    return Update(task.model, Change.WRITTEN if written else Change.SAME, lock, unreadable=task.unreadable)


def _dispatches(
    configured: Path, model: Model, backend: Backend, previous: BackendDispatches | None, tools: CompilerTools
) -> tuple[tuple[Call, ...], BackendDispatches]:
    """The calls of a model and its dispatches on a backend, from its configured module."""
    # Imported here: the bindings take a tenth of a second, and whoever only reads locks does not need them.
    from dispatchgen.extract.calls import calls_of
    from dispatchgen.extract.extraction import extract
    from dispatchgen.extract.program import Program
    from dispatchgen.iree.ir import read_module

    with read_module(configured, tools.compiler_version) as module:
        program = Program(module)
        calls = calls_of(program, model)
        lock = extract(program, calls, backend.id, previous).lock
    if not lock.dispatches and not lock.skipped:
        raise ModelError(
            Problem(
                f"model {model.name} on backend {backend.name}: the program has no dispatch: "
                "all of it is done by the host, or became constants",
                hint="give it work that depends on its inputs",
            )
        )
    return calls, lock


def _check_calls(suite: Suite, model: Model, calls: dict[str, tuple[Call, ...]]) -> None:
    """Raises ModelError when the backends disagree on the calls: the lock has one list for all of them."""
    first = next(iter(calls), "")
    for other in calls:
        if calls[other] != calls[first]:
            names = [", ".join(call.name for call in calls[backend]) for backend in (first, other)]
            message = f"model {model.name}: its calls differ: {names[0]} on backend {first}, {names[1]} on {other}"
            raise ModelError(
                Problem(message, Place(str(suite.manifest), model.line), "name the model's entry function")
            )


def _previous(path: Path) -> tuple[Lock | None, tuple[Problem, ...]]:
    """The lock to be renewed, or why the file cannot be read. Raises LockError where a newer dispatchgen wrote it."""
    if not path.exists():
        return None, ()
    try:
        return read_lock(path), ()
    except NewerLockError:
        raise
    except LockError as error:
        return None, tuple(error.problems)


def _backends(suite: Suite, model: Model) -> list[Backend]:
    return [suite.backend(backend) for backend in model.backends]


def _problems(error: DispatchgenError | None, task: _Task) -> tuple[Problem, ...]:
    """The problems of a task's error, each of which names the model and is somewhere: in the manifest where else."""
    name = f"model {task.model.name}"
    problems = []
    for problem in [] if error is None else error.problems:
        message = problem.message if problem.message.startswith(name) else f"{name}: {problem.message}"
        place = problem.place or Place()
        if place.file is None:
            place = replace(place, file=str(task.suite.manifest), line=task.model.line)
        problems.append(Problem(message, place, problem.hint))
    return tuple(problems)


def _cpus() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
