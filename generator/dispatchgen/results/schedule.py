"""Which processes are run, in which order: each follows from what those before gave, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dispatchgen.results.batch import best, trial
from dispatchgen.results.gather import Gathered
from dispatchgen.results.order import order_of
from dispatchgen.results.policy import Chooser, Policy, longest_call
from dispatchgen.results.task import Task


@dataclass(frozen=True)
class Step:
    """A process to run."""

    task: Task
    round: int | None  #: From 0. None: a pilot.
    batch_size: int
    benchmarks: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it is, for people."""
        target = self.task.target
        first, more = self.benchmarks[0], len(self.benchmarks) - 1
        turn = "pilot" if self.round is None else f"round {self.round + 1}"
        return f"{turn}: {target.model} on {target.backend}, {target.device}: {first}{f' and {more} more' * bool(more)}"


def steps(tasks: Sequence[Task], policy: Policy, gathered: Gathered) -> Iterator[Step]:
    """The processes to run. The caller adds what each gave to `gathered` before it asks for the next.

    The pilots of a group come right before its first round: where the budget is small, some tasks are measured and not
    all piloted.
    """
    chooser = Chooser(policy)
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    for round in range(policy.most_rounds):
        wanted = chooser.wanted(tasks, gathered, round)
        if not wanted:
            return
        piloted: set[str] = set()
        for task in order_of((task for task in tasks if task.id in wanted), policy.seed, round):
            group = groups[task.group]
            if round == 0 and task.group not in piloted:
                piloted.add(task.group)
                for each in group:
                    yield from _pilots(each, gathered)
            for batch_size, names in _by_batch(task, group, wanted[task.id], gathered).items():
                if not gathered.is_gone(task.id):
                    yield Step(task, round, batch_size, tuple(names))


def _pilots(task: Task, gathered: Gathered) -> Iterator[Step]:
    """Runs all once in a batch of 1, then in a larger one, which what they take tells."""
    if task.batch_size != "auto" or gathered.is_gone(task.id):
        return
    yield Step(task, None, 1, task.benchmarks)
    larger: dict[int, list[str]] = {}
    for name in task.benchmarks:
        alone = gathered.pilots.get((task.id, name), {}).get(1)
        if alone is not None:
            larger.setdefault(trial(alone, longest_call(task.settings)), []).append(name)
    for batch_size, names in sorted(larger.items()):
        if batch_size > 1 and not gathered.is_gone(task.id):
            yield Step(task, None, batch_size, tuple(names))


def _by_batch(task: Task, group: Sequence[Task], benchmarks: Sequence[str], gathered: Gathered) -> dict[int, list[str]]:
    """The benchmarks that can be measured, by the batch size that suits them."""
    found: dict[int, list[str]] = {}
    for name in benchmarks:
        if (task.id, name) not in gathered.failures:
            found.setdefault(_batch_size(task, group, name, gathered), []).append(name)
    return dict(sorted(found.items()))


def _batch_size(task: Task, group: Sequence[Task], benchmark: str, gathered: Gathered) -> int:
    """The same for all that is compared: a smaller batch has more of what the call costs in each run."""
    if task.batch_size != "auto":
        return task.batch_size
    compared = [each for each in group if each.target.caches == task.target.caches and each.batch_size == "auto"]
    if any((each.id, benchmark) in gathered.alone for each in compared):
        return 1
    times = [time for each in compared if (time := gathered.run_time(each.id, benchmark)) is not None]
    return best(max(times), longest_call(task.settings)) if times else 1
