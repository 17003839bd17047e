"""In which order a round runs its tasks: another in each, so that what the machine does falls on none alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from dispatchgen.results.task import Task


def order_of(tasks: Iterable[Task], seed: str, round: int) -> list[Task]:
    """The tasks of a round in the order to run them: groups shuffled, in every other round each turned around.

    Args:
      tasks: Of one group, originals first.
      seed: The same for the same run.
      round: From 0.
    """
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    shuffled = sorted(groups)
    random.Random(f"{seed}/{round}").shuffle(shuffled)
    return [task for group in shuffled for task in _turned(groups[group], round)]


def _turned(group: Sequence[Task], round: int) -> Sequence[Task]:
    return group[::-1] if round % 2 else group
