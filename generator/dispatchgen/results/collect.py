"""Running all benchmarks of a suite, one after the other, and collecting what they give."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from dispatchgen import __version__
from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import SUBSTITUTE_MODEL, BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import OutputError, Place, Problem
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.manifest.suite import Backend, Device, Model
from dispatchgen.results import assemble
from dispatchgen.results.assemble_substitutions import substitution_result
from dispatchgen.results.benchmark import Outcome, Runner, run_dispatches, run_model
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built, examine_model, notes
from dispatchgen.results.schema import (
    BuildFailure,
    CallResult,
    Cause,
    DeviceUsed,
    Host,
    NotRun,
    Results,
    Settings,
    Timing,
    WholeModel,
)
from dispatchgen.results.substitutes import (
    Substitute,
    SubstitutedModel,
    run_substitute,
    run_substituted_model,
)
from dispatchgen.selection.variants import Variant

#: Called before each process with the number of processes that have ended, of how many, and what starts now.
OnStart = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Programs:
    """The programs that run benchmarks and check outputs, and the versions to note beside the results."""

    iree_benchmark_module: Path
    iree_run_module: Path
    compiler_version: str
    runtime_version: str | None
    timeout: float | None  #: Of one process, in seconds.


@dataclass
class _Session:
    """What has been collected so far."""

    total: int
    on_start: OnStart
    done: int = 0
    calls: list[CallResult] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    host: Host | None = None
    #: By model, backend and variant: what is not what it should be, though it was built; of what is not run.
    unproved: dict[tuple[str, str, str], BuildFailure] = field(default_factory=dict)
    absent: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)  #: (URI, run flags) -> why.

    def start(self, what: str) -> None:
        self.on_start(self.done, self.total, what)
        self.done += 1

    def leave(
        self, built: Built, variants: Sequence[Variant], cause: Cause, reason: str, device: Device | None = None
    ) -> None:
        """Notes why what was built is not run, and what its modules show all the same."""
        seen = [note for variant in variants for note in notes(built, variant)]
        self.not_run.append(_not_run(built, cause, reason, device, seen))
        for variant in variants:
            failure = examine_model(built, variant).failure
            if failure is not None and built.why_not(built.whole_model(variant.id)) is None:
                self.unproved[built.model, built.backend, variant.id] = BuildFailure(
                    step=SUBSTITUTE_MODEL,
                    model=built.model,
                    backend=built.backend,
                    dispatch=None,
                    substitution=variant.id,
                    reason=failure,
                )


def collect(plan: Plan, programs: Programs, tree: BuildTree, state: BuildState, on_start: OnStart) -> Results:
    """Runs the benchmarks of a plan serially: other work on the machine would be measured too.

    A dispatch that cannot be run is in the results with the reason, and the rest is run.
    """
    started = datetime.datetime.now(datetime.timezone.utc)
    session = _Session(plan.processes(), on_start)
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
    session: _Session,
    model: Model,
    backend: Backend,
) -> None:
    built = Built(tree, state, model.id, backend.id)
    broken = state.models.get((model.id, backend.id))
    if broken is not None:
        session.not_run.append(_not_run(built, "build-failed", broken))
        return
    variants = plan.variants_of(model.id, backend.id)
    if not backend.devices:
        session.leave(built, variants, "compile-only", "the manifest names no device to run on")
        return
    index = _read_index(tree.index(model.id, backend.id))
    for device in backend.devices:
        runner = Runner(programs.iree_benchmark_module, device, model.run, programs.timeout)
        checker = Checker(programs.iree_run_module, device.uri, device.run_flags, programs.timeout)
        run = _DeviceRun(plan, built, session, model, index, runner, checker)
        absent = session.absent.get((device.uri, device.run_flags)) or run.all_calls()
        if absent is not None:
            session.absent[device.uri, device.run_flags] = absent
            session.leave(built, variants, "absent-device", absent, device)


def _not_run(built: Built, cause: Cause, reason: str, device: Device | None = None, seen: Sequence[str] = ()) -> NotRun:
    used = None if device is None else device_used(device)
    return NotRun(model=built.model, backend=built.backend, device=used, cause=cause, reason=reason, notes=tuple(seen))


class _Absent(Exception):
    """The device is not there."""


@dataclass(frozen=True)
class _DeviceRun:
    """A model on one backend and device."""

    plan: Plan
    built: Built
    session: _Session
    model: Model
    index: BackendDispatches
    runner: Runner
    checker: Checker
    #: What substitutes gave, by the variant's id and the dispatch's name.
    substitutes: dict[str, dict[str, Substitute]] = field(default_factory=dict)

    @property
    def variants(self) -> Sequence[Variant]:
        return self.plan.variants_of(self.model.id, self.index.backend)

    def all_calls(self) -> str | None:
        """Runs all calls and adds their results. Returns why the device is absent, if it is: then nothing is added."""
        calls = self.plan.calls(self.model)
        try:
            measured = self._dispatches([call.name for call in calls])
            whole = [(self._whole_model(call), self._substituted_models(call)) for call in calls]
        except _Absent as absent:
            return str(absent)
        run = self.model.run
        for call, (whole_model, models) in zip(calls, whole, strict=True):
            result = assemble.call_result(
                model=self.model.id,
                device=device_used(self.runner.device),
                settings=Settings(min_time=run.min_time, repetitions=run.repetitions, batch_size=run.batch_size),
                lock=self.index,
                call=call,
                measured=measured,
                whole_model=whole_model,
                only=self.plan.only(self.model.id, self.index.backend),
                substitutions=[
                    substitution_result(
                        variant, call, measured, self.substitutes.get(variant.id, {}), whole_model, models[variant.id]
                    )
                    for variant in self.variants
                ],
            )
            self.session.calls.append(result)
        return None

    def _dispatches(self, calls: Sequence[str]) -> assemble.Measured:
        timings: dict[str, Timing] = {}
        failures: dict[str, str] = {}
        only = self.plan.only(self.model.id, self.index.backend)
        for dispatch in self.index.dispatches:
            functions = [benchmark.name for benchmark in assemble.benchmarks_of(dispatch, calls)]
            if not functions or (only is not None and dispatch.name not in only):
                continue
            outcome = self._dispatch(dispatch, functions)
            timings |= outcome.timings
            failures |= {name: _explained(reason, dispatch) for name, reason in outcome.failures.items()}
            self._substitutes(dispatch, functions)
        return assemble.Measured(timings, failures)

    def _dispatch(self, dispatch: Dispatch, functions: Sequence[str]) -> Outcome:
        self._start(dispatch.name)
        reason = self.built.state.modules.get((self.model.id, self.index.backend, dispatch.name))
        if reason is not None:
            return Outcome(failures=dict.fromkeys(functions, reason))
        every = len(functions) == len(dispatch.benchmarks)
        module = self.built.dispatch(dispatch.name)
        return self._note(run_dispatches(self.runner, module, functions, self._output(dispatch.name), every=every))

    def _substitutes(self, dispatch: Dispatch, functions: Sequence[str]) -> None:
        """Runs what replaces a dispatch, right after it: the machine is most likely in the same state."""
        for variant in self.variants:
            if all(target.dispatch.name != dispatch.name for target in variant.targets):
                continue
            self._start(f"{dispatch.name}, {variant.name}")
            output = self._output(dispatch.name, variant.id)
            found = run_substitute(self.built, self.runner, self.checker, variant, dispatch, functions, output)
            self._note(found.outcome)
            self.substitutes.setdefault(variant.id, {})[dispatch.name] = found

    def _whole_model(self, call: Call) -> WholeModel:
        self._start(f"the whole model, {call.name}")
        reason = self.built.state.modules.get((self.model.id, self.index.backend, None))
        if reason is not None:
            return WholeModel(timing=None, failure=reason)
        module, parameters = self.built.whole_model(), parameter_flags(self.model, self.plan.suite.root)
        flag_file = self.built.flag_file(call.name)
        output = self._output(call.name)
        outcome = self._note(run_model(self.runner, module, call.function, flag_file, parameters, output))
        return WholeModel(timing=outcome.timings.get(call.function), failure=outcome.failures.get(call.function))

    def _substituted_models(self, call: Call) -> dict[str, SubstitutedModel]:
        """Runs the variants of the whole model, by their ids."""
        found = {}
        parameters = list(parameter_flags(self.model, self.plan.suite.root))
        for variant in self.variants:
            self._start(f"the whole model, {call.name}, {variant.name}")
            output = self._output(call.name, variant.id)
            found[variant.id] = run_substituted_model(self.built, self.runner, variant, call, parameters, output)
            self._note(found[variant.id].outcome)
        return found

    def _note(self, outcome: Outcome) -> Outcome:
        if outcome.absent is not None:
            raise _Absent(outcome.absent)
        if self.session.host is None:
            self.session.host = outcome.host
        return outcome

    def _output(self, name: str, variant: str | None = None) -> Path:
        return self.built.tree.result(self.model.id, self.index.backend, self.runner.device.id, name, variant)

    def _start(self, what: str) -> None:
        self.session.start(f"{self.model.id} on {self.index.backend}, {self.runner.device.id}: {what}")


def _explained(reason: str, dispatch: Dispatch) -> str:
    """A failure; where memory ran out, with the shape that is to blame: all of a dispatch share one buffer."""
    if "failed to allocate" not in reason or len(dispatch.benchmarks) < 2:
        return reason
    largest = max(dispatch.benchmarks, key=lambda benchmark: sum(benchmark.bindings))
    return f"{reason}\nall shapes share a buffer that is large enough for {largest.name}"


def device_used(device: Device) -> DeviceUsed:
    """A device as the results name it."""
    return DeviceUsed(id=device.id, uri=device.uri, run_flags=device.run_flags)


def parameter_flags(model: Model, root: Path) -> Iterable[str]:
    """Values of `--parameters=`, from `[scope=]path` (split at the first `=`), paths relative to the suite."""
    for parameter in model.parameters:
        scope, separator, path = parameter.partition("=") if "=" in parameter else ("", "", parameter)
        yield f"{scope}{separator}{(root / path).absolute()}"


def _read_index(path: Path) -> BackendDispatches:
    try:
        return BackendDispatches.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        hint = "remove the build folder and run again"
        raise OutputError(Problem("the build left no readable list of dispatches", Place(str(path)), hint)) from error
