"""Where benchmarks became faster or slower for good: change points of their times over the runs.

The times of the runs, in logarithms, are cut into pieces of equal level by PELT (ruptures), which finds the cuts that
fit best where each costs a penalty. The penalty grows with what neighbouring runs differ by. Runs that stand alone are
taken out before, by a median of three; what is left of the cuts is where levels differ by more than noise does. Each is
then put where the times themselves have it: a run that is at neither level lies on neither side of a change.
"""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dispatchgen.errors import Problem, ToolError
from dispatchgen.history.series import Run, Series

#: Fewest runs that a change is looked for in.
FEWEST_RUNS = 5
#: Smallest change that counts, relative.
FLOOR = 0.02
#: A change is at least this many standard deviations of a run.
BEYOND = 3.0
#: Fewest runs at one level: a change is seen when two runs came after it.
_FEWEST_AT_LEVEL = 2
#: Times the variance and the logarithm of the number of runs: the penalty of a cut. At 2 it would be the Bayesian
#: information criterion of one cut; 4 keeps series of noise whole.
_PENALTY = 4.0
#: By how many runs a median of three may move a cut, and one more.
_AROUND = 2

_Floats = npt.NDArray[np.float64]


class Cut(NamedTuple):
    """Where a series changes its level: indices of runs."""

    last: int  #: The last run that is at the level before.
    best: int  #: The first run after the change, where it fits best.
    first: int  #: The first run that is at the level after. Those between it and `last` may be on either side.


@dataclass(frozen=True)
class Change:
    """A change of a benchmark for good."""

    series: Series
    cut: Cut  #: Where it is in the runs of the series.
    before: float  #: Seconds: the median of the runs at the level before.
    after: float

    @property
    def ratio(self) -> float:
        """Time after by time before: below 1, it became faster."""
        return self.after / self.before

    @property
    def runs(self) -> tuple[Run, Run]:
        """The last run before and the first after, as far as that can be told."""
        return self.series.runs[self.cut.last], self.series.runs[self.cut.first]

    @property
    def at(self) -> Run:
        """The first run after it, where it fits best."""
        return self.series.runs[self.cut.best]

    @property
    def same_code(self) -> bool | None:
        """Whether both runs measured the same `.vmfb`, byte for byte; None: not known."""
        old, new = self.series.modules[self.cut.last], self.series.modules[self.cut.first]
        return None if old < 0 or new < 0 else bool(old == new)


def check_available() -> None:
    """Raises ToolError where ruptures is not installed."""
    if importlib.util.find_spec("ruptures") is None:
        message = "changes over time are found with the Python package ruptures, which is not installed"
        raise ToolError(Problem(message, hint="pip install dispatchgen[history]"))


def find_changes(every: Sequence[Series]) -> list[Change]:
    """The changes of all series, by machine and benchmark. Raises ToolError where ruptures is not installed."""
    check_available()
    by_machine: dict[str, list[Series]] = defaultdict(list)
    for series in every:
        if len(series.runs) >= FEWEST_RUNS and series.seconds.min() > 0:
            by_machine[series.machine].append(series)
    found = [change for group in by_machine.values() for change in _of_machine(group)]
    return sorted(found, key=lambda change: (change.series.machine, change.series.key, change.cut))


def _of_machine(group: Sequence[Series]) -> Iterator[Change]:
    """The changes of series that were measured on one machine."""
    by_length: dict[int, list[Series]] = defaultdict(list)
    for series in group:
        by_length[len(series.runs)].append(series)
    logs = {length: np.log(np.stack([each.seconds for each in alike])) for length, alike in by_length.items()}
    noises = {length: noise_of_runs(each) for length, each in logs.items()}
    # A few runs tell little of one benchmark, and some may agree by chance: at least what all differ by is taken.
    whole = float(np.median(np.concatenate(list(noises.values()))))
    for length, alike in by_length.items():
        every = cuts(logs[length], np.maximum(noises[length], whole))
        for series, found in zip(alike, every, strict=True):
            yield from _changes(series, found)


def _changes(series: Series, found: Sequence[Cut]) -> Iterator[Change]:
    levels = _levels(np.log(series.seconds), [cut.best for cut in found])
    for cut, (before, after) in zip(found, pairwise(levels), strict=True):
        yield Change(series, cut, math.exp(before), math.exp(after))


def noise_of_runs(logs: _Floats) -> _Floats:
    """What one run differs by from another, by row: standard deviation, robust.

    It is that of neighbours, which a few changes do not alter.
    """
    from scipy import stats

    found = stats.median_abs_deviation(np.diff(logs, axis=1), axis=1, scale="normal") / math.sqrt(2)
    return np.asarray(found, dtype=np.float64)


def cuts(logs: _Floats, noise: _Floats) -> list[list[Cut]]:
    """Where series change their level, by row.

    Args:
      logs: Logarithms of times, a series per row.
      noise: Standard deviation of one value, by row.
    """
    from scipy import ndimage

    smooth = ndimage.median_filter(logs, size=(1, 3), mode="mirror")
    least = np.maximum(math.log1p(FLOOR), BEYOND * noise)
    found: list[list[Cut]] = [[] for _ in logs]
    for row in np.flatnonzero(np.ptp(smooth, axis=1) >= least):
        # Where clocks are coarse, there may be no noise: then any will do that is below the least change.
        own, step = max(float(noise[row]), float(least[row]) / 10), float(least[row])
        found[row] = _placed(logs[row], _pieces(logs[row], smooth[row], own, step), own)
    return found


def _pieces(logs: _Floats, smooth: _Floats, noise: float, least: float) -> list[int]:
    """The cuts of one series, between levels that differ by `least`."""
    import ruptures

    search = ruptures.KernelCPD(kernel="linear", min_size=_FEWEST_AT_LEVEL).fit(smooth.reshape(-1, 1))
    penalty = _PENALTY * noise**2 * math.log(len(logs))
    kept = [int(each) for each in search.predict(pen=penalty)[:-1]]
    while kept:
        steps = np.abs(np.diff(_levels(logs, kept)))
        if steps.min() >= least:
            break
        del kept[int(steps.argmin())]
    return kept


def _placed(logs: _Floats, found: Sequence[int], noise: float) -> list[Cut]:
    """The cuts where the values themselves have them.

    A value costs by how far it is from the level of its side, up to what noise may be twice. Of the places around a cut
    the cheapest counts, and what costs half a value more may be it as well: one that is far from both levels tells
    nothing.
    """
    placed: list[Cut] = []
    for (before, after), at, end in zip(pairwise(_levels(logs, found)), found, [*found, len(logs)][1:], strict=True):
        start = placed[-1].first if placed else 0
        most = min(abs(after - before), 2 * BEYOND * noise)
        near = logs[start:end]
        # What it costs more to have each value, and those before it, in front of the cut.
        costs = np.minimum(abs(near - before), most) - np.minimum(abs(near - after), most)
        places = np.arange(max(start + 1, at - _AROUND), min(end - 1, at + _AROUND) + 1)
        sums = np.cumsum(costs)[places - start - 1]
        fitting = places[sums <= sums.min() + most / 2]
        placed.append(Cut(int(fitting[0]) - 1, int(places[sums.argmin()]), int(fitting[-1])))
    return placed


def _levels(logs: _Floats, found: Sequence[int]) -> list[float]:
    """The medians of the pieces that cuts leave."""
    return [float(np.median(logs[at:end])) for at, end in pairwise([0, *found, len(logs)])]
