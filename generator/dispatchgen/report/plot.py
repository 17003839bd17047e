"""Plots as geometry, in the units of an SVG element's view box; the template draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dispatchgen.results.text import format_seconds

WIDTH, HEIGHT = 420.0, 240.0
#: Space for the labels of the axes.
LEFT, RIGHT, TOP, BOTTOM = 72.0, 30.0, 12.0, 42.0
#: From this ratio of the ends of an axis on it is logarithmic.
_LOGARITHMIC = 4.0
_MOST_TICKS = 6
#: Ends of intervals that are farther off than this factor are cut off.
_FAR = 1.5


@dataclass(frozen=True)
class Point:
    """A measured point; times are in seconds."""

    x: float
    seconds: float
    low: float | None = None
    high: float | None = None
    label: str = ""  #: Of the table beside the plot: what `x` is, in words.


@dataclass(frozen=True)
class Series:
    """Points that a line joins, in the order of `x`."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A drawn point: its interval is from `top` to `bottom`."""

    x: float
    y: float
    top: float
    bottom: float
    title: str


@dataclass(frozen=True)
class Line:
    """A drawn series."""

    label: str
    path: str  #: Value of the attribute `points` of a polyline.
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Plot:
    """Time against something."""

    title: str
    x_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    series: tuple[Series, ...]
    verticals: tuple[Tick, ...] = ()  #: Lines from top to bottom, such as change points.

    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


def plot(
    title: str,
    series: Sequence[Series],
    x_label: str,
    *,
    x_text: Callable[[float], str],
    verticals: Sequence[tuple[float, str]] = (),
    x_ticks: Sequence[float] | None = None,
) -> Plot:
    """The plot of at least one point.

    Args:
      x_text: The label of a place on the axis of `x`.
      verticals: Places on the axis of `x`, and what is said of them.
      x_ticks: Places that are labelled. None: powers of two, or round numbers.
    """
    points = [point for each in series for point in each.points]
    across = _Scale.of([point.x for point in points], LEFT + 8, WIDTH - RIGHT - 8, base=2)
    upright = _Scale.of(_times(points), HEIGHT - BOTTOM - 6, TOP + 6, base=10)
    ticks = across.ticks() if x_ticks is None else x_ticks
    return Plot(
        title=title,
        x_label=x_label,
        x_ticks=tuple(Tick(_short(across(value)), x_text(value)) for value in ticks),
        y_ticks=tuple(Tick(_short(upright(value)), format_seconds(value)) for value in upright.ticks()),
        lines=tuple(_line(each, across, upright) for each in series),
        series=tuple(series),
        verticals=tuple(Tick(_short(across(value)), text) for value, text in verticals),
    )


def _times(points: Sequence[Point]) -> list[float]:
    """The times that the axis spans: those of the points, and of their intervals what is not far off."""
    times = [point.seconds for point in points]
    least, most = min(times) / _FAR, max(times) * _FAR
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    return times + [max(least, min(most, end)) for end in ends]


def _line(series: Series, across: _Scale, upright: _Scale) -> Line:
    marks = tuple(
        Mark(
            x=_short(across(point.x)),
            y=_short(upright(point.seconds)),
            top=max(TOP, _short(upright(point.seconds if point.high is None else point.high))),
            bottom=min(HEIGHT - BOTTOM, _short(upright(point.seconds if point.low is None else point.low))),
            title=", ".join(filter(None, (series.label, point.label, format_seconds(point.seconds)))),
        )
        for point in series.points
    )
    return Line(series.label, " ".join(f"{mark.x},{mark.y}" for mark in marks), marks)


def _short(value: float) -> float:
    return round(value, 1)


@dataclass(frozen=True)
class _Scale:
    """From values to places."""

    low: float
    high: float
    start: float
    end: float
    base: int
    is_logarithmic: bool

    @staticmethod
    def of(values: Sequence[float], start: float, end: float, base: int) -> _Scale:
        """A scale on which all values lie between two places."""
        low, high = min(values), max(values)
        is_logarithmic = low > 0 and high / low >= _LOGARITHMIC
        if not is_logarithmic:
            margin = (high - low or abs(high) or 1.0) * (0.15 if high > low else 0.5)
            if base == 10:  # times: a small difference is to look small
                low, high = max(0.0, low - margin), high + margin
            elif low == high:
                low, high = low - margin, high + margin
        return _Scale(low, high, start, end, base, is_logarithmic)

    def __call__(self, value: float) -> float:
        if self.is_logarithmic:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values on the scale, not too many."""
        if not self.is_logarithmic:
            return self._round_values()
        steps = (1,) if self.base == 2 or self.high / self.low > 1e3 else (1, 2, 5)
        first, last = math.floor(math.log(self.low, self.base)), math.ceil(math.log(self.high, self.base))
        found = [step * float(self.base) ** power for power in range(first, last + 1) for step in steps]
        inside = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
        every = math.ceil(len(inside) / _MOST_TICKS) if inside else 1
        return inside[::every] if len(inside) > 1 else [self.low, self.high]

    def _round_values(self) -> list[float]:
        rough = (self.high - self.low) / _MOST_TICKS * 1.2
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
        if self.base == 2:
            step = max(1.0, step)  # sizes are whole numbers
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]
