"""The curves of a sweep as an SVG file: time and rate against size, on logarithmic axes where they span enough.

The file adapts to the light or dark scheme of whatever shows it: text and lines have the colour of the scheme, the
background is transparent, and the curves' colours stand out on both.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from dispatchgen.errors import Problem, ToolError
from dispatchgen.sweep.schema import Curve, Point, Sweep
from dispatchgen.sweep.table import format_symbols

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Stands for the colour of the scheme's text while the figure is drawn; no colour that matplotlib uses itself.
_TEXT = "#010203"
#: Contrast of at least 3 to 1 with white and with GitHub's dark background.
COLORS = ("#2f81f7", "#d1652b", "#2a9d5c", "#bf5af2", "#c08a00", "#e0457b", "#1f9aa8", "#8b6d5c")
_MARKERS = "osD^vP*X"
#: From this ratio of the ends of an axis on it is logarithmic; below, no power of two or ten might be in it.
_LOGARITHMIC = 5.0
#: Above this one, only powers of ten are labelled.
_MANY_DECADES = 3e3
#: Labels above this length, in characters, stand in one column.
_LONG_LABEL = 45
_STYLE = """\
<style>
svg { color: #1f2328 }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }
</style>
"""
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and the file is small
    "svg.hashsalt": "dispatchgen",  # ids are the same from run to run
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial"],  # the first is matplotlib's own
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "grid.color": _TEXT,
    "grid.alpha": 0.2,
    "text.parse_math": False,  # a $ is a $
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def check_available() -> None:
    """Raises ToolError where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        message = "curves are drawn with the Python package matplotlib, which is not installed"
        raise ToolError(Problem(message, hint="pip install dispatchgen[plots]"))


@dataclass(frozen=True)
class _Line:
    """Points that are connected."""

    label: str
    points: tuple[Point, ...]  #: With times.


def svg(sweep: Sweep) -> str:
    """The figure. Equal sweeps give equal text."""
    from matplotlib import style
    from matplotlib.figure import Figure

    axis = _axis(sweep)
    lines = [line for curve in sweep.curves for line in _lines(sweep, curve, axis)]
    with style.context(["default", _SETTINGS]):  # and not as the user has configured matplotlib
        columns = 1 if any(len(line.label) > _LONG_LABEL for line in lines) else 2
        rows = -(-len(lines) // columns)
        figure = Figure(figsize=(8, 6.8 + 0.2 * rows), layout="constrained")  # inches; a row of the legend is 0.2
        _draw(figure, sweep, axis, lines)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
        stream = StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue().replace(_TEXT, "currentColor")
    start, defs, rest = text.partition(" <defs>")
    return start + _STYLE + defs + rest


def _axis(sweep: Sweep) -> str:
    """The symbol that the curves are drawn against: the one with the most sizes, the first of such."""
    return max(sweep.dims, key=lambda symbol: len(sweep.dims[symbol]))


def _lines(sweep: Sweep, curve: Curve, axis: str) -> Iterator[_Line]:
    """A line per size of the other dims, and per variant."""
    groups: dict[tuple[tuple[tuple[str, int], ...], int], list[Point]] = {}
    for point in curve.points:
        if point.timing is not None:
            others = tuple((symbol, point.symbols[symbol]) for symbol in sweep.dims if symbol != axis)
            groups.setdefault((others, point.variant), []).append(point)
    variants = len({variant for _, variant in groups})
    for (others, variant), points in groups.items():
        parts = [curve.dispatch, format_symbols(dict(others)), f"sizes {variant + 1}" if variants > 1 else ""]
        yield _Line(", ".join(filter(None, parts)), tuple(sorted(points, key=lambda point: point.symbols[axis])))


def _draw(figure: Figure, sweep: Sweep, axis: str, lines: Sequence[_Line]) -> None:
    times, rates = figure.subplots(2, 1, sharex=True)
    for number, line in enumerate(lines):
        style: dict[str, Any] = {
            "color": COLORS[number % len(COLORS)],
            "marker": _MARKERS[number // len(COLORS) % len(_MARKERS)],
            "markersize": 4,
            "label": line.label,
        }
        sizes = [point.symbols[axis] for point in line.points]
        times.plot(sizes, [point.timing.seconds for point in line.points if point.timing is not None], **style)
        rates.plot(sizes, [point.bytes_per_second for point in line.points], **style)
    _label_values(times, "time", "s")
    _label_values(rates, "bytes of the bindings by time", "B/s")
    _label_sizes(rates, axis)
    fixed = f", {format_symbols(sweep.fixed)}" if sweep.fixed else ""
    figure.suptitle(f"{sweep.model} on {sweep.backend}, {sweep.device.id}{fixed}")


def _label_values(axes: Axes, label: str, unit: str) -> None:
    """The upright axis."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    ratio = _ratio(line.get_ydata() for line in axes.lines)
    if ratio >= _LOGARITHMIC:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if ratio > _MANY_DECADES else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(EngFormatter(unit=unit))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(label)
    axes.grid(which="major", linewidth=0.6)


def _label_sizes(axes: Axes, symbol: str) -> None:
    """The axis of sizes."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    if _ratio(line.get_xdata() for line in axes.lines) >= _LOGARITHMIC:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(symbol)


def _ratio(data: Iterable[npt.ArrayLike]) -> float:
    """The largest value by the smallest; 1 where there are none, or not all are above zero."""
    import numpy as np

    values = [float(value) for of_line in data for value in np.asarray(of_line)]
    return max(values) / min(values) if values and min(values) > 0 else 1.0
