"""Results that no run gave: rounds of made-up times, for what reads results."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from dispatchgen.results.environment_schema import Cpu, DeviceFound, Environment, Machine, Software
from dispatchgen.results.estimate import estimate
from dispatchgen.results.schema import (
    CallResult,
    Coverage,
    DeviceUsed,
    DispatchResult,
    Measuring,
    Results,
    Settings,
    Timing,
    WholeModel,
)

MACHINE = Machine(
    cpu=Cpu(model="Made-up CPU", architecture="x86_64", features=("avx2", "fma"), cores=8, threads_per_core=2),
    memory_bytes=1 << 34,
    system="Linux 6.1",
    virtual_machine=None,
    container=None,
    devices=(DeviceFound(id="local", driver="local-sync", name="default"),),
)
SOFTWARE = Software(
    compiler="IREE compiler version 3.13.0",
    runtime="3.13.0",
    dispatchgen="0.1.0",
    python="3.11.7",
    kernel="6.1.0-18",
    flags={},
    commit=None,
    dirty=None,
)


def rounds_of(seconds: float, *, noise: float = 0.01, rounds: int = 10, seed: object = 0) -> list[float]:
    """Times of rounds around `seconds`, with noise that makes them slower only."""
    chance = random.Random(str(seed))
    return [seconds * (1 + abs(chance.gauss(0, noise))) for _ in range(rounds)]


def timing(rounds: Sequence[float]) -> Timing:
    """The timing of rounds of one repetition each."""
    found = estimate(rounds)
    return Timing(
        seconds=found.seconds,
        cpu_seconds=found.seconds,
        low=found.low,
        high=found.high,
        noise=found.noise,
        rounds=tuple(range(len(rounds))),
        at=tuple(float(each) for each in range(len(rounds))),
        fastest=tuple(rounds),
        real=tuple((each,) for each in rounds),
        cpu=tuple((each,) for each in rounds),
        iterations=100,
    )


def dispatch(name: str, rounds: Sequence[float] | None, *, count: int = 1, content: str = "") -> DispatchResult:
    """A dispatch whose only benchmark has its name. `rounds` None: it failed."""
    timed = None if rounds is None else timing(rounds)
    return DispatchResult(
        name=name,
        benchmark=name,
        operation=name,
        executable=f"main_{name}",
        variant="embedded_elf_x86_64",
        export=f"main_{name}",
        content=content or name,
        workload=(),
        constants=(),
        bindings=(64,),
        count=count,
        timing=timed,
        total_seconds=None if timed is None else timed.seconds * count,
        share=None,
        failure="it crashed" if rounds is None else None,
    )


def call(
    dispatches: Sequence[DispatchResult],
    *,
    model: str = "model",
    call: str = "static",
    whole_model: WholeModel | None = None,
    symbols: Mapping[str, int] | None = None,
) -> CallResult:
    """A call that runs these dispatches."""
    measured = sum(each.timing is not None for each in dispatches)
    total = sum(each.total_seconds or 0.0 for each in dispatches)
    return CallResult(
        model=model,
        backend="cpu",
        device=DeviceUsed(id="local", uri="local-sync", run_flags=()),
        call=call,
        function="main",
        shape=call,
        symbols=dict(symbols or {}),
        inputs=(),
        settings=Settings(min_time="0.01s", repetitions=3, batch_size=1, rounds=10),
        dispatches=tuple(dispatches),
        initializers=(),
        skipped=(),
        uncounted=(),
        whole_model=whole_model or WholeModel(timing=timing([total or 1.0] * 10)),
        sum_seconds=total or None,
        sum_by_model=1.0,
        coverage=Coverage(dispatches=len(dispatches), measured=measured, skipped=0, failed=len(dispatches) - measured),
    )


def results(
    calls: Sequence[CallResult],
    *,
    id: str = "a",
    session: str | None = None,
    started: str = "2026-01-01T00:00:00+00:00",
    machine: Machine = MACHINE,
    software: Software = SOFTWARE,
) -> Results:
    """The results of these calls."""
    return Results(
        id=id,
        session=session or id,
        started=started,
        finished="2026-01-01T01:00:00+00:00",
        environment=Environment(machine=machine, software=software, host=None),
        measuring=Measuring(rounds=10, spent_seconds=60.0),
        calls=tuple(calls),
    )
