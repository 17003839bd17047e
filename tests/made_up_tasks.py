"""Tasks that run no process: a clock that only they move, and times that follow from how often each was run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import made_up_results
from dispatchgen.results.measurements import Record
from dispatchgen.results.schema import (
    CallResult,
    Compiled,
    Measuring,
    Results,
    Settings,
    SubstitutedDispatch,
    SubstitutionResult,
    WholeModel,
)
from dispatchgen.results.task import Outcome, Sample, Target, Task

SETTINGS = Settings(min_time="0.01s", repetitions=3, batch_size=1, rounds=3)


@dataclass(frozen=True)
class Kernel:
    """How a benchmark behaves."""

    seconds: float = 1e-4
    overhead: float = 0.0  #: Of a call, in seconds.
    noise: float = 0.0  #: A run is slower by a factor up to 1 + noise.
    fails_at: int | None = None  #: In which run of its task it fails, from 0.


@dataclass
class World:
    """Where made-up tasks run: it knows how often each was run, also by the run that was interrupted."""

    ran: Counter[str] = field(default_factory=Counter)  #: By task.
    time: float = 0.0

    @classmethod
    def after(cls, records: Iterable[Record]) -> World:
        """The world as these processes left it."""
        records = list(records)
        return cls(Counter(each.task for each in records), max((each.spent for each in records), default=0.0))

    def now(self) -> float:
        """Seconds; only running takes time."""
        return self.time

    def task(
        self,
        id: str,
        benchmarks: Mapping[str, Kernel],
        *,
        group: str | None = None,
        target: Target | None = None,
        settings: Settings = SETTINGS,
        batch_size: int | Literal["auto"] = 1,
        takes: float = 0.25,
        hangs_at: int | None = None,
        absent_at: int | None = None,
        sha256: str = "0",
    ) -> Task:
        """A task.

        Args:
          takes: Seconds that a process takes.
          hangs_at: In which run it does not end in time, from 0.
          absent_at: In which run its device is not there.
        """

        def run(names: Sequence[str], batch: int) -> Outcome:
            number = self.ran[id]
            self.ran[id] += 1
            self.time += takes
            if number == absent_at:
                return Outcome(absent="unplugged")
            if number == hangs_at:
                return Outcome(failures=dict.fromkeys(names, "too slow"), hung="it did not end in time")
            failed = {name: "it crashed" for name in names if benchmarks[name].fails_at == number}
            samples = {name: _sample(benchmarks[name], batch, f"{id}/{name}/{number}") for name in names}
            return Outcome(samples={name: samples[name] for name in names if name not in failed}, failures=failed)

        target = target or Target("model", "cpu", "local", "dispatch")
        return Task(id, group or id, target, tuple(benchmarks), sha256, batch_size, settings, run)


def _sample(kernel: Kernel, batch: int, seed: str) -> Sample:
    chance = random.Random(seed)
    run = kernel.seconds + kernel.overhead / batch
    real = tuple(run * (1 + chance.random() * kernel.noise) for _ in range(3))
    return Sample(real, real, 10)


@dataclass
class Memory:
    """Keeps records in memory, as a journal does in a file."""

    records: list[Record] = field(default_factory=list)
    appended: list[Record] = field(default_factory=list)

    def append(self, record: Record) -> None:
        self.appended.append(record)


def frame_of(tasks: Iterable[Task]) -> Results:
    """What is known before the tasks are measured: two calls, which both run all benchmarks.

    The dispatch of a benchmark `<dispatch>__<n>` has its name's first part. Tasks of kind `model` name the call.
    """
    tasks = list(tasks)
    calls = [_call(tasks, name) for name in ("one", "two")]
    return made_up_results.results(calls).model_copy(update={"finished": None, "measuring": Measuring()})


def _call(tasks: Sequence[Task], name: str) -> CallResult:
    dispatches = [task for task in tasks if task.target.kind == "dispatch"]
    rows = [
        made_up_results.dispatch(benchmark, None).model_copy(
            update={"failure": None, "count": 2, "compiled": _compiled(task), "name": benchmark.partition("__")[0]}
        )
        for task in dispatches
        for benchmark in task.benchmarks
        if not task.target.variant
    ]
    variants = sorted({task.target.variant for task in tasks if task.target.variant})
    call = made_up_results.call(rows, call=name, whole_model=_whole_model(tasks, name, ""))
    return call.model_copy(update={"substitutions": tuple(_variant(tasks, name, each) for each in variants)})


def _variant(tasks: Sequence[Task], call: str, variant: str) -> SubstitutionResult:
    rows = [
        SubstitutedDispatch(
            name=benchmark.partition("__")[0],
            benchmark=benchmark,
            operation=benchmark,
            kind="source",
            file=f"{variant}.mlir",
            sha256="0",
            same=None,
            target_differences=(),
            notes=(),
            count=2,
            original=None,
            timing=None,
            ratio=None,
            agreement=None,
            failure=None,
            compiled=_compiled(task),
        )
        for task in tasks
        for benchmark in sorted(task.benchmarks)
        if task.target.variant == variant and task.target.kind == "dispatch"
    ]
    return SubstitutionResult(
        name=variant,
        id=variant,
        members=(),
        acting=(variant,),
        dispatches=tuple(sorted(rows, key=lambda row: row.benchmark)),
        whole_model=_whole_model(tasks, call, variant),
        same=False,
        ratio=None,
    )


def _whole_model(tasks: Sequence[Task], call: str, variant: str) -> WholeModel:
    found = [task for task in tasks if task.target.kind == "model" and task.target.variant == variant]
    whole = next((task for task in found if task.benchmarks == (call,)), None)
    if whole is None:
        return WholeModel(timing=None, failure="it could not be built")
    return WholeModel(timing=None, compiled=_compiled(whole))


def _compiled(task: Task) -> Compiled:
    return Compiled(seconds=None, peak_bytes=None, size=1, sha256=task.sha256)
