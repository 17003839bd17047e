"""Running all benchmarks of a suite, one after the other, and collecting what they give."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from dispatchgen import __version__
from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import DispatchgenError, ModelError, OutputError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches
from dispatchgen.manifest.suite import Backend, Model
from dispatchgen.results.any_size import AtSizes, at_sizes
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.device_run import DeviceRun
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built
from dispatchgen.results.schema import Results
from dispatchgen.results.session import OnStart, Session, not_run


@dataclass(frozen=True)
class Programs:
    """The programs that run benchmarks and check outputs, and the versions to note beside the results."""

    iree_benchmark_module: Path
    iree_run_module: Path
    compiler_version: str
    runtime_version: str | None
    timeout: float | None  #: Of one process, in seconds.


def collect(plan: Plan, programs: Programs, tree: BuildTree, state: BuildState, on_start: OnStart) -> Results:
    """Runs the benchmarks of a plan serially: other work on the machine would be measured too.

    A dispatch that cannot be run is in the results with the reason, and the rest is run.
    """
    started = datetime.datetime.now(datetime.timezone.utc)
    session = Session(plan.processes(), on_start)
    for model in plan.suite.models:
        for backend_id in model.backends:
            _run_backend(plan, programs, tree, state, session, model, plan.suite.backend(backend_id))
    return Results(
        dispatchgen=__version__,
        compiler=programs.compiler_version,
        runtime=programs.runtime_version,
        started=started.isoformat(timespec="seconds"),
        host=session.host,
        calls=tuple(session.calls),
        not_run=tuple(session.not_run),
        build_failures=tuple(session.unproved.values()),
    )


def _run_backend(
    plan: Plan,
    programs: Programs,
    tree: BuildTree,
    state: BuildState,
    session: Session,
    model: Model,
    backend: Backend,
) -> None:
    built = Built(tree, state, model.id, backend.id)
    broken = state.models.get((model.id, backend.id))
    if broken is not None:
        session.not_run.append(not_run(built, "build-failed", broken))
        return
    variants = plan.variants_of(model.id, backend.id)
    if not backend.devices:
        session.leave(built, variants, "compile-only", "the manifest names no device to run on")
        return
    more = plan.at_sizes.get((model.id, backend.id))
    index = more.dispatches if more is not None else read_index(tree, model.id, backend.id)
    for device in backend.devices:
        runner = Runner(programs.iree_benchmark_module, device, model.run, programs.timeout)
        checker = Checker(programs.iree_run_module, device.uri, device.run_flags, programs.timeout)
        run = DeviceRun(plan, built, session, model, index, runner, checker)
        absent = session.absent.get((device.uri, device.run_flags)) or run.all_calls()
        if absent is not None:
            session.absent[device.uri, device.run_flags] = absent
            session.leave(built, variants, "absent-device", absent, device)


def read_index(tree: BuildTree, model: str, backend: str) -> BackendDispatches:
    """What a build has of a model on a backend; both are ids. Raises OutputError."""
    path = tree.index(model, backend)
    try:
        return BackendDispatches.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        hint = "remove the build folder and run again"
        raise OutputError(Problem("the build left no readable list of dispatches", Place(str(path)), hint)) from error


def add_sizes(plan: Plan, tree: BuildTree, state: BuildState) -> Plan:
    """The plan with the calls at sizes that the locks do not list; nothing is compiled for them.

    Raises:
      ModelError: sizes do not fit the program, or are beyond the limits of what is built.
      ShapeError: the program itself rejects them.
    """
    found: dict[tuple[str, str], AtSizes] = {}
    errors: list[DispatchgenError] = []
    for model in plan.suite.models:
        for backend in model.backends if model.sizes else ():
            if (model.id, backend) not in state.models:
                try:
                    index = read_index(tree, model.id, backend)
                    found[model.id, backend] = at_sizes(model, plan.locks[model.id], index, tree, plan.suite.root)
                except ModelError as error:
                    errors.append(error)
    if errors:
        raise ModelError(*dict.fromkeys(problem for error in errors for problem in error.problems))
    return replace(plan, at_sizes=found)
