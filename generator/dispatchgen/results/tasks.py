"""The tasks of a model on a device: its dispatches, what replaces them, and the whole model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dispatchgen.extract.schema import Benchmark, Call, Dispatch
from dispatchgen.iree.flags import parameter_values
from dispatchgen.results.benchmark import run_dispatches, run_model, run_sized
from dispatchgen.results.caches import Cache
from dispatchgen.results.scope import acting
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Outcome, Task


def tasks_of(subject: Subject) -> Iterator[Task]:
    """The tasks of all that can be run; an original comes right before what replaces it."""
    for dispatch, benchmarks in subject.dispatches():
        for caches in subject.caches:
            yield from _of_dispatch(subject, dispatch, benchmarks, caches)
    calls = _Calls(subject)
    for call in subject.calls:
        if not call.is_run:
            continue
        if subject.why_not(None) is None:
            yield _model(calls, call)
        if subject.is_listed(call):
            for variant in subject.variants:
                whole = subject.proofs.models[variant.id]
                if whole.failure is None and not whole.same and acting(variant, call):
                    yield _model(calls, call, variant.id)


def _of_dispatch(
    subject: Subject, dispatch: Dispatch, benchmarks: Sequence[Benchmark], caches: Cache
) -> Iterator[Task]:
    """The tasks of a dispatch and of what replaces it."""
    listed = [each for each in benchmarks if each.name not in subject.sized]
    if caches == "cold":
        listed = [each for each in listed if each.cold is not None]
    if subject.why_not(dispatch.name) is None:
        if listed:
            yield _dispatch(subject, dispatch, listed, caches)
        for each in benchmarks:
            if each.name in subject.sized and caches == "warm":
                yield _sized(subject, dispatch, each.name)
    for variant in subject.variants:
        if listed and subject.is_substituted(dispatch.name, variant.id):
            yield _dispatch(subject, dispatch, listed, caches, variant.id)


def _dispatch(
    subject: Subject, dispatch: Dispatch, benchmarks: Sequence[Benchmark], caches: Cache, variant: str = ""
) -> Task:
    """Measures benchmarks of a dispatch's module, or of its substitute's."""
    module, archive = subject.built.dispatch(dispatch.name, variant or None), subject.built.archive(dispatch)
    output = subject.output(dispatch.name if caches == "warm" else f"{dispatch.name}.cold", variant)
    function_of = {each.name: each.name if caches == "warm" else each.cold or "" for each in benchmarks}
    listed = [each for each in dispatch.benchmarks if each.name not in subject.sized]
    every = {each.name for each in listed} | {each.cold for each in listed if each.cold is not None}

    def run(wanted: Sequence[str], batch_size: int) -> Outcome:
        functions = [function_of[name] for name in wanted]
        found = run_dispatches(
            subject.runner,
            module,
            functions,
            output,
            every=every == set(functions),
            archive=archive,
            batch_size=batch_size,
        )
        return _explained(_renamed(found, {function_of[name]: name for name in wanted}), dispatch)

    return Task(
        id=_id(subject, "dispatch", dispatch.name, variant, "cold" if caches == "cold" else ""),
        group=_group(subject, "dispatch", dispatch.name),
        target=subject.target("dispatch", variant, caches),
        benchmarks=tuple(each.name for each in benchmarks),
        sha256=_sha256(subject, dispatch.name, variant),
        batch_size=subject.runner.settings.batch_size,
        settings=subject.runner.settings,
        run=run,
        cpus=subject.cpus,
    )


def _sized(subject: Subject, dispatch: Dispatch, benchmark: str) -> Task:
    """Measures a benchmark that is none of the dispatch's module, by the function that takes sizes."""
    sized = subject.sized[benchmark]
    module, archive = subject.built.dispatch(dispatch.name), subject.built.archive(dispatch)
    output = subject.output(benchmark)

    def run(_: Sequence[str], batch_size: int) -> Outcome:
        found = run_sized(subject.runner, module, sized.function, sized.sizes, output, archive, batch_size)
        return _explained(_renamed(found, {sized.function: benchmark}), dispatch)

    return Task(
        id=_id(subject, "dispatch", dispatch.name, f"sizes/{benchmark}"),
        group=_group(subject, "dispatch", dispatch.name),
        target=subject.target("dispatch"),
        benchmarks=(benchmark,),
        sha256=_sha256(subject, dispatch.name),
        batch_size=subject.runner.settings.batch_size,
        settings=subject.runner.settings,
        run=run,
        cpus=subject.cpus,
    )


@dataclass(frozen=True)
class _Calls:
    """Calls of the functions of whole models."""

    subject: Subject
    #: Module and function that is not called again -> why: a call of it did not end in time.
    hung: dict[tuple[Path, str], str] = field(default_factory=dict)

    def run(self, call: Call, module: Path, output: Path) -> Outcome:
        """Runs a call of a module, unless another call of the function did not end in time."""
        subject, key = self.subject, (module, call.function)
        if key in self.hung:
            return Outcome(failures={call.name: self.hung[key]}, hung=self.hung[key])
        parameters = parameter_values(subject.model, subject.plan.suite.root)
        found = run_model(subject.runner, module, call.function, subject.flag_file(call), parameters, output)
        if found.hung is not None:
            self.hung[key] = f"it was not run, because {call.name} did not end in time"
        return _renamed(found, {call.function: call.name})


def _model(calls: _Calls, call: Call, variant: str = "") -> Task:
    """Measures a call of the whole model, or of a variant of it."""
    subject = calls.subject
    module, output = subject.built.whole_model(variant or None), subject.output(call.name, variant)
    return Task(
        id=_id(subject, "model", call.name, variant),
        group=_group(subject, "model", call.name),
        target=subject.target("model", variant),
        benchmarks=(call.name,),
        sha256=_sha256(subject, None, variant),
        batch_size=1,
        settings=subject.runner.settings,
        run=lambda *_: calls.run(call, module, output),
        cpus=subject.cpus,
    )


def _group(subject: Subject, kind: str, name: str) -> str:
    """The same of all builds that are measured in turns."""
    return "/".join((subject.model.id, subject.index.backend, subject.device.id, kind, name))


def _id(subject: Subject, kind: str, name: str, *below: str) -> str:
    found = "/".join([_group(subject, kind, name), *filter(None, below)])
    return f"{found}@{subject.build}" if subject.build else found


def _sha256(subject: Subject, dispatch: str | None, variant: str = "") -> str:
    """Of a module; that it is there is known."""
    found = subject.compiled(dispatch, variant or None)
    return "" if found is None else found.sha256


def _renamed(outcome: Outcome, benchmarks: Mapping[str, str]) -> Outcome:
    """What a process gave of some functions, by the names of their rows."""
    return replace(
        outcome,
        samples={benchmarks[name]: sample for name, sample in outcome.samples.items() if name in benchmarks},
        failures={benchmarks[name]: failure for name, failure in outcome.failures.items() if name in benchmarks},
    )


def _explained(outcome: Outcome, dispatch: Dispatch) -> Outcome:
    """Where memory ran out, failures say what is to blame: the largest shape, and copies for cold benchmarks."""
    notes = []
    if len(dispatch.benchmarks) > 1:
        largest = max(dispatch.benchmarks, key=lambda benchmark: sum(benchmark.bindings))
        notes.append(f"all shapes share a buffer that is large enough for {largest.name}")
    if any(benchmark.cold is not None for benchmark in dispatch.benchmarks):
        notes.append("the module also has copies for cold benchmarks: `cold_memory` in the manifest says how large")
    failures = {
        name: "\n".join([reason, *notes]) if "failed to allocate" in reason else reason
        for name, reason in outcome.failures.items()
    }
    return replace(outcome, failures=failures)
