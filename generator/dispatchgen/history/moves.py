"""What most benchmarks of a machine did at once: the machine changed, or the runtime, or the compiler as a whole."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dispatchgen.history.changes import FLOOR, Change
from dispatchgen.history.series import Run, Series

#: Fewest benchmarks that can be said to move together.
FEWEST_TOGETHER = 5
#: Part of the benchmarks that does.
_MOST = 0.5


@dataclass(frozen=True)
class Move:
    """Changes of most benchmarks of a machine, at one run and by the same ratio."""

    machine: str
    at: Run  #: The first run after it.
    ratio: float  #: Time after by time before: the median.
    measured: int  #: Benchmarks that were measured before and after.
    changes: tuple[Change, ...]


def find_moves(changes: Sequence[Change], every: Sequence[Series]) -> list[Move]:
    """The moves that changes are of.

    Args:
      changes: All that were found.
      every: What they were looked for in.
    """
    groups: dict[tuple[str, Run, bool], list[Change]] = defaultdict(list)
    for change in changes:
        groups[change.series.machine, change.at, change.ratio > 1].append(change)
    large = {key: found for key, found in groups.items() if len(found) >= FEWEST_TOGETHER}
    return list(_moves(large, every))


def _moves(groups: dict[tuple[str, Run, bool], list[Change]], every: Sequence[Series]) -> Iterator[Move]:
    for (machine, at, _), found in groups.items():
        measured = sum(each.machine == machine and _is_around(each, at) for each in every)
        middle = statistics.median(math.log(change.ratio) for change in found)
        alike = [change for change in found if abs(math.log(change.ratio) - middle) <= math.log1p(FLOOR)]
        if len(alike) >= max(FEWEST_TOGETHER, _MOST * measured):
            yield Move(machine, at, math.exp(middle), measured, tuple(alike))


def _is_around(series: Series, run: Run) -> bool:
    """Whether it was measured before a run, and then or later."""
    return series.runs[0].started < run.started <= series.runs[-1].started
