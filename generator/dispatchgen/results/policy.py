"""How much is measured: which benchmarks a round measures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dispatchgen.results.estimate import FEWEST, estimate
from dispatchgen.results.gather import Gathered
from dispatchgen.results.schema import Settings
from dispatchgen.results.task import Task

#: Half of the confidence interval, relative, that a run with a budget and no precision measures to.
BUDGET_PRECISION = 0.01
#: The most rounds.
MOST_ROUNDS = 200
#: How many more rounds there are, as a factor, before the interval is looked at again. Who looks after each round stops
#: at those that happen to be narrow.
_GROWTH = 1.25
#: How long a call of a batch may take, in seconds, where the settings have no time.
_LONGEST_CALL = 0.01


@dataclass(frozen=True)
class Policy:
    """How much is measured."""

    seed: str  #: Of the order of tasks: the id of the run.
    budget: float | None = None  #: Seconds that are spent on measuring, in all parts of the run. None: no limit.
    most_rounds: int = MOST_ROUNDS

    def precision(self, settings: Settings) -> float | None:
        """The precision that is measured to; None: there are no further rounds."""
        if settings.precision is None and self.budget is not None:
            return BUDGET_PRECISION
        return settings.precision

    def is_spent(self, spent: float) -> bool:
        """Whether there is nothing left of the budget."""
        return self.budget is not None and spent >= self.budget


def longest_call(settings: Settings) -> float:
    """How long a call of a batch may take, in seconds: as a repetition has to at least."""
    seconds = re.fullmatch(r"([0-9.eE+-]+)s", settings.min_time or "")
    return float(seconds[1]) if seconds else _LONGEST_CALL


@dataclass
class Chooser:
    """Chooses what a round measures. Only what earlier rounds gave decides."""

    policy: Policy
    #: Whether a benchmark is measured well enough, by task and benchmark, with so many rounds.
    _known: dict[tuple[str, str, int], bool] = field(default_factory=dict)

    def wanted(self, tasks: Iterable[Task], gathered: Gathered, round: int) -> dict[str, tuple[str, ...]]:
        """The benchmarks that a round measures, by task.

        A benchmark is measured as long as any of its group by that name is not measured well enough: an original and
        what replaces it have the same rounds.
        """
        left = [
            (task, name)
            for task in tasks
            if not gathered.is_gone(task.id)
            for name in task.benchmarks
            if (task.id, name) not in gathered.failures
        ]
        open_ = {_together(task, name) for task, name in left if self._goes_on(task, name, gathered, round)}
        chosen: dict[str, tuple[str, ...]] = {}
        for task, name in left:
            if _together(task, name) in open_:
                chosen[task.id] = (*chosen.get(task.id, ()), name)
        return chosen

    def _goes_on(self, task: Task, benchmark: str, gathered: Gathered, round: int) -> bool:
        if round < task.settings.rounds:
            return True
        precision = self.policy.precision(task.settings)
        if precision is None or round >= self.policy.most_rounds:
            return False
        looked = _last_look(round, task.settings.rounds)
        samples = gathered.samples.get((task.id, benchmark), {})
        fastest = [min(samples[each].sample.real) for each in sorted(samples) if each < looked]
        key = (task.id, benchmark, len(fastest))
        if key not in self._known:
            self._known[key] = _is_precise(fastest, precision)
        return not self._known[key]


def _together(task: Task, benchmark: str) -> tuple[str, str, str]:
    """The same for benchmarks that are measured in the same rounds."""
    return task.group, task.target.caches, benchmark


def _last_look(round: int, rounds: int) -> int:
    """After how many rounds intervals were last looked at, when a round begins."""
    look = rounds
    while (following := math.ceil(look * _GROWTH)) <= round:
        look = following
    return look


def _is_precise(fastest: list[float], precision: float) -> bool:
    if len(fastest) < FEWEST:
        return False
    half_width = estimate(fastest).half_width
    return half_width is None or half_width <= precision  # None: the clock reads 0, and will again
