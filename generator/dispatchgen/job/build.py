"""Locking a suite and building its benchmarks in a folder of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.buildtree.build import BuildReport, build, configure, write_sources
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from dispatchgen.buildtree.state import state_after, variant_outputs
from dispatchgen.errors import DispatchgenError, Problem
from dispatchgen.iree.tools import Tools, explicit_folder, find_tools, other_build_note
from dispatchgen.job.made import Made, read_locks
from dispatchgen.job.options import Options
from dispatchgen.lock.make import raise_all
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.update import Change, update_locks
from dispatchgen.manifest.suite import Suite
from dispatchgen.observer import Observer
from dispatchgen.render.cmake import render_cmake
from dispatchgen.results.plan import Plan, with_calls
from dispatchgen.results.schema import BuildFailure

#: Aggregate target of all suites that the generated CMakeLists.txt holds.
_TARGET = "iree-dispatch-benchmarks"


@dataclass(frozen=True)
class Locked:
    """A suite whose locks are current."""

    suite: Suite  #: Without the models that could not be locked.
    locks: Mapping[str, Lock]  #: By the model's id.
    unlocked: Mapping[str, Sequence[Problem]]  #: What is wrong with the others, by id.

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with the models that could not be locked."""
        return [problem for of_model in self.unlocked.values() for problem in of_model]


def lock(whole: Suite, selected: Suite, tools: Tools, options: Options, observer: Observer) -> Locked:
    """Makes the locks of the selected models current, or takes them as they are.

    Raises DispatchgenError where none of them can be made, or one that is to be taken cannot be read.
    """
    note = other_build_note(tools.compiler_version, tools.bindings_version)
    if note is not None:
        observer.say(f"note: {note}")
    if options.keep_locks:
        kept = read_locks(selected)
        return Locked(with_calls(selected, kept), kept, {})
    locks, unlocked = _lock(whole, selected, tools, options, observer)
    # The locks are current: what the manifest says of drift is for other builds.
    models = (replace(model, drift="error") for model in selected.models if model.id in locks)
    locked = Locked(replace(selected, models=tuple(models)), locks, unlocked)
    if not locked.suite.models:
        raise DispatchgenError(*locked.problems)
    return replace(locked, suite=with_calls(locked.suite, locks))


def make(locked: Locked, programs: BuildPrograms, folder: Path, options: Options, observer: Observer) -> Made:
    """Builds the benchmarks, as far as they can be built."""
    plan, tree = options.plan(locked.suite, locked.locks), BuildTree(folder / "build")
    report = _build(programs, locked.suite, plan, tree, options, observer)
    state = state_after(programs, tree, report, locked.locks, plan.variants)
    return Made(plan, tree, state, tuple(_build_failures(report, locked.unlocked)))


def find_all_programs(options: Options) -> tuple[Tools, BuildPrograms]:
    """IREE's programs, and CMake and Ninja. Raises ToolError with all that is missing."""
    errors: list[DispatchgenError] = []
    tools = programs = None
    try:
        tools = options.tools or find_tools(options.iree_host_bin_dir)
    except DispatchgenError as error:
        errors.append(error)
    try:
        programs = find_build_programs()
    except DispatchgenError as error:
        errors.append(error)
    raise_all(errors)
    assert tools is not None and programs is not None
    return tools, programs


def _lock(
    whole: Suite, suite: Suite, tools: Tools, options: Options, observer: Observer
) -> tuple[dict[str, Lock], dict[str, Sequence[Problem]]]:
    """The locks of the models to run and the problems of those that have none, both by the model's id.

    A lock is of a whole model: it is made for all backends of the manifest, not only for those that are run.
    """
    locks: dict[str, Lock] = {}
    problems: dict[str, Sequence[Problem]] = {}
    wanted = {model.id for model in suite.models}
    models = [model for model in whole.models if model.id in wanted]
    present = {model.id for model in models if whole.lock_path(model).exists()}
    with observer.stage("locking") as show:
        updates = update_locks(
            tools,
            whole,
            models,
            jobs=options.jobs,
            timeout=options.timeout,
            on_start=lambda model: show(len(locks), len(models), model.name),
        )
        with closing(updates):
            for update in updates:
                for problem in update.unreadable:
                    observer.say(f"{update.model.name}: the names in the lock are lost: {problem.message}")
                if update.lock is None:
                    problems[update.model.id] = update.problems
                else:
                    locks[update.model.id] = update.lock
                if update.change in (Change.WRITTEN, Change.SAME):
                    verb = "renewed the stale lock" if update.model.id in present else "wrote"
                    observer.say(f"{update.model.name}: {verb} {whole.lock_path(update.model)}")
    return locks, problems


def _build(
    programs: BuildPrograms,
    suite: Suite,
    plan: Plan,
    tree: BuildTree,
    options: Options,
    observer: Observer,
) -> BuildReport:
    """Configures and builds the benchmarks that are planned, as far as they can be built."""
    folder = tree.binary_dir.parent
    write_sources(folder, render_cmake(suite, plan.locks, is_top=True))
    definitions = [f"DISPATCHGEN_PACKAGE_DIR={suite.root.absolute()}", f"Python3_EXECUTABLE={sys.executable}"]
    # A file that was replaced by an older one (cp -p, mv, tar) is another input too.
    definitions.append("DISPATCHGEN_HASH_INPUTS=ON")
    definitions.append("DISPATCHGEN_RECORD_STEPS=ON")
    host_bin_dir = explicit_folder(options.iree_host_bin_dir)
    if host_bin_dir is not None:
        definitions.append(f"IREE_HOST_BIN_DIR={host_bin_dir.absolute()}")
    with observer.stage("configuring the build") as show:
        show(0, None, "")
        configure(programs, folder, tree, definitions, options.timeout)
    with observer.stage("building") as show:
        return build(
            programs,
            tree,
            _targets(plan, tree) if plan.variants_only else [_TARGET],
            jobs=options.jobs,
            timeout=options.timeout,
            on_progress=lambda event: show(event.finished, event.total, event.description),
        )


def _targets(plan: Plan, tree: BuildTree) -> list[str]:
    """The files that a run of some substitutions alone needs, as Ninja knows them."""
    outputs: list[Path] = []
    for (model, backend), variants in plan.variants.items():
        is_called = plan.locks[model].is_called
        outputs += [tree.model_module(model, backend)] if is_called else []
        dispatches = dict.fromkeys(name for variant in variants for name in variant.dispatches)
        outputs += [tree.dispatch_module(model, backend, dispatch) for dispatch in dispatches]
        outputs += variant_outputs(tree, model, backend, variants, is_called=is_called)
    return [output.relative_to(tree.binary_dir).as_posix() for output in outputs]


def _build_failures(report: BuildReport, unlocked: Mapping[str, Sequence[Problem]]) -> Iterator[BuildFailure]:
    for model, problems in unlocked.items():
        for problem in problems:
            yield BuildFailure(step="lock", model=model, backend=None, dispatch=None, reason=problem.message)
    for failure in report.failures:
        step = failure.step
        yield BuildFailure(
            step=step.step,
            model=step.model,
            backend=step.backend,
            dispatch=step.dispatch,
            substitution=step.substitution,
            reason=failure.reason,
        )
