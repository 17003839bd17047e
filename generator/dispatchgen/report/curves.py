"""Curves: the time of each dispatch against a size of the model's inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.report.plot import Plot, Point, Series, plot
from dispatchgen.report.table import short_id
from dispatchgen.results.lean import Call, Results, Timing

#: Most plots of a page, and most lines of a plot.
MOST_PLOTS = 24
_MOST_LINES = 6


@dataclass(frozen=True)
class _Place:
    """A measured time and the sizes that it is of."""

    symbols: Mapping[str, int]
    timing: Timing
    total: float  #: Seconds per call.
    ordinal: int  #: Among the sizes that one call runs the dispatch with.


@dataclass(frozen=True)
class Curves:
    """Plots, of what takes most time first."""

    plots: tuple[Plot, ...]
    left_out: int

    def __bool__(self) -> bool:
        return bool(self.plots)


def curves(results: Sequence[Results]) -> Curves:
    """A plot for each whole model and each dispatch that was measured at several sizes."""
    found: list[tuple[str, str, list[_Place]]] = []
    for result in results:
        note = f", {short_id(result.id)}" if len(results) > 1 else ""
        for title, places in _places(result.calls).items():
            axis = _axis(places)
            if axis is not None:
                found.append((title + note, axis, places))
    found.sort(key=lambda each: -max(place.total for place in each[2]))
    drawn = tuple(_plot(title, places, axis) for title, axis, places in found[:MOST_PLOTS])
    return Curves(drawn, len(found) - len(drawn))


def _places(calls: Sequence[Call]) -> dict[str, list[_Place]]:
    """The places of each plot, by its title."""
    found: dict[str, list[_Place]] = {}
    for call in calls:
        if len(call.symbols) == 0:
            continue
        where = f"{call.model} on {call.backend}, {call.device.id}"
        entry = f" ({call.function})" if call.call != call.shape and call.function else ""
        if call.whole_model.timing is not None and not call.overrides:
            timing = call.whole_model.timing
            found.setdefault(f"whole model{entry}: {where}", []).append(_Place(call.symbols, timing, timing.seconds, 0))
        ordinals: dict[str, int] = {}
        for dispatch in sorted(call.dispatches, key=lambda each: (each.name, each.workload, each.constants)):
            ordinal = ordinals[dispatch.name] = ordinals.get(dispatch.name, -1) + 1
            if dispatch.timing is not None:
                place = _Place(call.symbols, dispatch.timing, dispatch.total_seconds or 0.0, ordinal)
                found.setdefault(f"{dispatch.name}{entry}: {where}", []).append(place)
    return found


def _axis(places: Sequence[_Place]) -> str | None:
    """The symbol with the most sizes; None: none has several."""
    sizes: dict[str, set[int]] = {}
    for place in places:
        for symbol, size in place.symbols.items():
            sizes.setdefault(symbol, set()).add(size)
    best = max(sizes, key=lambda symbol: len(sizes[symbol]))
    return best if len(sizes[best]) > 1 else None


def _plot(title: str, places: Sequence[_Place], axis: str) -> Plot:
    series = list(_series(places, axis))[:_MOST_LINES]
    return plot(title, series, axis, x_text=lambda value: f"{value:.10g}")


def _series(places: Sequence[_Place], axis: str) -> Iterator[Series]:
    """A line for each size of the other symbols, in their order."""
    by_rest: dict[tuple[tuple[tuple[str, int], ...], int], list[_Place]] = {}
    for place in places:
        rest = tuple(sorted((symbol, size) for symbol, size in place.symbols.items() if symbol != axis))
        by_rest.setdefault((rest, place.ordinal), []).append(place)
    for (rest, ordinal), found in sorted(by_rest.items()):
        words = [f"{symbol}={size}" for symbol, size in rest]
        words += [f"size {ordinal + 1} of the call"] if ordinal else []
        yield Series(", ".join(words), tuple(_points(found, axis)))


def _points(places: Sequence[_Place], axis: str) -> Iterator[Point]:
    for place in sorted(places, key=lambda place: place.symbols[axis]):
        timing = place.timing
        size = place.symbols[axis]
        yield Point(size, timing.seconds, timing.low, timing.high, f"{axis} = {size}")
