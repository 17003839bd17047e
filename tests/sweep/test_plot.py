"""Curves as SVG: what is drawn, and that it suits light and dark schemes."""

from __future__ import annotations

import importlib.util
import re
from xml.etree import ElementTree

import pytest

from dispatchgen.errors import ToolError
from dispatchgen.results.schema import DeviceUsed, Settings
from dispatchgen.sweep import plot
from dispatchgen.sweep.schema import Curve, Point, Sweep
from made_up_results import timing

_SVG = "{http://www.w3.org/2000/svg}"


def point(symbols: dict[str, int], seconds: float | None, variant: int = 0) -> Point:
    size = 1000
    timed = None if seconds is None else timing([seconds])
    return Point(
        symbols=symbols,
        call="call",
        variant=variant,
        count=1,
        workload=(),
        constants=(),
        bindings=(size,),
        data=("zeros",),
        workgroups=(1, 1, 1),
        timing=timed,
        bytes_per_second=None if seconds is None else size / seconds,
        failure="it failed" if seconds is None else None,
    )


def curve(name: str, *points: Point) -> Curve:
    names = {"operation": name, "executable": name, "variant": "v", "export": name, "content": "0"}
    return Curve(dispatch=name, points=points, left_out=(), **names)


def sweep(dims: dict[str, tuple[int, ...]], *curves: Curve) -> Sweep:
    return Sweep(
        dispatchgen="1",
        compiler="1",
        runtime=None,
        started="2026-01-01T00:00:00+00:00",
        host=None,
        model="<m & n>",
        backend="cpu",
        device=DeviceUsed(id="local-sync", uri="local-sync", run_flags=()),
        settings=Settings(min_time=None, repetitions=1, batch_size=1),
        dims=dims,
        fixed={"S": 8},
        curves=curves,
        rejected=(),
    )


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{_SVG}text")]


def small() -> Sweep:
    sizes = (1, 2, 4, 8, 16)
    return sweep({"B": sizes}, curve("matmul", *(point({"B": size}, size * 1e-6) for size in sizes)))


def test_what_is_drawn() -> None:
    svg = plot.svg(small())
    found = texts(svg)
    assert "<m & n> on cpu, local-sync, S=8" in found
    assert {"B", "time", "bytes of the bindings by time", "matmul", "16", "10 µs", "1 GB/s"} <= set(found)
    assert len(svg) < 50_000


def test_equal_sweeps_give_equal_files() -> None:
    assert plot.svg(small()) == plot.svg(small())


def test_colours_are_those_of_the_scheme() -> None:
    svg = plot.svg(small())
    assert "prefers-color-scheme: dark" in svg
    root = ElementTree.fromstring(svg)
    fills = {re.search(r"fill: ([^;\"]+)", element.attrib["style"]) for element in root.iter(f"{_SVG}text")}
    assert {match[1] for match in fills if match} == {"currentColor"}
    strokes = set(re.findall(r"stroke: ([^;\"]+)", svg))
    assert strokes == {"currentColor", plot.COLORS[0]}
    # No background is drawn.
    background = next(element for element in root.iter(f"{_SVG}g") if element.attrib.get("id") == "patch_1")
    assert "fill: none" in ElementTree.tostring(background, encoding="unicode")


@pytest.mark.parametrize("background", ["#ffffff", "#0d1117"])
def test_curves_stand_out(background: str) -> None:
    for color in plot.COLORS:
        light, dark = sorted((_luminance(color), _luminance(background)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, color  # WCAG 2.1, 1.4.11


def _luminance(color: str) -> float:
    """Relative luminance, as WCAG 2.1 defines it."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_line_per_size_of_the_other_dims_and_per_variant() -> None:
    points = [
        point({"B": b, "S": s}, 1e-6, variant)
        for s in (8, 16)
        for b in (1, 2, 4)
        for variant in range(2 if s == 16 else 1)
    ]
    found = texts(plot.svg(sweep({"S": (8, 16), "B": (1, 2, 4)}, curve("d", *points))))
    labels = [text for text in found if text.startswith("d, ")]
    assert labels == ["d, S=8, sizes 1", "d, S=16, sizes 1", "d, S=16, sizes 2"]


def test_a_narrow_range_has_labels_too() -> None:
    points = [point({"B": size}, size * 1e-5) for size in (100, 110, 120)]
    found = texts(plot.svg(sweep({"B": (100, 110, 120)}, curve("d", *points))))
    assert {"100", "120"} <= set(found)
    assert sum(text.endswith(" ms") for text in found) >= 2
    assert sum(text.endswith("B/s") for text in found) >= 2


def test_large_sizes_are_written_out() -> None:
    points = [point({"B": 4**power}, 4**power * 1e-9) for power in range(12)]
    found = texts(plot.svg(sweep({"B": tuple(4**power for power in range(12))}, curve("d", *points))))
    assert "4194304" in found or "1048576" in found
    assert not any("e+" in text for text in found)


def test_a_size_of_zero() -> None:
    svg = plot.svg(sweep({"B": (0, 5, 10)}, curve("d", *(point({"B": b}, 1e-6) for b in (0, 5, 10)))))
    assert {"0", "10"} <= set(texts(svg))


def test_points_that_failed_are_left_out() -> None:
    points = [point({"B": b}, 1e-6 if b != 64 else None) for b in (1, 2, 64)]
    assert "64" not in texts(plot.svg(sweep({"B": (1, 2, 64)}, curve("d", *points))))


def test_nothing_was_measured() -> None:
    ElementTree.fromstring(plot.svg(sweep({"B": (1,)}, curve("d", point({"B": 1}, None)))))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    plot.check_available()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ToolError) as error:
        plot.check_available()
    assert error.value.problems[0].hint == "pip install dispatchgen[plots]"
