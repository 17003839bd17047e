"""The top of the page: what ran where, what was not controlled, how much was measured, and why the rest was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from dispatchgen.report import format
from dispatchgen.report.table import short_id
from dispatchgen.results.environment_schema import Environment, Machine
from dispatchgen.results.lean import Call, Results

#: Most places that are listed of one reason.
_MOST_PLACES = 50
_GIB = 1 << 30


@dataclass(frozen=True)
class Run:
    """One of the results."""

    id: str
    started: str
    finished: str | None
    machine: tuple[tuple[str, str], ...]  #: What it is and its value.
    software: tuple[tuple[str, str], ...]
    uncontrolled: tuple[str, ...]
    method: tuple[str, ...]  #: Sentences.


@dataclass
class Reason:
    """Why something was not measured, and what."""

    kind: str  #: `failed`, `skipped`, `not counted`, `not run` or `not built`.
    text: str
    count: int = 0
    places: list[str] = field(default_factory=list)  #: The first of them.

    @property
    def first_line(self) -> str:
        """The beginning of the text."""
        return self.text.partition("\n")[0]

    def add(self, place: str) -> None:
        """Counts one more."""
        self.count += 1
        if len(self.places) < _MOST_PLACES:
            self.places.append(place)


@dataclass(frozen=True)
class Covered:
    """How many dispatches calls run, and what became of them."""

    dispatches: int
    measured: int
    skipped: int
    failed: int
    left_out: int


def run_of(results: Results) -> Run:
    """Where and how results were measured. Raises msgspec.ValidationError where they do not say it."""
    environment = Environment.model_validate_json(bytes(results.environment))
    return Run(
        id=short_id(results.id),
        started=format.time(results.started),
        finished=format.time(results.finished) if results.finished else None,
        machine=tuple(_machine(environment.machine)),
        software=tuple(_software(environment)),
        uncontrolled=environment.uncontrolled,
        method=tuple(_method(results, environment)),
    )


def _machine(machine: Machine) -> Iterator[tuple[str, str]]:
    cpu = machine.cpu
    threads = f", {cpu.threads_per_core} threads per core" if cpu.threads_per_core else ""
    yield "processor", f"{cpu.model}, {cpu.architecture}, {cpu.cores} in use{threads}"
    yield "memory", f"{machine.memory_bytes / _GIB:.1f} GiB"
    yield "system", machine.system
    inside = [name for name in (machine.virtual_machine, machine.container) if name]
    yield "runs inside", " in ".join(reversed(inside)) or "no virtual machine or container, as far as can be told"
    known = (("governor", cpu.governor), ("boost", None if cpu.boost is None else "on" if cpu.boost else "off"))
    yield "frequency", ", ".join(f"{name} {value or 'not readable'}" for name, value in known)
    for device in machine.devices:
        version = f", driver {device.driver_version}" if device.driver_version else ""
        yield f"device {device.id}", f"{device.driver}: {device.name or 'no name'}{version}"


def _software(environment: Environment) -> Iterator[tuple[str, str]]:
    software = environment.software
    yield "compiler", software.compiler
    yield "runtime", software.runtime or "not from a wheel"
    yield "dispatchgen", f"{software.dispatchgen}, Python {software.python}"
    yield "kernel", software.kernel
    if software.commit:
        yield "commit", software.commit + (", with edits that are not committed" if software.dirty else "")
    if environment.host_name:
        yield "host", environment.host_name


def _method(results: Results, environment: Environment) -> Iterator[str]:
    """How it was measured, in sentences."""
    measuring = results.measuring
    budget = measuring.get("budget_seconds")
    shard = measuring.get("shard")
    yield f"{measuring.get('rounds', 0)} rounds were begun, in {_seconds(measuring.get('spent_seconds', 0.0))}" + (
        f" of a budget of {_seconds(budget)}." if budget else ", without a budget."
    )
    yield from _distinct_settings(results.calls)
    processors = ", ".join(map(str, environment.pinned))
    yield f"Benchmarks were kept on processor {processors}." if processors else "Benchmarks ran on any processor."
    if isinstance(shard, dict):
        yield f"This is shard {shard.get('index')} of {shard.get('count')}: a part of the suite."
    merged = measuring.get("merged", 1)
    if isinstance(merged, int) and merged > 1:
        yield f"It is merged of {merged} result files."


def _seconds(value: object) -> str:
    seconds = float(value) if isinstance(value, (int, float)) else 0.0
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.1f} s"


def _distinct_settings(calls: Sequence[Call]) -> Iterator[str]:
    distinct = {msgspec.json.encode(call.settings): call.settings for call in calls}
    for settings in distinct.values():
        at_least = f", each of at least {settings['min_time']}" if settings.get("min_time") else ""
        precision = settings.get("precision")
        goal = f"; further ones until ± {precision:.1%} was reached" if isinstance(precision, float) else ""
        yield (
            f"{settings.get('rounds', 1)} rounds of {settings.get('repetitions')} repetitions{at_least}{goal}. "
            f"Runs per timed call: {settings.get('batch_size')}."
        )


def covered(calls: Sequence[Call]) -> Covered:
    """The coverage of all calls together."""
    found = [call.coverage for call in calls]
    return Covered(
        dispatches=sum(each.dispatches for each in found),
        measured=sum(each.measured for each in found),
        skipped=sum(each.skipped for each in found),
        failed=sum(each.failed for each in found),
        left_out=sum(each.left_out for each in found),
    )


def reasons(results: Sequence[Results]) -> list[Reason]:
    """Why what was not measured was not, the most frequent first; equal reasons are one."""
    found: dict[tuple[str, str], Reason] = {}
    for kind, text, place in (each for result in results for each in _not_measured(result)):
        found.setdefault((kind, text), Reason(kind, text)).add(place)
    return sorted(found.values(), key=lambda reason: (reason.kind != "failed", -reason.count))


def _not_measured(results: Results) -> Iterator[tuple[str, str, str]]:
    """Kind, reason and place of each."""
    for call in results.calls:
        where = f"{call.model} on {call.backend}, {call.device.id}, {call.call}"
        for skipped in call.skipped:
            yield "skipped", skipped.reason, f"{skipped.export} of {where}"
        for skipped in call.uncounted:
            yield "not counted", f"how often it runs depends on {skipped.reason}", f"{skipped.export} of {where}"
        for dispatch in (*call.dispatches, *call.initializers):
            if dispatch.failure:
                yield "failed", dispatch.failure, f"{dispatch.benchmark} of {where}"
        if call.whole_model.failure:
            yield "failed", call.whole_model.failure, f"the whole model: {where}"
        for variant in call.substitutions:
            for other in variant.dispatches:
                if other.failure:
                    yield "failed", other.failure, f"{other.benchmark} with {variant.name}: {where}"
            if variant.whole_model.failure:
                yield "failed", variant.whole_model.failure, f"the whole model with {variant.name}: {where}"
    for missing in results.not_run:
        device = missing.get("device")
        on = f", {device.get('id')}" if isinstance(device, dict) else ""
        yield "not run", str(missing.get("reason")), f"{missing.get('model')} on {missing.get('backend')}{on}"
    for failure in results.build_failures:
        parts = (failure.get(key) for key in ("model", "backend", "substitution", "dispatch"))
        yield "not built", f"{failure.get('step')}: {failure.get('reason')}", ", ".join(str(p) for p in parts if p)


def kinds(found: Sequence[Reason]) -> Counter[str]:
    """How many of each kind."""
    counted: Counter[str] = Counter()
    for reason in found:
        counted[reason.kind] += reason.count
    return counted
