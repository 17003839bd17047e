"""Running a model on one backend and device: its dispatches, what replaces them, and the whole model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dispatchgen.agreement.run import Checker
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.iree.flags import parameter_values
from dispatchgen.manifest.suite import Model
from dispatchgen.results import assemble
from dispatchgen.results.any_size import AtSizes, SizedBenchmark
from dispatchgen.results.assemble_substitutions import substitution_result
from dispatchgen.results.benchmark import Outcome, Runner, run_dispatches, run_model, run_sized
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built
from dispatchgen.results.schema import Settings, Timing, WholeModel
from dispatchgen.results.scope import acting
from dispatchgen.results.session import Session, device_used
from dispatchgen.results.substitutes import (
    Substitute,
    SubstitutedModel,
    run_substitute,
    run_substituted_model,
)
from dispatchgen.selection.variants import Variant


class _Absent(Exception):
    """The device is not there."""


@dataclass(frozen=True)
class DeviceRun:
    """A model on one backend and device."""

    plan: Plan
    built: Built
    session: Session
    model: Model
    index: BackendDispatches
    runner: Runner
    checker: Checker
    #: What substitutes gave, by the variant's id and the dispatch's name.
    substitutes: dict[str, dict[str, Substitute]] = field(default_factory=dict)
    #: Module of a whole model and function that is not called again -> why: a call of it did not end in time.
    hung: dict[tuple[Path, str], str] = field(default_factory=dict)

    @property
    def variants(self) -> Sequence[Variant]:
        return self.plan.variants_of(self.model.id, self.index.backend)

    def all_calls(self) -> str | None:
        """Runs all calls and adds their results. Returns why the device is absent, if it is: then nothing is added."""
        calls = self.plan.calls(self.model, self.index.backend)
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
                    if variant.id in models
                ],
            )
            self.session.calls.append(result if self._at_sizes is None else self._at_sizes.described(result))
        return None

    @property
    def _at_sizes(self) -> AtSizes | None:
        """The calls at sizes that nothing lists."""
        return self.plan.at_sizes.get((self.model.id, self.index.backend))

    @property
    def _sized(self) -> Mapping[str, SizedBenchmark]:
        """The benchmarks that functions which take sizes run, by name."""
        return self._at_sizes.sized if self._at_sizes is not None else {}

    def _dispatches(self, calls: Sequence[str]) -> assemble.Measured:
        timings: dict[str, Timing] = {}
        failures: dict[str, str] = {}
        only = self.plan.only(self.model.id, self.index.backend)
        for dispatch in self.index.dispatches:
            names = [benchmark.name for benchmark in assemble.benchmarks_of(dispatch, calls)]
            functions = [name for name in names if name not in self._sized]
            if not names or (only is not None and dispatch.name not in only):
                continue
            outcomes = [self._dispatch(dispatch, functions)] if functions else []
            outcomes += [self._sized_benchmark(dispatch, name) for name in names if name in self._sized]
            for outcome in outcomes:
                timings |= outcome.timings
                failures |= {name: _explained(reason, dispatch) for name, reason in outcome.failures.items()}
            if functions:
                self._substitutes(dispatch, functions)
        return assemble.Measured(timings, failures)

    def _dispatch(self, dispatch: Dispatch, functions: Sequence[str]) -> Outcome:
        self._start(dispatch.name)
        reason = self.built.state.modules.get((self.model.id, self.index.backend, dispatch.name))
        if reason is not None:
            return Outcome(failures=dict.fromkeys(functions, reason))
        every = len(functions) == sum(benchmark.name not in self._sized for benchmark in dispatch.benchmarks)
        module, archive = self.built.dispatch(dispatch.name), self.built.archive(dispatch)
        output = self._output(dispatch.name)
        return self._note(run_dispatches(self.runner, module, functions, output, every=every, archive=archive))

    def _sized_benchmark(self, dispatch: Dispatch, name: str) -> Outcome:
        """Runs a benchmark that is none of the dispatch's module, by the function that takes sizes."""
        self._start(f"{dispatch.name}, {name}")
        reason = self.built.state.modules.get((self.model.id, self.index.backend, dispatch.name))
        if reason is not None:
            return Outcome(failures={name: reason})
        sized = self._sized[name]
        module, archive = self.built.dispatch(dispatch.name), self.built.archive(dispatch)
        found = self._note(run_sized(self.runner, module, sized.function, sized.sizes, self._output(name), archive))
        return found.renamed({sized.function: name})

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
        if not call.is_run:
            return WholeModel(timing=None)
        self._start(f"the whole model, {call.name}")
        reason = self.built.state.modules.get((self.model.id, self.index.backend, None))
        if reason is not None:
            return WholeModel(timing=None, failure=reason)
        outcome = self._call(call, self.built.whole_model(), self._output(call.name))
        return WholeModel(timing=outcome.timings.get(call.function), failure=outcome.failures.get(call.function))

    def _substituted_models(self, call: Call) -> dict[str, SubstitutedModel]:
        """Runs the variants of the whole model, by their ids; none are of calls at sizes that nothing lists."""
        if call not in self.plan.locks[self.model.id].calls:
            return {}
        if not call.is_run:
            return {variant.id: SubstitutedModel() for variant in self.variants}
        found = {}
        for variant in self.variants:
            if acting(variant, call):
                self._start(f"the whole model, {call.name}, {variant.name}")
            run = partial(self._call, call, output=self._output(call.name, variant.id))
            found[variant.id] = run_substituted_model(self.built, variant, call, run)
        return found

    def _call(self, call: Call, module: Path, output: Path) -> Outcome:
        """Runs a call of a whole model, unless another call of the function did not end in time."""
        if (module, call.function) in self.hung:
            return Outcome(failures={call.function: self.hung[module, call.function]})
        parameters = parameter_values(self.model, self.plan.suite.root)
        of_sizes = self._at_sizes.flag_file(call) if self._at_sizes is not None else None
        flag_file = of_sizes or self.built.flag_file(call.name)
        outcome = self._note(run_model(self.runner, module, call.function, flag_file, parameters, output))
        if outcome.hung is not None:
            self.hung[module, call.function] = f"it was not run, because {call.name} did not end in time"
        return outcome

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
