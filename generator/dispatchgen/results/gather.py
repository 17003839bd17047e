"""Putting together what processes gave, one after the other. What is to be done next follows from this alone.

So a run that was interrupted goes on as if it had not been: the journal has all that decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from dispatchgen.results.batch import Cost, cost
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.measurements import Measured, Measurements, Record, RoundSample
from dispatchgen.results.task import Outcome, Target


class Measurable(Protocol):
    """What is known of a task, also where there is only a journal of it."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> Target: ...
    @property
    def benchmarks(self) -> tuple[str, ...]: ...


@dataclass
class Gathered:
    """What the processes of a run gave so far."""

    targets: dict[str, Target]  #: Of each task, by id.
    #: By task and benchmark, by round: a pilot has none.
    samples: dict[tuple[str, str], dict[int, RoundSample]] = field(default_factory=dict)
    #: By task and benchmark: time of one run in seconds, by the batch size of the pilot.
    pilots: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict)
    #: By task and benchmark: those that fail in a larger batch. In a batch of 1, the pilot before went well.
    alone: set[tuple[str, str]] = field(default_factory=set)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)  #: By task and benchmark.
    hung: dict[str, str] = field(default_factory=dict)  #: By task.
    absent: dict[tuple[str, str], str] = field(default_factory=dict)  #: By backend and device.
    processes: int = 0
    host: Host | None = None
    spent: float = 0.0
    rounds: int = 0

    def add(self, record: Record) -> None:
        """Adds a process. Records of tasks that are not known are left out."""
        if record.task not in self.targets:
            return
        self.processes += 1
        self.spent = max(self.spent, record.spent)
        self.rounds = max(self.rounds, (record.round or 0) + 1)
        outcome = record.outcome
        self.host = self.host or outcome.host
        if outcome.absent is not None:
            self.absent.setdefault(self.targets[record.task][1:3], outcome.absent)
            return
        if outcome.hung is not None:
            self.hung.setdefault(record.task, outcome.hung)
        for benchmark in record.benchmarks:
            self._add(record, benchmark, outcome)

    def _add(self, record: Record, benchmark: str, outcome: Outcome) -> None:
        key = (record.task, benchmark)
        sample = outcome.samples.get(benchmark)
        if benchmark in outcome.failures or sample is None:
            reason = outcome.failures.get(benchmark, "the process gave no result of it")
            if record.round is None and record.batch_size > 1:
                if outcome.hung is None:
                    self.alone.add(key)
                    return
                reason = f"in a batch of {record.batch_size}: {reason}"
            self.failures.setdefault(key, self._after(key, reason))
        elif record.round is None:
            self.pilots.setdefault(key, {})[record.batch_size] = min(sample.real)
        else:
            found = RoundSample(record.round, record.at, record.batch_size, sample)
            self.samples.setdefault(key, {})[record.round] = found

    def _after(self, key: tuple[str, str], reason: str) -> str:
        """A reason, with how often it went well before."""
        rounds = len(self.samples.get(key, ()))
        return f"after {rounds} {'round' if rounds == 1 else 'rounds'} that went well: {reason}" if rounds else reason

    def cost(self, task: str, benchmark: str) -> Cost | None:
        """What a call and a run cost; None: there were no pilots of two batch sizes."""
        pilots = self.pilots.get((task, benchmark), {})
        larger = [batch for batch in pilots if batch > 1]
        return cost(pilots[1], larger[0], pilots[larger[0]]) if larger and 1 in pilots else None

    def run_time(self, task: str, benchmark: str) -> float | None:
        """What pilots tell of the time of one run, in seconds; without a larger batch, with what the call costs."""
        found = self.cost(task, benchmark)
        return self.pilots.get((task, benchmark), {}).get(1) if found is None else found.kernel

    def is_gone(self, task: str) -> bool:
        """Whether a task is not to be run again: its device is absent, or it did not end in time."""
        return task in self.hung or self.targets[task][1:3] in self.absent

    def failed(self, task: str, benchmark: str) -> str | None:
        """Why a benchmark is not measured again; None: nothing is known against it."""
        key = (task, benchmark)
        if key in self.failures:
            return self.failures[key]
        absent = self.absent.get(self.targets[task][1:3])
        if absent is not None:
            return self._after(key, f"the device is not there: {absent}")
        return None if key in self.samples else self.hung.get(task)


def measurements(tasks: Iterable[Measurable], gathered: Gathered, missing: str) -> Measurements:
    """What was measured, by target and benchmark.

    Args:
      tasks: All that were to be measured.
      gathered: What their processes gave.
      missing: Why a benchmark that has neither a sample nor a failure was not measured.
    """
    measured: dict[tuple[Target, str], Measured] = {}
    for task in tasks:
        for benchmark in task.benchmarks:
            key = (task.id, benchmark)
            found = gathered.samples.get(key, {})
            failure = gathered.failed(task.id, benchmark)
            costs = gathered.cost(task.id, benchmark)
            measured[task.target, benchmark] = Measured(
                samples=tuple(found[round] for round in sorted(found)),
                failure=failure if found or failure else missing,
                overhead=None if costs is None else costs.told_overhead,
            )
    seen = {gathered.targets[task][1:3] for (task, _) in gathered.samples}
    return Measurements(
        measured=measured,
        host=gathered.host,
        absent={device: why for device, why in gathered.absent.items() if device not in seen},
        spent_seconds=gathered.spent,
        rounds=gathered.rounds,
    )
