"""Renewing and checking locks."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from dispatchgen.errors import DispatchgenError, LockError, Place, Problem
from dispatchgen.iree.configure import DEFAULT_TIMEOUT
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.compare import Difference, added_functions, compare, stale_parts
from dispatchgen.lock.make import made_from, make_lock
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import NewerLockError, lock_text, read_lock, write_lock
from dispatchgen.lock.workers import Outcome, run_tasks
from dispatchgen.manifest.suite import Model, Suite

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
    functions = added_functions(old, (call.function for call in new.calls if call.is_run))
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
        for dispatch in content.dispatches:
            for call, omitted in dispatch.omitted.items():
                covered = dispatch.covered(call)
                share = f"{100 * covered / (covered + omitted.runs):.1f} %"
                yield f"  {dispatch.name} at {call}: {share} of its runs are covered; sizes left out: {omitted.sizes}"
        for profile in (call for call in lock.calls if not content.has(call)):
            yield f"  {profile.profile} is of another backend: there is nothing at {profile.name}"
        for each in content.uncounted:
            yield f"  {each.export} at {', '.join(each.calls)}: how often it runs depends on {each.reason}"


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
