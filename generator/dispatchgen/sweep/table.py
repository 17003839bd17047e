"""A sweep for people: a table per dispatch, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.results.text import NOTHING, format_seconds, indented
from dispatchgen.sweep.schema import Curve, LeftOut, Point, Sweep

_SIZE_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
#: How many points that were left out for one reason are named.
_NAMED = 8


def render(sweep: Sweep) -> RenderableType:
    """Everything that a sweep gave. Texts are taken literally."""
    parts: list[RenderableType] = []
    for curve in sweep.curves:
        parts += [_title(sweep, curve), _rows(sweep, curve), *map(Text, _notes(curve)), Text()]
    parts += [Text(line) for line in _left_out("rejected by the program", sweep.rejected)]
    return Group(*parts)


def format_bytes(count: float) -> str:
    """A number of bytes in the decimal unit that suits it, with three significant digits."""
    scale, unit = next(((scale, unit) for scale, unit in _SIZE_UNITS if count >= scale * 0.9995), (1.0, "B"))
    value = count / scale
    digits = 0 if value >= 99.95 or unit == "B" else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def format_symbols(symbols: Mapping[str, int]) -> str:
    """`B=42, S=64`."""
    return ", ".join(f"{symbol}={size}" for symbol, size in symbols.items())


def _title(sweep: Sweep, curve: Curve) -> Text:
    fixed = f", {format_symbols(sweep.fixed)}" if sweep.fixed else ""
    return Text(f"{sweep.model} on {sweep.backend}, {sweep.device.id}{fixed}: {curve.dispatch}", style="bold")


def _rows(sweep: Sweep, curve: Curve) -> Table:
    table = Table(box=None, pad_edge=False, header_style="underline")
    for title in (*sweep.dims, "workload", "workgroups", "bytes bound", "time", "rate"):
        table.add_column(title, justify="right", no_wrap=True)
    for point in curve.points:
        sizes = [str(point.symbols[symbol]) for symbol in sweep.dims]
        table.add_row(*(Text(cell) for cell in (*sizes, *_cells(point))))
    return table


def _cells(point: Point) -> list[str]:
    rate = point.bytes_per_second
    time = "nothing to run" if point.is_empty else "failed"
    return [
        " ".join(map(str, point.workload)) or NOTHING,
        "x".join(map(str, point.workgroups)) if point.workgroups is not None else NOTHING,
        format_bytes(point.bytes),
        format_seconds(point.timing.seconds) if point.timing is not None else time,
        f"{format_bytes(rate)}/s" if rate is not None else NOTHING,
    ]


def _notes(curve: Curve) -> Iterator[str]:
    """What the bindings held, and each point that was not measured, with its reason."""
    if curve.failure is not None:
        yield indented("  failed: ", curve.failure)
        return
    held = list(dict.fromkeys(point.data for point in curve.points))
    if len(set(held[0])) == 1 and len(held) == 1:
        yield f"all bindings: {held[0][0]}"
    else:
        yield "bindings: " + "; ".join(f"{i}: {words}" for i, words in enumerate(held[0]))
        if len(held) > 1:
            yield "  at other points they differ, see the data"
    if (
        len(curve.points) > 1
        and len({(point.workload, point.constants, point.bindings, point.data) for point in curve.points}) == 1
    ):
        yield "its sizes are the same at all points: it was measured once"
    for point in curve.points:
        if point.failure is not None:
            yield indented(f"  failed at {format_symbols(point.symbols)}: ", point.failure)
    yield from _left_out("left out", curve.left_out)


def _left_out(what: str, points: Sequence[LeftOut]) -> Iterator[str]:
    """A line per reason."""
    by_reason: dict[str, list[str]] = {}
    for each in points:
        by_reason.setdefault(each.reason, []).append(format_symbols(each.symbols))
    for reason, named in by_reason.items():
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        yield indented(f"  {what}: {'; '.join(named[:_NAMED])}{more}: ", reason)
