"""Where benchmarks became faster or slower for good: change points of their times over the runs.

The times of the runs, in logarithms, are cut into pieces of equal level by PELT (ruptures), which finds the cuts that
fit best where each costs a penalty. The penalty grows with what neighbouring runs differ by. Runs that stand alone are
taken out before, by a median of three; what is left of the cuts is where levels differ by more than noise does.
"""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

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

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A change of a benchmark for good."""

    series: Series
    index: int  #: Of the first run after it, in the runs of the series.
    before: float  #: Seconds: the median of the runs at the level before.
    after: float

    @property
    def ratio(self) -> float:
        """Time after by time before: below 1, it became faster."""
        return self.after / self.before

    @property
    def runs(self) -> tuple[Run, Run]:
        """The last run before and the first after."""
        return self.series.runs[self.index - 1], self.series.runs[self.index]

    @property
    def same_code(self) -> bool | None:
        """Whether both runs measured the same `.vmfb`, byte for byte; None: not known."""
        old, new = self.series.modules[self.index - 1 : self.index + 1]
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
    return sorted(found, key=lambda change: (change.series.machine, change.series.key, change.index))


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


def _changes(series: Series, found: Sequence[int]) -> Iterator[Change]:
    levels = _levels(np.log(series.seconds), found)
    for index, (before, after) in zip(found, pairwise(levels), strict=True):
        yield Change(series, index, math.exp(before), math.exp(after))


def noise_of_runs(logs: _Floats) -> _Floats:
    """What one run differs by from another, by row: standard deviation, robust.

    It is that of neighbours, which a few changes do not alter.
    """
    from scipy import stats

    found = stats.median_abs_deviation(np.diff(logs, axis=1), axis=1, scale="normal") / math.sqrt(2)
    return np.asarray(found, dtype=np.float64)


def cuts(logs: _Floats, noise: _Floats) -> list[list[int]]:
    """Where series change their level: for each row the indices of the first values at a new level.

    Args:
      logs: Logarithms of times, a series per row.
      noise: Standard deviation of one value, by row.
    """
    from scipy import ndimage

    smooth = ndimage.median_filter(logs, size=(1, 3), mode="mirror")
    least = np.maximum(math.log1p(FLOOR), BEYOND * noise)
    found: list[list[int]] = [[] for _ in logs]
    for row in np.flatnonzero(np.ptp(smooth, axis=1) >= least):
        found[row] = _pieces(logs[row], smooth[row], float(noise[row]), float(least[row]))
    return found


def _pieces(logs: _Floats, smooth: _Floats, noise: float, least: float) -> list[int]:
    """The cuts of one series, between levels that differ by `least`."""
    import ruptures

    search = ruptures.KernelCPD(kernel="linear", min_size=_FEWEST_AT_LEVEL).fit(smooth.reshape(-1, 1))
    # Where clocks are coarse, there may be no noise: then any penalty will do that is below the least change.
    penalty = _PENALTY * max(noise, least / 10) ** 2 * math.log(len(logs))
    kept = [int(each) for each in search.predict(pen=penalty)[:-1]]
    while kept:
        steps = np.abs(np.diff(_levels(logs, kept)))
        if steps.min() >= least:
            break
        del kept[int(steps.argmin())]
    return kept


def _levels(logs: _Floats, found: Sequence[int]) -> list[float]:
    """The medians of the pieces that cuts leave."""
    return [float(np.median(logs[at:end])) for at, end in pairwise([0, *found, len(logs)])]
