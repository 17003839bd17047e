"""Curves as geometry."""

from __future__ import annotations

import itertools

import pytest

import made_up_results as made_up
import reported
from dispatchgen.report.curves import MOST_PLOTS, curves
from dispatchgen.report.over_time import OverTime
from dispatchgen.report.plot import Plot, Point, Series, plot
from dispatchgen.results import lean


def drawn(*points: Point) -> Plot:
    return plot("title", [Series("", points)], "B", x_text="{:.10g}".format)


def inside(found: Plot) -> bool:
    marks = [mark for line in found.lines for mark in line.marks]
    ticks = [tick.at for tick in found.x_ticks]
    return (
        all(found.left <= mark.x <= found.right and found.top <= mark.top <= mark.y <= mark.bottom for mark in marks)
        and all(mark.bottom <= found.bottom for mark in marks)
        and all(found.left <= at <= found.right for at in ticks)
        and all(found.top <= tick.at <= found.bottom for tick in found.y_ticks)
    )


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ((1, 4, 16, 64), (1e-6, 2e-6, 1e-5, 1e-4)),
        ((1, 4096), (1e-9, 10.0)),
        ((7, 8, 9), (1e-6, 1e-6, 1e-6)),
        ((0, 1), (5e-5, 5.1e-5)),
        ((3, 3), (0.0, 1e-9)),
        ((100,), (1e-3,)),
    ],
)
def test_everything_is_inside_the_axes(sizes: tuple[int, ...], times: tuple[float, ...]) -> None:
    found = drawn(*(Point(size, time, time * 0.9, time * 1.1) for size, time in zip(sizes, times, strict=True)))
    assert inside(found)
    assert found.x_ticks and found.y_ticks
    labels = [tick.label for tick in found.x_ticks]
    assert len(set(labels)) == len(labels) <= 8


def test_ends_of_intervals_that_are_far_off_are_cut_off() -> None:
    found = drawn(Point(1, 1e-5, 1e-9, 10.0), Point(2, 2e-5, 1.9e-5, 2.1e-5))
    assert inside(found)
    far, near = found.lines[0].marks
    assert (far.top, far.bottom) == (found.top, found.bottom)
    assert near.y - far.y < -50


def test_larger_is_further_right_and_longer_further_up() -> None:
    marks = drawn(Point(1, 1e-6), Point(8, 4e-6), Point(64, 3e-6)).lines[0].marks
    assert all(left.x < right.x for left, right in itertools.pairwise(marks))
    assert marks[0].y > marks[2].y > marks[1].y


def test_a_curve_for_each_model_and_dispatch_that_has_sizes(new: lean.Results) -> None:
    found = curves([new])
    titles = [each.title for each in found.plots]
    assert {*titles[:2]} == {"whole model: mlp on cpu, local", "whole model: attention on cpu, local"}
    assert len(titles) == 8
    assert not any(reported.FAILED in title for title in titles)
    assert all(inside(each) for each in found.plots)
    [line] = found.plots[0].lines
    assert len(line.marks) == len(reported.BATCHES)


def test_a_line_for_each_size_of_the_other_symbols() -> None:
    calls = [
        made_up.call([made_up.dispatch("d", [b * s * 1e-6] * 3)], call=f"B{b}_S{s}", symbols={"B": b, "S": s})
        for b in (1, 2, 4)
        for s in (8, 16)
    ]
    found = curves([reported.as_lean(made_up.results(calls))])
    assert [line.label for line in found.plots[0].lines] == ["S=8", "S=16"]
    assert found.plots[0].x_label == "B"


def test_what_has_one_size_has_no_curve() -> None:
    result = reported.as_lean(made_up.results([made_up.call([made_up.dispatch("d", [1e-6] * 3)])]))
    assert not curves([result])


def test_of_many_curves_those_of_what_takes_most_time() -> None:
    calls = [
        made_up.call([], model=f"m{number}", symbols={"B": batch}, whole_model=None)
        for number in range(MOST_PLOTS + 6)
        for batch in (1, 2)
    ]
    found = curves([reported.as_lean(made_up.results(calls))])
    assert (len(found.plots), found.left_out) == (MOST_PLOTS, 6)


def test_a_history_is_drawn_over_days(over_time: OverTime) -> None:
    found = over_time.plot()
    assert [tick.label for tick in found.x_ticks] == ["2026-01-01", "2026-01-10", "2026-01-19", "2026-01-28"]
    [change] = found.verticals
    assert change.at == found.lines[0].marks[20].x
    assert change.label == "x 1.20"
    assert inside(found)
