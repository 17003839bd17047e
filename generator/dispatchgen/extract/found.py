"""What is found of each export: with which sizes it runs in which calls, and what is not known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dispatchgen.extract.evaluate import Trace
from dispatchgen.extract.evaluator import Dispatched
from dispatchgen.extract.interface import interface_of
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.recorded import Recorded
from dispatchgen.extract.schema import INITIALIZER, Omitted
from dispatchgen.extract.sizes import Sizes
from dispatchgen.extract.values import HostValue, Origin, Unknown
from dispatchgen.iree.types import scalar_type

Key = tuple[str, str]  #: Executable and export.


@dataclass
class Found:
    """What the calls of a model make of one export."""

    export: Export
    counts: dict[Sizes, Counter[str]] = field(default_factory=dict)  #: Per sizes: how often, by call.
    #: Per sizes and call: where inputs hold what the bindings of the first run hold.
    origins: dict[Sizes, dict[str, tuple[Origin | None, ...]]] = field(default_factory=dict)
    skipped: dict[str, list[str]] = field(default_factory=dict)  #: Reason -> calls.
    uncounted: dict[str, list[str]] = field(default_factory=dict)  #: Reason -> calls.
    omitted: dict[str, Omitted] = field(default_factory=dict)  #: By call.
    written: tuple[bool, ...] = ()
    device: str | None = None

    def add(self, sizes: Sizes, call: str, runs: int = 1) -> None:
        """Counts runs with these sizes."""
        self.counts.setdefault(sizes, Counter())[call] += runs

    def skip(self, reason: str, call: str) -> None:
        """Notes why there is no benchmark for what a call runs; the first reason is enough."""
        if not any(call in calls for calls in self.skipped.values()):
            self.skipped.setdefault(reason, []).append(call)

    def skip_idle(self, call: str) -> None:
        """Notes why a call that runs it has no benchmark of it, unless it has: other runs had nothing to do."""
        if not any(call in counts for counts in self.counts.values()):
            self.skip("its outputs have no elements", call)

    def stop_counting(self, reason: str, call: str) -> None:
        """Notes that it may run more often in a call than was counted, if it runs at all."""
        if any(call in counts for counts in self.counts.values()):
            self.uncounted.setdefault(reason, []).append(call)
        else:
            self.skip(f"whether it runs depends on {reason}", call)

    def counts_of(self, sizes: Sizes) -> dict[str, int | None]:
        """How often it runs with these sizes, by call."""
        unknown = {call for calls in self.uncounted.values() for call in calls}
        return {call: None if call in unknown else count for call, count in self.counts[sizes].items()}


def record_trace(
    program: Program, found: Mapping[Key, Found], call: str, trace: Trace, *, with_initializers: bool
) -> None:
    """Adds what ran in a call. Initializers run once, however many calls there are."""
    idle: list[tuple[Found, str]] = []
    for dispatched in trace.dispatched:
        if dispatched.initializer and not with_initializers:
            continue
        name = INITIALIZER if dispatched.initializer else call
        each = found.get((dispatched.executable, dispatched.export))
        if each is None:
            continue
        each.written = tuple(
            a or b for a, b in zip(each.written or dispatched.written, dispatched.written, strict=True)
        )
        each.device = each.device or _device(program, dispatched.device)
        sizes = _sizes(program, each, dispatched)
        if isinstance(sizes, Unknown):
            each.skip(sizes.reason, name)
        elif sizes.writes_nothing(dispatched.written):
            idle.append((each, name))
        else:
            each.add(sizes, name)
            each.origins.setdefault(sizes, {}).setdefault(name, dispatched.origins)
    for each, name in idle:
        each.skip_idle(name)
    for stop in trace.stops:
        if stop.initializer and not with_initializers:
            continue
        for key in stop.pending & found.keys():
            found[key].stop_counting(stop.reason, INITIALIZER if stop.initializer else call)


def record_profile(program: Program, found: Mapping[Key, Found], call: str, recorded: Recorded) -> None:
    """Adds what a profile holds, under the name of its call."""
    for key, each in found.items():
        if key in recorded.unusable:
            each.skip(recorded.unusable[key], call)
        interface = interface_of(program, *key)
        if interface is None or not recorded.counts.get(key):
            continue
        each.written = tuple(map(any, zip(each.written or interface.written, interface.written, strict=True)))
        each.device = each.device or _device(program, interface.device)
        reason = _not_benchmarked(program, each)
        if reason is not None:
            each.skip(reason, call)
            continue
        for sizes, count in recorded.counts[key].items():
            if not sizes.writes_nothing(interface.written):
                each.add(sizes, call, count)
        each.skip_idle(call)
        if key in recorded.omitted:
            each.omitted[call] = recorded.omitted[key]


def _device(program: Program, named: str | None) -> str | None:
    if named in program.devices:
        return named
    return next(iter(program.devices)) if len(program.devices) == 1 else None


def _not_benchmarked(program: Program, found: Found) -> str | None:
    """Why a dispatch cannot be benchmarked, whatever its sizes; None: it can."""
    if found.export.variants != 1:
        return f"its executable has {found.export.variants} variants; a benchmark is of one"
    if found.device is None:
        return f"it names none of the program's {len(program.devices)} devices"
    return None


def _sizes(program: Program, found: Found, dispatched: Dispatched) -> Sizes | Unknown:
    """The sizes of a dispatch, or the reason why it cannot be benchmarked."""
    reason = _not_benchmarked(program, found)
    if reason is not None:
        return Unknown(reason)
    values: list[HostValue] = [*dispatched.workload, *(value for _, value in dispatched.constants), *dispatched.lengths]
    for value in values:
        if isinstance(value, Unknown):
            return Unknown(f"its size depends on {value.reason}")
        if not isinstance(value, int):
            return Unknown(f"its operand {value} is not an integer")
    for type_, _ in dispatched.constants:
        scalar = scalar_type(type_)
        if scalar is None or scalar.kind != "i":
            return Unknown(f"it takes a push constant of type {type_}")
    integers = [value for value in values if isinstance(value, int)]
    workload_end = len(dispatched.workload)
    constants_end = workload_end + len(dispatched.constants)
    types = [type_ for type_, _ in dispatched.constants]
    return Sizes(
        tuple(integers[:workload_end]),
        tuple(zip(types, integers[workload_end:constants_end], strict=True)),
        tuple(integers[constants_end:]),
    )
