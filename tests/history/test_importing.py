"""Importing results: each run once, whole or not at all, also by several processes and where one is killed."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import made_up_results as made_up
import support
from dispatchgen.errors import HistoryError
from dispatchgen.history.importing import Imported, import_results
from dispatchgen.results.schema import DispatchResult, Results
from kept_results import call, dispatches, written

NAMES = ["a", "b", "c"]


def run(id: str, found: Sequence[DispatchResult] | None = None, **options: Any) -> Results:
    """A run that gave these dispatches."""
    return made_up.results([call(dispatches(names=NAMES) if found is None else found)], id=id, **options)


def imported(folder: Path, *results: Results) -> list[Imported]:
    """Imports results into the history of a folder."""
    return import_results(folder / "history.sqlite", [written(folder, each) for each in results])


def content(history: Path) -> list[tuple[Any, ...]]:
    """Everything that is measured in a history, whatever the order it was imported in; of a history that is whole."""
    connection = sqlite3.connect(history)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for measured, rows in connection.execute(
            "SELECT measured, (SELECT count(seconds) FROM measurements WHERE run = number) FROM runs"
        ):
            assert measured == rows
        return connection.execute(
            "SELECT id, started, model, call, kind, name, caches, content, sizes, seconds, failure "
            "FROM measurements JOIN runs ON run = runs.number JOIN benchmarks ON benchmark = benchmarks.number "
            "LEFT JOIN kernels ON kernel = kernels.number ORDER BY id, kind, name"
        ).fetchall()
    finally:
        connection.close()


def test_a_run_is_imported_once(tmp_path: Path) -> None:
    assert [each.outcome for each in imported(tmp_path, run("one"), run("two"))] == ["imported", "imported"]
    before = content(tmp_path / "history.sqlite")
    assert len(before) == 8
    assert [each.outcome for each in imported(tmp_path, run("two"), run("one"))] == ["there", "there"]
    assert content(tmp_path / "history.sqlite") == before


def test_the_order_of_imports_does_not_matter(tmp_path: Path) -> None:
    runs = [run("one"), run("two", dispatches(2.0, names=["c", "d"])), run("three", machine=made_up.MACHINE)]
    folders = [tmp_path / "forth", tmp_path / "back"]
    for folder, order in zip(folders, (runs, runs[::-1]), strict=True):
        folder.mkdir()
        imported(folder, *order)
    assert content(folders[0] / "history.sqlite") == content(folders[1] / "history.sqlite")


def test_what_was_not_measured_is_there_with_the_reason(tmp_path: Path) -> None:
    imported(tmp_path, run("one", [*dispatches(names=["a"]), made_up.dispatch("b", None)]))
    failures = {row[5]: row[-1] for row in content(tmp_path / "history.sqlite") if row[-2] is None}
    assert failures == {"b": "it crashed"}


def test_more_of_a_run_replaces_less_of_it(tmp_path: Path) -> None:
    partial = run("one", [*dispatches(names=["a"]), made_up.dispatch("b", None)])
    imported(tmp_path, partial)
    assert [each.outcome for each in imported(tmp_path, run("one"))] == ["replaced"]
    after = content(tmp_path / "history.sqlite")
    assert {row[5] for row in after} == {"", "a", "b", "c"}
    assert [each.outcome for each in imported(tmp_path, partial)] == ["kept"]
    assert content(tmp_path / "history.sqlite") == after


def test_a_bad_file_keeps_no_other_from_being_imported(tmp_path: Path) -> None:
    good = written(tmp_path, run("one"))
    bad = [tmp_path / "none.json", tmp_path / "bad.json"]
    bad[1].write_text("{}")
    history = tmp_path / "history.sqlite"
    with pytest.raises(HistoryError) as raised:
        import_results(history, [bad[0], good, bad[1]])
    assert [problem.place and problem.place.file for problem in raised.value.problems] == [str(each) for each in bad]
    assert {row[0] for row in content(history)} == {"one"}


def test_a_file_that_is_no_history(tmp_path: Path) -> None:
    file = written(tmp_path, run("one"))
    before = file.read_bytes()
    with pytest.raises(HistoryError, match="cannot use the history: file is not a database"):
        import_results(file, [file])
    assert file.read_bytes() == before
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(HistoryError, match="this SQLite file is no history"):
        import_results(other, [file])


def test_a_history_of_a_newer_dispatchgen(tmp_path: Path) -> None:
    imported(tmp_path, run("one"))
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(HistoryError, match="schema has version 9"):
        imported(tmp_path, run("two"))


def test_a_history_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="cannot use the history: unable to open database file"):
        import_results(tmp_path / "none" / "history.sqlite", [written(tmp_path, run("one"))])


def test_a_full_disk_is_told_and_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail(f"it waits {seconds} s"))
    resource = pytest.importorskip("resource")
    file = written(tmp_path, run("one"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (0, 8192):  # nothing can be written, or the tables only
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            with pytest.raises(HistoryError, match=r"cannot use the history: .*(disk|full)"):
                import_results(tmp_path / f"{most}.sqlite", [file])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _large_files(folder: Path, runs: int, benchmarks: int) -> list[Path]:
    """Result files of many benchmarks each."""
    data = run("one", dispatches(names=["a"])).model_dump(mode="json")
    [template] = data["calls"][0]["dispatches"]
    paths = []
    for index in range(runs):
        data["id"] = f"run{index}"
        names = [f"{index % 2}_{number}" for number in range(benchmarks)]
        found = [{**template, "name": name, "benchmark": name, "content": name} for name in names]
        data["calls"][0]["dispatches"] = found
        paths.append(folder / f"run{index}.json")
        paths[-1].write_text(json.dumps(data))
    return paths


def _command(history: Path, files: Sequence[Path]) -> list[str]:
    return [sys.executable, "-m", "dispatchgen", "history", "import", "--history", str(history), *map(str, files)]


def _runs(history: Path) -> int:
    """How many runs a history has, read while others write."""
    if not history.exists():
        return 0
    connection = sqlite3.connect(f"file:{history}?mode=ro", uri=True)
    try:
        [number] = connection.execute("SELECT count(*) FROM runs").fetchone()
        return int(number)
    except sqlite3.OperationalError:  # no table yet
        return 0
    finally:
        connection.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten runs of 2000 benchmarks."""
    return _large_files(tmp_path_factory.mktemp("runs"), 10, 2000)


@pytest.fixture(scope="module")
def expected(files: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """What their history holds."""
    history = tmp_path_factory.mktemp("expected") / "history.sqlite"
    import_results(history, files)
    return content(history)


@pytest.mark.slow
def test_two_processes_at_once(files: Sequence[Path], expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    with support.started(_command(history, files)) as one, support.started(_command(history, files[::-1])) as other:
        assert one.wait(support.TIMEOUT) == 0
        assert other.wait(support.TIMEOUT) == 0
    assert content(history) == expected


@pytest.mark.slow
def test_killed_at_any_moment(files: Sequence[Path], expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    for runs in (1, 5):
        with support.started(_command(history, files)) as process:
            support.wait_until(lambda runs=runs: _runs(history) >= runs, process)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            assert process.wait(support.TIMEOUT) == -signal.SIGKILL
        there = content(history)  # only whole runs
        assert {row[0] for row in there} < {row[0] for row in expected}
        assert set(there) < set(expected)
    import_results(history, files)
    assert content(history) == expected
