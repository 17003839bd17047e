"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass

#: Half of the confidence interval, relative, that a run with a budget and no precision measures to.
BUDGET_PRECISION = 0.01
#: The most rounds.
MOST_ROUNDS = 200


@dataclass(frozen=True)
class Policy:
    """How much is measured."""

    seed: str  #: Of the order of tasks: the id of the run.
    budget: float | None = None  #: Seconds that are spent on measuring, in all parts of the run. None: no limit.
    most_rounds: int = MOST_ROUNDS

    def precision(self, stated: float | None) -> float | None:
        """The precision of a task that states one, or none."""
        return BUDGET_PRECISION if stated is None and self.budget is not None else stated
