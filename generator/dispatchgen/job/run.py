"""The main job, from a suite to its results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.buildtree.build import check_paths
from dispatchgen.buildtree.exclusive import exclusive
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.errors import DispatchgenError, OutputError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.iree.tools import Tools, find_tools, program_version
from dispatchgen.job.build import find_all_programs, lock, make
from dispatchgen.job.made import Made, check_locks, drop_record, keep_record, read_locks, read_record
from dispatchgen.job.opened import open_build, settle_drift
from dispatchgen.job.options import RESULTS, Options
from dispatchgen.lock.make import raise_all
from dispatchgen.manifest.suite import Suite
from dispatchgen.observer import Observer
from dispatchgen.ownership import IGNORE_ALL, check_build_folder
from dispatchgen.results import environment
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.journal import check_left
from dispatchgen.results.pin import processors_for
from dispatchgen.results.plan import add_sizes, with_calls
from dispatchgen.results.prepare import Programs, prepare
from dispatchgen.results.run import Build, Measured, run
from dispatchgen.results.schema import Results
from dispatchgen.results.scrub import scrubber
from dispatchgen.selection.variants import narrow

#: `Target.build` of what is measured beside the suite's own build.
BESIDE = "beside"


@dataclass(frozen=True)
class Outcome:
    """What was measured, and what is wrong with the models that could not be locked."""

    measured: Sequence[Measured]  #: Of the suite's build, then of the one beside it.
    problems: Sequence[Problem] = ()

    @property
    def results(self) -> Results:
        """The results of the suite's build."""
        return self.measured[0].results


def run_job(whole: Suite, selected: Suite, options: Options, observer: Observer) -> Outcome:
    """Does it all for the selected part of a suite.

    Raises:
      DispatchgenError: no model can be locked, or tools are missing, or a folder cannot be worked in.
    """
    folder = options.folder(whole)
    check_build_folder(folder)
    if options.measuring.resume:
        check_left(options.file or folder / RESULTS)
    if options.beside is not None:
        _check_beside(folder, options.beside, options)
    selected = narrow(selected, options.substitutions)
    if options.built is not None:
        tools = options.tools or find_tools(options.iree_host_bin_dir)
        made = settle_drift(open_build(selected, options.built, options), observer)
        with exclusive(folder):
            write_if_changed(folder / ".gitignore", IGNORE_ALL)  # what marks it as a build folder
            return _measure(made, tools, folder, options, observer)
    tools, programs = find_all_programs(options)
    locked = lock(whole, selected, tools, options, observer)
    try:
        check_paths(folder, whole.root.absolute())
        with exclusive(folder):
            drop_record(folder)
            made = make(locked, programs, folder, options, observer)
            made = settle_drift(made, observer) if options.keep_locks else made
            keep_record(folder, made, environment.read_software(made.plan.suite, _what_measures(tools)))
            outcome = _measure(made, tools, folder, options, observer)
    except DispatchgenError as error:
        raise_all([*([DispatchgenError(*locked.problems)] if locked.problems else []), error])
        raise
    return replace(outcome, problems=locked.problems)


def _check_beside(folder: Path, beside: Path, options: Options) -> None:
    """Raises OutputError where another build cannot be measured beside that of `folder`; nothing is built yet."""
    if beside.resolve() == folder.resolve():
        hint = "--build-dir with another folder for this build"
        raise OutputError(Problem("this build folder is to be measured beside itself", Place(str(beside)), hint))
    read_record(beside)
    file, other = options.file or folder / RESULTS, options.beside_file or beside / RESULTS
    if file.resolve() == other.resolve():
        message = "the results of two builds are to be in one file"
        raise OutputError(Problem(message, Place(str(file)), "--json or --beside-json with another file"))


def _kept(selected: Suite, folder: Path, options: Options) -> Made:
    """What a build folder keeps of its last build. Raises OutputError where that is not of these models."""
    record, locks = read_record(folder), read_locks(selected, folder / "locks")
    suite, tree = with_calls(selected, locks), BuildTree(folder / "build")
    check_locks(suite, locks, tree, record.state)
    return Made(options.plan(suite, locks), tree, record.state, record.failures, record.software)


def _measure(made: Made, tools: Tools, folder: Path, options: Options, observer: Observer) -> Outcome:
    """Measures a build, and the one beside it in turns."""
    work = made.tree if options.built is None else BuildTree(folder / "built")
    builds = [_build(made, tools, options, work, options.file or folder / RESULTS)]
    with ExitStack() as stack:
        if options.beside is not None:
            other = options.beside.absolute()
            kept = _kept(made.plan.suite, other, options)
            stack.enter_context(exclusive(other))
            file, session = options.beside_file or other / RESULTS, builds[0].prepared.frame.session
            builds.append(_build(kept, tools, options, kept.tree, file, build=BESIDE, session=session))
        return Outcome(run(builds, options.measuring, observer))


def _build(
    made: Made,
    tools: Tools,
    options: Options,
    work: BuildTree,
    file: Path,
    *,
    build: str = "",
    session: str | None = None,
) -> Build:
    """A build as it is measured; `work` is for what measuring writes besides results."""
    programs = Programs(tools.iree_benchmark_module, tools.iree_run_module, options.timeout, options.pin, work)
    made = replace(made, plan=add_sizes(made.plan, made.tree, made.state, work))
    environment = _environment(made, tools, options)
    prepared = prepare(
        made.plan, programs, made.tree, made.state, environment, failures=made.failures, build=build, session=session
    )
    root, tree = made.plan.suite.root, made.tree.binary_dir
    return Build(prepared, file, scrubber(suite=root, build=tree, with_host_name=options.with_host_name))


def _environment(made: Made, tools: Tools, options: Options) -> Environment:
    """Where it is measured, and with what it was made."""
    suite = made.plan.suite
    programs = _what_measures(tools)
    uris = {device.uri for backend in suite.backends for device in backend.devices}
    pinned = {processor for uri in uris for processor in processors_for(options.pin, uri) or ()}
    found = environment.read_environment(suite, programs, pinned=sorted(pinned), with_host_name=options.with_host_name)
    if made.software is None:
        return found
    used = {"runtime": found.software.runtime, "kernel": found.software.kernel}
    return found.model_copy(update={"software": made.software.model_copy(update=used)})


def _what_measures(tools: Tools) -> environment.Measured:
    runtime = program_version(tools.iree_benchmark_module)
    return environment.Measured(tools.iree_benchmark_module, tools.compiler_version, runtime)
