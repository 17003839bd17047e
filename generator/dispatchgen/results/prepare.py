"""From a plan and a build to what is to be measured: tasks, and the results as far as they are known before."""

from __future__ import annotations

import datetime
import functools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import SUBSTITUTE_MODEL, BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.manifest.suite import Backend, Model
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.checks import Check, checks_of
from dispatchgen.results.compiled import build_steps, compiled
from dispatchgen.results.environment_schema import Environment
from dispatchgen.results.frame import call_frame
from dispatchgen.results.index import read_index
from dispatchgen.results.pin import Pin, processors_for
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built, Proofs, notes, prove
from dispatchgen.results.schema import BuildFailure, BuildStep, CallResult, Cause, NotRun, Results
from dispatchgen.results.settings import settings_of
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Task
from dispatchgen.results.tasks import tasks_of


@dataclass(frozen=True)
class Programs:
    """The programs that run benchmarks and check outputs."""

    iree_benchmark_module: Path
    iree_run_module: Path
    timeout: float | None  #: Of one process, in seconds.
    pin: Pin  #: Which processors benchmarks are kept on.
    work: BuildTree  #: Where iree-benchmark-module writes.


@dataclass(frozen=True)
class Prepared:
    """What is to be measured."""

    #: Everything that is known before: rows without timing, those that cannot be measured with their failure.
    frame: Results
    tasks: tuple[Task, ...]  #: Each measures rows of the frame; originals first in their groups.
    checks: tuple[Check, ...] = ()  #: To be done before.
    build: str = ""  #: `Target.build` of the tasks.


def prepare(
    plan: Plan,
    programs: Programs,
    tree: BuildTree,
    state: BuildState,
    environment: Environment,
    *,
    failures: Sequence[BuildFailure] = (),
    build: str = "",
    session: str | None = None,
) -> Prepared:
    """Makes the tasks of what is planned; nothing is run.

    Args:
      plan: What is to be run.
      programs: What runs it.
      tree: What was built.
      state: What of that can be used.
      environment: Where and with what it is measured.
      failures: Steps of the build that failed.
      build: `Target.build` of the tasks.
      session: Of what is measured at once; None: one of its own.
    """
    parts = _Parts()
    for model in plan.suite.models:
        for backend_id in model.backends:
            built = Built(tree, state, model.id, backend_id)
            _add(parts, plan, programs, built, model, plan.suite.backend(backend_id), build)
    run = uuid.uuid4().hex
    frame = Results(
        id=run,
        session=session or run,
        started=now(),
        finished=None,
        environment=environment,
        calls=tuple(parts.calls),
        not_run=tuple(parts.not_run),
        build_failures=(*failures, *parts.unproved),
        build=tuple(dict.fromkeys(parts.steps)),
    )
    return Prepared(frame, tuple(parts.tasks), tuple(parts.checks), build)


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


@dataclass
class _Parts:
    """What is prepared so far."""

    calls: list[CallResult] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    unproved: list[BuildFailure] = field(default_factory=list)
    steps: list[BuildStep] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)


def _add(
    parts: _Parts, plan: Plan, programs: Programs, built: Built, model: Model, backend: Backend, build: str
) -> None:
    """Adds a model on a backend."""

    def leave(cause: Cause, reason: str, *seen: str) -> None:
        parts.not_run.append(
            NotRun(model=model.id, backend=backend.id, device=None, cause=cause, reason=reason, notes=seen)
        )

    broken = built.state.models.get((model.id, backend.id))
    if broken is not None:
        leave("build-failed", broken)
        return
    variants = plan.variants_of(model.id, backend.id)
    proofs = prove(built, variants)
    parts.unproved += _unproved(built, proofs)
    more = plan.at_sizes.get((model.id, backend.id))
    index = more.dispatches if more is not None else read_index(built.tree, model.id, backend.id)
    parts.steps += build_steps(built, [dispatch.name for dispatch in index.dispatches], variants)
    if not backend.devices:
        leave("compile-only", "the manifest names no device to run on", *notes(proofs, variants))
    look = functools.cache(functools.partial(compiled, built))
    for device in backend.devices:
        runner = Runner(programs.iree_benchmark_module, device, settings_of(model), programs.timeout)
        checker = Checker(programs.iree_run_module, device.uri, device.run_flags, programs.timeout)
        cpus = processors_for(programs.pin, device.uri)
        subject = Subject(plan, built, model, index, proofs, runner, checker, look, programs.work, cpus, build)
        parts.calls += [call_frame(subject, call) for call in subject.calls]
        parts.tasks += tasks_of(subject)
        parts.checks += checks_of(subject)


def _unproved(built: Built, proofs: Proofs) -> Iterator[BuildFailure]:
    """Whole models that were built and show that nothing was substituted."""
    for variant, found in proofs.models.items():
        if found.unproved is not None:
            yield BuildFailure(
                step=SUBSTITUTE_MODEL,
                model=built.model,
                backend=built.backend,
                dispatch=None,
                substitution=variant,
                reason=found.unproved,
            )
