"""Reading what comparisons, baselines, histories and reports need of results: a few of the keys, at little memory.

`schema.py` has the whole format; what is not named here is skipped while the file is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

#: What can be measured or counted: what is beyond these bounds, no run wrote. They are checked while files are parsed.
Seconds = Annotated[float, Meta(ge=0, le=1e9)]  #: Of one run. 0: the clock is too coarse.
Number = Annotated[float, Meta(ge=0, le=1e30)]  #: A sum, a ratio, or the end of an interval.
Noise = Annotated[float, Meta(ge=0, le=100)]  #: Standard deviation of the logarithm of a time.
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Timing(msgspec.Struct, frozen=True, gc=False):
    """`schema.Timing`."""

    seconds: Seconds
    cpu_seconds: Seconds
    low: Number | None = None
    high: Number | None = None
    noise: Noise | None = None
    rounds: tuple[Count, ...] = ()
    fastest: tuple[Seconds, ...] = ()


class Compiled(msgspec.Struct, frozen=True, gc=False):
    """`schema.Compiled`."""

    size: Count
    sha256: str
    seconds: Seconds | None = None
    peak_bytes: Count | None = None


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """`schema.DispatchResult`."""

    name: str
    benchmark: str
    operation: str
    executable: str
    export: str
    content: str
    workload: tuple[Count, ...]
    constants: tuple[tuple[str, int], ...]
    bindings: tuple[Count, ...]
    count: Count | None
    data: tuple[str, ...] = ()
    timing: Timing | None = None
    cold: Timing | None = None
    cold_failure: str | None = None
    total_seconds: Number | None = None
    share: Number | None = None
    failure: str | None = None
    overhead_seconds: Number | None = None
    compiled: Compiled | None = None


class WholeModel(msgspec.Struct, frozen=True):
    """`schema.WholeModel`."""

    timing: Timing | None = None
    failure: str | None = None
    compiled: Compiled | None = None
    left_out: bool = False


class Substituted(msgspec.Struct, frozen=True):
    """`schema.SubstitutedDispatch`."""

    name: str
    benchmark: str
    operation: str
    kind: str
    file: str
    count: Count | None
    sha256: str | None = None
    same: str | None = None
    original: Timing | None = None
    timing: Timing | None = None
    ratio: Number | None = None
    cold: Timing | None = None
    cold_failure: str | None = None
    failure: str | None = None
    compiled: Compiled | None = None


class Substitution(msgspec.Struct, frozen=True):
    """`schema.SubstitutionResult`."""

    name: str
    id: str
    members: tuple[str, ...]
    dispatches: tuple[Substituted, ...]
    whole_model: WholeModel
    same: bool
    ratio: Number | None = None


class Skipped(msgspec.Struct, frozen=True):
    """`schema.SkippedDispatch`."""

    executable: str
    export: str
    operation: str
    reason: str


class Coverage(msgspec.Struct, frozen=True):
    """`schema.Coverage`."""

    dispatches: Count
    measured: Count
    skipped: Count
    failed: Count
    left_out: Count = 0


class Device(msgspec.Struct, frozen=True):
    """`schema.DeviceUsed`."""

    id: str
    uri: str
    run_flags: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True):
    """`schema.CallResult`."""

    model: str
    backend: str
    device: Device
    call: str
    function: str
    shape: str
    symbols: dict[str, Count]
    settings: dict[str, object]
    dispatches: tuple[Dispatch, ...]
    initializers: tuple[Dispatch, ...]
    skipped: tuple[Skipped, ...]
    uncounted: tuple[Skipped, ...]
    whole_model: WholeModel
    coverage: Coverage
    overrides: dict[str, Count] = {}
    sum_seconds: Number | None = None
    sum_by_model: Number | None = None
    substitutions: tuple[Substitution, ...] = ()
    #: Of a baseline: whether its rows are of one run. Of several, they may hold what another version of them replaced.
    whole: bool = True


class Results(msgspec.Struct, frozen=True):
    """`schema.Results`. The environment is small: `environment_schema.Environment` has it, from `environment`."""

    version: int
    id: str
    session: str
    started: str
    finished: str | None
    environment: msgspec.Raw
    measuring: dict[str, object]
    calls: tuple[Call, ...]
    not_run: tuple[dict[str, object], ...] = ()
    build_failures: tuple[dict[str, object], ...] = ()
    build: tuple[dict[str, object], ...] = ()


class Key(NamedTuple):
    """What a row is known by, from run to run."""

    model: str
    backend: str
    device: str
    call: str
    kind: str  #: `dispatch`, `initializer` or `model`.
    benchmark: str  #: Of a whole model: empty.
    variant: str  #: Id of a substitution or combination; empty: the compiler's own.
    caches: str  #: `warm` or `cold`.


class Row(msgspec.Struct, frozen=True):
    """What was measured, or was to be, under one key."""

    key: Key
    call: Call
    timing: Timing | None
    failure: str | None
    count: int | None  #: Per call; of a whole model 1.
    dispatch: Dispatch | None  #: None: a whole model.
    compiled: Compiled | None


def rows(results: Results) -> Iterator[Row]:
    """All rows, in the order of the file. A substitute that is the compiler's own code has none."""
    for call in results.calls:
        where = (call.model, call.backend, call.device.id, call.call)
        found = {each.benchmark: each for each in (*call.initializers, *call.dispatches)}
        for kind, dispatches in (("dispatch", call.dispatches), ("initializer", call.initializers)):
            for each in dispatches:
                for caches, timing, failure in _by_caches(each):
                    key = Key(*where, kind, each.benchmark, "", caches)
                    yield Row(key, call, timing, failure, each.count, each, each.compiled)
        if call.function and not call.whole_model.left_out:
            whole = call.whole_model
            key = Key(*where, "model", "", "", "warm")
            yield Row(key, call, whole.timing, whole.failure, 1, None, whole.compiled)
        for variant in call.substitutions:
            for other in variant.dispatches:
                for caches, timing, failure in _by_caches(other) if other.same is None else ():
                    key = Key(*where, "dispatch", other.benchmark, variant.id, caches)
                    original = found.get(other.benchmark)
                    yield Row(key, call, timing, failure, other.count, original, other.compiled)
            whole = variant.whole_model
            if whole.timing is not None or whole.failure is not None:
                key = Key(*where, "model", "", variant.id, "warm")
                yield Row(key, call, whole.timing, whole.failure, 1, None, whole.compiled)


def _by_caches(each: Dispatch | Substituted) -> Sequence[tuple[str, Timing | None, str | None]]:
    """What was measured, or was to be: `warm` or `cold`, the time, and why there is none."""
    warm = ("warm", each.timing, each.failure)
    if each.cold is None and each.cold_failure is None:
        return (warm,)
    cold = ("cold", each.cold, each.cold_failure)
    return (cold,) if each.timing is None and each.failure is None else (warm, cold)
