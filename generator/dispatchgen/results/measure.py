"""Measuring tasks in rounds: each round runs each task once, as a process of its own, in another order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from dispatchgen.observer import Show
from dispatchgen.results.gather import Gathered, measurements
from dispatchgen.results.measurements import NOT_MEASURED, Measurements, Record
from dispatchgen.results.pin import kept_on
from dispatchgen.results.policy import Policy
from dispatchgen.results.schedule import Step, steps
from dispatchgen.results.task import Task

#: Why benchmarks have no time in a run whose budget was too small.
BUDGET_SPENT = f"{NOT_MEASURED}: the budget was spent"


class Keeper(Protocol):
    """Keeps what processes gave: a journal."""

    @property
    def records(self) -> Sequence[Record]:
        """What it had when it was opened: of a run that was interrupted."""

    def append(self, record: Record) -> None:
        """Keeps a process that has ended."""


def measure(
    tasks: Sequence[Task],
    policy: Policy,
    keeper_of: Callable[[Task], Keeper],
    *,
    elapsed: float = 0.0,
    show: Show | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Measurements:
    """Measures tasks until all are measured well enough, or the budget is spent.

    What an interrupted run had measured takes the place of running it again. The steps are the same: they follow from
    what was measured.

    Args:
      tasks: What to measure; those of a group in the order to run them.
      policy: How much.
      keeper_of: What keeps the processes of a task.
      elapsed: Seconds since the run started: more than 0 where it was interrupted.
      show: Is told how far it is.
      now: A clock, in seconds.
    """
    gathered = Gathered({task.id: task.target for task in tasks})
    keepers = {id(keeper): keeper for keeper in map(keeper_of, tasks)}
    earlier = {
        (record.task, record.round, record.batch_size): record
        for keeper in keepers.values()
        for record in keeper.records
    }
    watch = _Watch(now, elapsed, earlier.values())
    planned = sum(task.settings.rounds + 2 * (task.batch_size == "auto") for task in tasks)
    for step in steps(tasks, policy, gathered):
        record = earlier.pop((step.task.id, step.round, step.batch_size), None)
        if record is None:
            if policy.is_spent(gathered.spent):
                break
            if show is not None:
                show(gathered.processes, planned if gathered.processes < planned else None, step.title)
            record = _run(step, watch)
            keeper_of(step.task).append(record)
        gathered.add(record)
    for record in earlier.values():  # of a run that was to measure more than this
        gathered.add(record)
    return measurements(tasks, gathered, BUDGET_SPENT)


class _Watch:
    """Tells the time of a run that may have been interrupted, in seconds."""

    def __init__(self, now: Callable[[], float], elapsed: float, earlier: Iterable[Record]) -> None:
        records = list(earlier)
        self._now, self._start = now, now()
        self._at = max([elapsed, *(record.at for record in records)])
        self._spent = max([0.0, *(record.spent for record in records)])

    def at(self) -> float:
        """Since the run started."""
        return round(self._at + self._now() - self._start, 6)

    def spent(self) -> float:
        """Spent on measuring, in all parts of the run."""
        return round(self._spent + self._now() - self._start, 6)


def _run(step: Step, watch: _Watch) -> Record:
    at = watch.at()
    with kept_on(step.task.cpus):
        outcome = step.task.run(step.benchmarks, step.batch_size)
    return Record(
        task=step.task.id,
        round=step.round,
        at=at,
        spent=watch.spent(),
        batch_size=step.batch_size,
        benchmarks=step.benchmarks,
        outcome=outcome,
    )
