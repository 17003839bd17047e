"""Changes over time: known steps are found where they are, noise is none, and the commits between are told."""

from __future__ import annotations

import importlib.util
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console, RenderableType

import made_up_results as made_up
from dispatchgen.errors import ToolError
from dispatchgen.history.changes import Change, Cut, cuts, find_changes, noise_of_runs
from dispatchgen.history.importing import import_results
from dispatchgen.history.moves import find_moves
from dispatchgen.history.series import read_series
from dispatchgen.history.table import render_changes, render_series
from dispatchgen.history.text import between, of_move
from dispatchgen.results.schema import Compiled
from kept_results import call, written

_Floats = npt.NDArray[np.float64]
NOISES = ("both sides", "one side")


def noise(kind: str, series: int, runs: int) -> _Floats:
    """Noise of 1 %, the same in each test."""
    found = np.random.default_rng(7).normal(0, 0.01, (series, runs))
    return np.abs(found) if kind == "one side" else found


def found_in(logs: _Floats) -> list[list[Cut]]:
    """The cuts of series that were measured together."""
    noises = noise_of_runs(logs)
    return cuts(logs, np.maximum(noises, np.median(noises)))


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("runs", [10, 30, 100])
def test_noise_is_no_change(kind: str, runs: int) -> None:
    assert sum(map(bool, found_in(noise(kind, 500, runs)))) <= 1


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("step", [0.08, -0.08])
@pytest.mark.parametrize(("runs", "at"), [(10, 5), (30, 2), (30, 15), (30, 28), (100, 70)])
def test_a_step_is_found_where_it_is(kind: str, step: float, runs: int, at: int) -> None:
    logs = noise(kind, 100, runs)
    logs[:, at:] += step
    found = [each[0] for each in found_in(logs) if len(each) == 1]
    assert sum(cut.last < at <= cut.first for cut in found) >= 99
    assert sum(cut == (at - 1, at, at) for cut in found) >= 90


def test_several_steps_are_found() -> None:
    logs = noise("one side", 50, 90)
    for at, step in ((20, 0.1), (45, -0.2), (70, 0.06)):
        logs[:, at:] += step
    for found in found_in(logs):
        assert len(found) == 3
        assert all(cut.last < at <= cut.first <= cut.last + 2 for cut, at in zip(found, (20, 45, 70), strict=True))


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("beside", [-2, -1, 0, 1])
@pytest.mark.parametrize("stray", [0.3, -0.3, 0.15])
def test_a_run_that_stands_alone_beside_a_step_does_not_move_it(kind: str, beside: int, stray: float) -> None:
    """Beside the step itself it may be on either side."""
    logs = noise(kind, 100, 30) / 2
    logs[:, 15:] += 0.1
    logs[:, 15 + beside] += stray
    found = [each[0] for each in found_in(logs) if len(each) == 1]
    last, first = 14 - (beside == -1), 15 + (beside == 0)
    assert sum(cut.last <= last and cut.first >= first for cut in found) >= 98
    assert sum((cut.last, cut.first) == (last, first) for cut in found) >= 93


def test_a_run_that_stands_alone_is_no_change() -> None:
    logs = noise("one side", 50, 30)
    logs[:, 12] += 0.5
    logs[:, -1] += 0.3
    assert not any(found_in(logs))


def test_changes_below_the_floor_are_none() -> None:
    logs = noise("one side", 50, 40) / 100
    logs[:, 20:] += 0.015
    assert not any(found_in(logs))


def test_clocks_that_show_no_noise() -> None:
    logs = np.zeros((2, 12))
    logs[1, 5:] += 0.05
    assert found_in(logs) == [[], [(4, 5, 5)]]


def render(table: RenderableType) -> str:
    """What a wide terminal shows."""
    console = Console(file=io.StringIO(), width=300)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def changes(folder: Path, steps: dict[str, tuple[int, float]], runs: int = 12) -> list[Change]:
    """The changes of benchmarks that change so much at such a run; from there on their code is another."""
    paths = []
    for number in range(runs):
        found = []
        for index, name in enumerate("abcdefgh"):
            at, factor = steps.get(name, (runs, 1.0))
            seconds = 1e-5 * (factor if number >= at else 1.0)
            times = made_up.rounds_of(seconds, noise=0.004, rounds=3, seed=(name, number))
            code = f"{index}{number >= at:d}" * 32
            compiled = Compiled(seconds=None, peak_bytes=None, size=1, sha256=code)
            found.append(made_up.dispatch(name, times).model_copy(update={"compiled": compiled}))
        software = made_up.SOFTWARE.model_copy(
            update={"commit": f"{number:x}" * 40, "dirty": number == 6, "compiler": f"IREE 3.{number // 8}"}
        )
        result = made_up.results(
            [call(found)], id=f"run{number}", started=f"2026-01-{1 + number:02d}T00:00:00+00:00", software=software
        )
        paths.append(written(folder, result))
    import_results(folder / "history.sqlite", paths)
    return find_changes(read_series(folder / "history.sqlite"))


def test_the_commits_between_which_it_changed(tmp_path: Path) -> None:
    found = changes(tmp_path, {"c": (6, 1.2), "f": (8, 0.5)})
    assert [change.series.key.benchmark for change in found] == ["c", "f"]
    assert [change.cut for change in found] == [(5, 6, 6), (7, 8, 8)]
    assert [change.ratio for change in found] == pytest.approx([1.2, 0.5], rel=0.01)
    assert between(found[0]) == "555555555555..666666666666; edited files after"
    assert between(found[1]) == "777777777777..888888888888; compiler IREE 3.0 and IREE 3.1"
    assert [change.same_code for change in found] == [False, False]


def test_edited_files_and_unknown_commits_are_in_no_range(tmp_path: Path) -> None:
    [change] = changes(tmp_path, {"c": (7, 1.2)})
    assert between(change) == "666666666666..777777777777; edited files before"
    *others, last = change.series.runs[6:8]
    for commits, expected in (
        ((None, "f" * 40), "ffffffffffff after, the other commit is not known; edited files before"),
        (("f" * 40, None), "ffffffffffff before, the other commit is not known; edited files before"),
        (("f" * 40, "f" * 40), "both at ffffffffffff; edited files before"),
        ((None, None), "edited files before"),
    ):
        runs = [replace(run, commit=commit) for run, commit in zip([*others, last], commits, strict=True)]
        series = replace(change.series, runs=(*change.series.runs[:6], *runs, *change.series.runs[8:]))
        assert between(replace(change, series=series)) == expected


def test_what_most_benchmarks_do_at_once_is_told_as_one(tmp_path: Path) -> None:
    """All but the whole model move; one of them by more, and one the other way."""
    steps = dict.fromkeys("abcdef", (5, 1.08)) | {"g": (5, 1.3), "h": (5, 0.8)}
    found = changes(tmp_path, steps)
    every = read_series(tmp_path / "history.sqlite")
    [move] = find_moves(found, every)
    assert {change.series.key.benchmark for change in move.changes} == set("abcdef")
    assert of_move(move).startswith("6 of 9 benchmarks changed alike, by +8.")
    shown = render(render_changes(found, [move]))
    assert of_move(move) in shown
    assert [line.partition(": ")[2][0] for line in shown.splitlines() if " us " in line] == ["g", "h"]
    shown = render(render_series([change.series for change in found], found, [move], last=None))
    assert shown.count(of_move(move)) == 6
    assert find_moves([change for change in found if change.series.key.benchmark in "abcg"], every) == []


def test_too_few_runs_tell_nothing(tmp_path: Path) -> None:
    assert changes(tmp_path, {"c": (2, 2.0)}, runs=4) == []


def test_without_ruptures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(ToolError, match="with the Python package ruptures, which is not installed"):
        find_changes([])
