"""Benchmarks over time, as a history knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from dispatchgen.report.plot import Plot, Point, Series, plot

#: Most plots of the page.
MOST_PLOTS = 24


@dataclass(frozen=True)
class Measured:
    """One measurement of a benchmark."""

    started: str  #: ISO 8601.
    seconds: float
    low: float | None
    high: float | None
    commit: str  #: Empty: not known.


@dataclass(frozen=True)
class Change:
    """Where a benchmark became faster or slower."""

    index: int  #: Of the first measurement after it.
    ratio: float  #: Time after by time before.
    commits: str  #: Between which it is, in words.


@dataclass(frozen=True)
class OverTime:
    """A benchmark's measurements, in the order of time, and where they changed."""

    title: str
    measured: tuple[Measured, ...]
    changes: tuple[Change, ...]

    def plot(self) -> Plot:
        """The curve, with a line where it changed."""
        times = [datetime.fromisoformat(each.started).timestamp() for each in self.measured]
        points = [
            Point(time, each.seconds, each.low, each.high, " ".join(filter(None, (_day(time), each.commit[:12]))))
            for time, each in zip(times, self.measured, strict=True)
        ]
        marks = [(times[change.index], f"x {change.ratio:.2f}") for change in self.changes]
        ticks = _spread(times)
        return plot(self.title, [Series("", tuple(points))], "date", x_text=_day, verticals=marks, x_ticks=ticks)


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d")


def _spread(times: Sequence[float], most: int = 4) -> list[float]:
    """First and last day and some between."""
    first, last = min(times), max(times)
    days = {
        _day(first + (last - first) * part / (most - 1)): first + (last - first) * part / (most - 1)
        for part in range(most)
    }
    return list(days.values())
