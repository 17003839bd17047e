"""The table of a sweep."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from dispatchgen.results.schema import DeviceUsed, Settings
from dispatchgen.sweep.schema import Curve, LeftOut, Point, Sweep
from dispatchgen.sweep.table import format_bytes, render
from made_up_results import timing


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (12_345, "12.3 kB"),
        (999_600, "1.00 MB"),
        (123_456_789, "123 MB"),
        (4.2e12, "4200 GB"),
    ],
)
def test_bytes(count: float, text: str) -> None:
    assert format_bytes(count) == text


def point(size: int, **settings: object) -> Point:
    timed = timing([size * 1e-6])
    values: dict[str, object] = {
        "symbols": {"B": size, "S": 8},
        "call": f"B{size}",
        "variant": 0,
        "count": 1,
        "workload": (size, 8),
        "constants": (("i32", size),),
        "bindings": (4 * size, 1000),
        "data": ("zeros", "zeros"),
        "workgroups": (size, 1, 1),
        "timing": timed,
        "bytes_per_second": 1e9,
    }
    return Point(**{**values, **settings})  # type: ignore[arg-type]


def printed(*points: Point, left_out: tuple[LeftOut, ...] = (), rejected: tuple[LeftOut, ...] = ()) -> str:
    names = {"operation": "matmul", "executable": "e", "variant": "v", "export": "x", "content": "0"}
    sweep = Sweep(
        dispatchgen="1",
        compiler="1",
        runtime=None,
        started="2026-01-01T00:00:00+00:00",
        host=None,
        model="[bold]m",
        backend="cpu",
        device=DeviceUsed(id="local-sync", uri="local-sync", run_flags=()),
        settings=Settings(min_time=None, repetitions=1, batch_size=1),
        dims={"B": (1, 2)},
        fixed={"S": 8},
        curves=(Curve(dispatch="matmul_2", points=points, left_out=left_out, **names),),
        rejected=rejected,
    )
    stream = StringIO()
    Console(width=200, file=stream).print(render(sweep), highlight=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().splitlines())


def test_a_row_per_point() -> None:
    assert printed(point(1), point(2)) == (
        "[bold]m on cpu, local-sync, S=8: matmul_2\n"
        "B  workload  workgroups  bytes bound     time       rate\n"
        "1       1 8       1x1x1      1.00 kB  1.00 us  1.00 GB/s\n"
        "2       2 8       2x1x1      1.01 kB  2.00 us  1.00 GB/s\n"
        "all bindings: zeros"
    )


def test_what_was_not_measured() -> None:
    failed = point(2, timing=None, bytes_per_second=None, workgroups=None, failure="it ended\nin a crash")
    left_out = tuple(LeftOut(symbols={"B": size}, reason="it does not run") for size in range(10))
    text = printed(point(1), failed, left_out=left_out, rejected=(LeftOut(symbols={"B": 9}, reason="too large"),))
    assert text.splitlines()[3:] == [
        "2       2 8           -      1.01 kB   failed          -",
        "all bindings: zeros",
        "  failed at B=2, S=8: it ended",
        "      in a crash",
        "  left out: B=0; B=1; B=2; B=3; B=4; B=5; B=6; B=7 and 2 more: it does not run",
        "",
        "  rejected by the program: B=9: too large",
    ]


def test_nothing_to_run() -> None:
    empty = point(0, workgroups=(0, 1, 1), timing=None, bytes_per_second=None)
    assert printed(empty, point(1)).splitlines()[2] == "0       0 8       0x1x1      1.00 kB  nothing to run          -"


def test_what_bindings_held() -> None:
    random = ("random f32, seed 0", "zeros")
    assert "bindings: 0: random f32, seed 0; 1: zeros" in printed(point(1, data=random))
    assert "at other points they differ" in printed(point(1, data=random), point(2))


def test_sizes_that_do_not_depend_on_the_point() -> None:
    same = point(2, workload=(1, 8), constants=(("i32", 1),), bindings=(4, 1000))
    assert "its sizes are the same at all points" in printed(point(1), same)
