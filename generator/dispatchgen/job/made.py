"""A build of a suite, and the record of it that a build folder keeps for later runs beside another build."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import LockError, OutputError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Data
from dispatchgen.files import remove, write_if_changed
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import lock_text, read_lock
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.environment_schema import Software
from dispatchgen.results.index import read_index
from dispatchgen.results.plan import Plan
from dispatchgen.results.schema import BuildFailure

#: File of a build folder that says what its last build is, beside copies of the locks.
_RECORD = "build.json"


@dataclass(frozen=True)
class Made:
    """A build, and what of it is to be run."""

    plan: Plan
    tree: BuildTree
    state: BuildState
    failures: tuple[BuildFailure, ...] = ()
    #: What it was made with. None: with what is used now.
    software: Software | None = None


class Record(Data):
    """What a build folder keeps of its last build, beside copies of the locks."""

    software: Software
    failures: tuple[BuildFailure, ...]
    broken_models: tuple[tuple[str, str, str], ...]  #: `BuildState.models`: keys and reason.
    broken_modules: tuple[tuple[str, str, str | None, str], ...]
    broken_substitutes: tuple[tuple[str, str], ...]

    @property
    def state(self) -> BuildState:
        """What of the build can be used."""
        return BuildState(
            {(model, backend): reason for model, backend, reason in self.broken_models},
            {(model, backend, dispatch): reason for model, backend, dispatch, reason in self.broken_modules},
            {Path(file): reason for file, reason in self.broken_substitutes},
        )


def drop_record(folder: Path) -> None:
    """Removes the record before what it describes changes: it is never there for a build that has not ended."""
    remove(folder / _RECORD)


def keep_record(folder: Path, made: Made, software: Software) -> None:
    """Keeps what a later run of another build beside this one needs: the record itself last."""
    locks = folder / "locks"
    shutil.rmtree(locks, ignore_errors=True)
    for model, lock in made.plan.locks.items():
        write_if_changed(locks / f"{model}.json", lock_text(lock))
    state = made.state
    record = Record(
        software=software,
        failures=made.failures,
        broken_models=tuple((*key, reason) for key, reason in state.models.items()),
        broken_modules=tuple((*key, reason) for key, reason in state.modules.items()),
        broken_substitutes=tuple((str(file), reason) for file, reason in state.substituted.items()),
    )
    write_if_changed(folder / _RECORD, record.model_dump_json(indent=1) + "\n")


def find_record(folder: Path) -> Record | None:
    """What a build folder keeps; None: nothing, or it is none."""
    try:
        return Record.model_validate_json((folder / _RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def read_record(folder: Path) -> Record:
    """What a build folder keeps. Raises OutputError where it has nothing, as while it is built."""
    record = find_record(folder)
    if record is None:
        raise OutputError(no_build(folder))
    return record


def no_build(folder: Path) -> Problem:
    """What is wrong with a folder that has no build, or one that did not end."""
    hint = "`dispatchgen run --build-dir` with this folder makes one"
    return Problem("no finished build of dispatchgen is kept here", Place(str(folder)), hint)


def read_locks(suite: Suite, folder: Path | None = None) -> dict[str, Lock]:
    """The locks of a suite's models by id, from a folder other than the suite's where one is given.

    Raises LockError with all that is wrong.
    """
    found: dict[str, Lock] = {}
    problems: list[Problem] = []
    for model in suite.models:
        try:
            found[model.id] = read_lock(suite.lock_path(model) if folder is None else folder / f"{model.id}.json")
        except LockError as error:
            problems += error.problems
    if problems:
        raise LockError(*problems)
    return found


def check_locks(suite: Suite, locks: Mapping[str, Lock], tree: BuildTree, state: BuildState) -> None:
    """Raises OutputError where a build is not of these locks: its dispatches or their benchmarks are others."""
    problems = []
    for model in suite.models:
        for backend in model.backends:
            if (model.id, backend) in state.models:
                continue
            locked = locks[model.id].backends.get(backend)
            if locked is None or _benchmarks(locked) != _benchmarks(read_index(tree, model.id, backend)):
                message = f"the build of model {model.name} on {backend} is not of the lock"
                problems.append(Problem(message, Place(str(tree.folder(model.id, backend))), "build it again"))
    if problems:
        raise OutputError(*problems)


def _benchmarks(found: BackendDispatches) -> dict[str, dict[str, Benchmark]]:
    """The benchmarks of each dispatch, with their sizes. What the dispatch does may not be what is locked."""
    return {each.name: {benchmark.name: benchmark for benchmark in each.benchmarks} for each in found.dispatches}


def binary_dir(folder: Path, suite: Suite) -> Path:
    """Where the modules of a suite are in a folder: CMake's or Bazel's binary directory, or a build folder."""
    own = BuildTree(folder / "build")
    is_own = any(own.index(model.id, backend).exists() for model in suite.models for backend in model.backends)
    return own.binary_dir if is_own else folder
