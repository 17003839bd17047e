"""What a history has of each benchmark: in the order of time, also under former names, apart by machine and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

import made_up_results as made_up
from dispatchgen.errors import HistoryError
from dispatchgen.history.importing import import_results
from dispatchgen.history.series import Series, read_series
from dispatchgen.results.schema import DispatchResult, Results
from kept_results import call, written


def timed(name: str, seconds: float, *, content: str = "", workload: tuple[int, ...] = ()) -> DispatchResult:
    """A dispatch that takes so long."""
    return made_up.dispatch(name, [seconds] * 3, content=content).model_copy(update={"workload": workload})


def run(day: int, *found: DispatchResult, **options: object) -> Results:
    """A run of a day."""
    options = {"started": f"2026-03-{day:02d}T00:00:00+00:00", **options}
    return made_up.results([call(found)], id=f"day{day}", **options)  # type: ignore[arg-type]


def series_of(folder: Path, results: Sequence[Results]) -> dict[str, Series]:
    """The series of dispatches, by name."""
    history = folder / "history.sqlite"
    import_results(history, [written(folder, each) for each in results])
    return {each.key.benchmark: each for each in read_series(history) if each.key.kind == "dispatch"}


def test_runs_are_in_the_order_of_time(tmp_path: Path) -> None:
    runs = [run(day, timed("a", day * 1e-6), timed("b", 1e-6)) for day in (4, 2, 9, 1)]
    found = series_of(tmp_path, runs)
    assert list(found["a"].seconds) == pytest.approx([1e-6, 2e-6, 4e-6, 9e-6])
    assert [each.id for each in found["a"].runs] == ["day1", "day2", "day4", "day9"]
    assert sorted(found) == ["a", "b"]


def test_times_of_other_zones_are_sorted_as_times(tmp_path: Path) -> None:
    early = run(2, timed("a", 1e-6), started="2026-03-02T01:00:00+05:00")  # the day before, in UTC
    late = run(1, timed("a", 2e-6), started="2026-03-01T23:00:00Z")
    assert list(series_of(tmp_path, [late, early])["a"].seconds) == pytest.approx([1e-6, 2e-6])


def test_a_renamed_one_is_followed(tmp_path: Path) -> None:
    runs = [
        run(1, timed("old", 1e-6, content="x"), timed("other", 9e-6, content="y")),
        run(2, timed("old", 2e-6, content="x"), timed("other", 9e-6, content="y")),
        run(3, timed("middle", 3e-6, content="x"), timed("other", 9e-6, content="y")),
        run(4, timed("new", 4e-6, content="x"), timed("other", 9e-6, content="z")),
    ]
    found = series_of(tmp_path, runs)
    assert sorted(found) == ["new", "other"]
    assert list(found["new"].seconds) == pytest.approx([1e-6, 2e-6, 3e-6, 4e-6])
    assert found["new"].former_names == ("old", "middle")
    assert found["new"].is_called("old")
    assert found["other"].former_names == ()
    assert len(found["other"].runs) == 4


def test_names_that_are_swapped_follow_their_kernels(tmp_path: Path) -> None:
    """Also where one of them is not measured in the run of the swap."""
    one, two = partial(timed, seconds=1e-6, content="x"), partial(timed, seconds=5e-6, content="y")
    runs = [run(day, one("a"), two("b")) for day in (1, 2)]
    runs += [run(3, two("a")), *(run(day, two("a"), one("b")) for day in (4, 5))]
    runs += [run(6, one("a"), two("b"))]
    found = series_of(tmp_path, runs)
    assert list(found["a"].seconds) == pytest.approx([1e-6] * 5)
    assert list(found["b"].seconds) == pytest.approx([5e-6] * 6)
    assert (found["a"].former_names, found["b"].former_names) == (("b",), ("a",))


def test_a_name_that_another_takes_over(tmp_path: Path) -> None:
    """What had the name ends there; what takes it over has gone on."""
    runs = [run(day, timed("a", 1e-6, content="x"), timed("b", 5e-6, content="y")) for day in (1, 2)]
    runs += [run(day, timed("a", 5e-6, content="y"), timed("b", 7e-6, content="z")) for day in (3, 4)]
    history = tmp_path / "history.sqlite"
    import_results(history, [written(tmp_path, each) for each in runs])
    found = [
        (each.key.benchmark, each.former_names, [round(float(time) * 1e6) for time in each.seconds])
        for each in read_series(history)
    ]
    assert sorted(each for each in found if each[0]) == [
        ("a", (), [1, 1]),
        ("a", ("b",), [5, 5, 5, 5]),
        ("b", (), [7, 7]),
    ]


def test_a_kernel_that_changes_keeps_its_series(tmp_path: Path) -> None:
    """Also to one that another name had long before."""
    contents = ["x", "x", "y", "x", "old"]
    runs = [run(1 + day, timed("a", 1e-6, content=content)) for day, content in enumerate(contents, 1)]
    runs.append(run(1, timed("a", 1e-6, content="x"), timed("former", 1e-6, content="old")))
    found = series_of(tmp_path, runs)
    assert {name: len(each.runs) for name, each in found.items()} == {"a": 6, "former": 1}


def test_what_was_measured_beside_it_is_no_former_name(tmp_path: Path) -> None:
    runs = [
        run(1, timed("one", 1e-6, content="x")),
        run(2, timed("one", 1e-6, content="x"), timed("two", 2e-6, content="x")),
        run(3, timed("two", 2e-6, content="x")),
    ]
    found = series_of(tmp_path, runs)
    assert {name: len(each.runs) for name, each in found.items()} == {"one": 2, "two": 2}


def test_the_same_kernel_at_other_sizes_is_another_benchmark(tmp_path: Path) -> None:
    runs = [
        run(1, timed("one", 1e-6, content="x", workload=(1,))),
        run(2, timed("two", 2e-6, content="x", workload=(2,))),
    ]
    assert all(each.former_names == () for each in series_of(tmp_path, runs).values())


def test_one_successor_follows_one_name(tmp_path: Path) -> None:
    runs = [
        run(1, timed("one", 1e-6, content="x")),
        run(2, timed("two", 2e-6, content="x"), timed("three", 3e-6, content="x")),
    ]
    found = series_of(tmp_path, runs)
    assert sorted(each.former_names for each in found.values()) == [(), ("one",)]


def test_a_call_of_other_sizes_has_other_benchmarks(tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    for size, day in ((1, 1), (2, 2)):
        result = made_up.results([call([timed("a", size * 1e-6)], symbols={"B": size})], id=f"day{day}")
        import_results(history, [written(tmp_path, result)])
    found = [each for each in read_series(history) if each.key.benchmark == "a"]
    assert [(dict(each.symbols), len(each.runs)) for each in found] == [({"B": 1}, 1), ({"B": 2}, 1)]


def test_machines_are_apart(tmp_path: Path) -> None:
    other = made_up.MACHINE.model_copy(update={"memory_bytes": 1 << 36})
    history = tmp_path / "history.sqlite"
    runs = [run(1, timed("a", 1e-6)), run(2, timed("a", 2e-6), machine=other), run(3, timed("a", 3e-6))]
    import_results(history, [written(tmp_path, each) for each in runs])
    found = [each for each in read_series(history) if each.key.benchmark == "a"]
    assert sorted(list(each.seconds) for each in found) == [pytest.approx([1e-6, 3e-6]), pytest.approx([2e-6])]
    machines = {each.machine for each in found}
    assert len(machines) == 2
    assert {each.machine for each in read_series(history, min(machines))} == {min(machines)}


def test_there_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="there is no history"):
        read_series(tmp_path / "history.sqlite")
    assert not (tmp_path / "history.sqlite").exists()


def test_a_history_without_measurements(tmp_path: Path) -> None:
    import_results(tmp_path / "history.sqlite", [])
    assert read_series(tmp_path / "history.sqlite") == []
