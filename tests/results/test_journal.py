from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import made_up_results
from dispatchgen.errors import OutputError, ResultsError
from dispatchgen.results import journal
from dispatchgen.results.environment import differences
from dispatchgen.results.journal import Journal, partial_of, resumed, started
from dispatchgen.results.lean import rows
from dispatchgen.results.load import INTERRUPTED, load, load_full
from dispatchgen.results.measure import measure
from dispatchgen.results.policy import Policy
from dispatchgen.results.schema import Host, Results
from dispatchgen.results.task import Outcome, Task
from dispatchgen.results.write import text_of
from made_up_tasks import Kernel, World, frame_of


def _tasks(world: World) -> list[Task]:
    substitute = world.task("d1/v", {"d1__a": Kernel(2e-4)}, group="d1")
    substitute = _with_variant(substitute, "v")
    return [
        world.task("d0", {"d0__a": Kernel(), "d0__b": Kernel(fails_at=3)}, batch_size="auto"),
        world.task("d1", {"d1__a": Kernel(noise=0.1)}, group="d1"),
        substitute,
        world.task("one", {"one": Kernel(1e-2)}, target=substitute.target._replace(kind="model", variant="")),
    ]


def _with_variant(task: Task, variant: str) -> Task:
    return Task(**{**vars(task), "target": task.target._replace(variant=variant)})


def _run(journal: Journal, tasks: Sequence[Task], world: World) -> None:
    records = journal.records
    elapsed = max((each.spent for each in records), default=0.0)
    measure(tasks, Policy("a"), lambda _: journal, elapsed=elapsed, now=world.now)


def _whole_run(path: Path) -> tuple[bytes, list[Task]]:
    """The journal of a run that was not finished, and its tasks."""
    world = World()
    tasks = _tasks(world)
    with started(path, frame_of(tasks), tasks) as kept:
        _run(kept, tasks, world)
    return partial_of(path).read_bytes(), tasks


def _counts(results: Results) -> dict[str, int]:
    return {row.benchmark: len(row.timing.rounds) if row.timing else 0 for row in results.calls[0].dispatches}


def test_what_a_killed_run_leaves_is_read_as_results(tmp_path: Path) -> None:
    data, _ = _whole_run(tmp_path / "r.json")
    partial = tmp_path / "r.json.partial"
    header = data.index(b"\n") + 1
    found = load_full(partial)
    assert found.finished is None
    assert _counts(found) == {"d0__a": 3, "d0__b": 0, "d1__a": 3}
    assert [row.failure for row in found.calls[0].dispatches] == [
        None,
        None,
        "after 1 round that went well: it crashed",
    ]
    assert len(list(rows(load(partial)))) == 2 * 6
    partial.write_bytes(data[:header])
    nothing = load_full(partial)
    assert {row.failure for row in nothing.calls[0].dispatches} == {INTERRUPTED}
    assert nothing.calls[0].whole_model.failure == INTERRUPTED


@given(part=st.floats(0, 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_journal_that_is_cut_anywhere_is_read_and_completed(tmp_path: Path, part: float) -> None:
    path = tmp_path / "r.json"
    data, _ = _whole_run(path)
    header = data.index(b"\n") + 1
    cut = header + round(part * (len(data) - header))
    partial_of(path).write_bytes(data[:cut])
    kept = journal.read(partial_of(path))
    assert len(kept.records) == data[header:cut].count(b"\n")
    assert kept.length == data.rfind(b"\n", 0, cut) + 1
    load(partial_of(path))
    world = World.after(kept.records)
    tasks = _tasks(world)
    with resumed(path, frame_of(tasks), tasks) as going_on:
        _run(going_on, tasks, world)
    assert partial_of(path).read_bytes() == data


def test_what_is_finished_takes_the_place_of_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("of an earlier run")
    tasks = _tasks(World())
    frame = frame_of(tasks)
    with started(path, frame, tasks) as kept:
        assert path.read_text() == "of an earlier run"
        kept.finish(text_of(frame))
    assert load_full(path) == frame
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_a_file_is_written_by_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    tasks = _tasks(World())
    frame = frame_of(tasks)
    with started(path, frame, tasks), started(tmp_path / "other.json", frame, tasks):
        for opened in (started, resumed):
            with (
                pytest.raises(OutputError, match="another run is measuring into this result file"),
                opened(path, frame, tasks),
            ):
                pass
    with resumed(path, frame, tasks):
        pass
    with started(path, frame, tasks) as again:
        again.finish(text_of(frame))


def test_a_new_run_takes_the_place_of_an_interrupted_one(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    _whole_run(path)
    tasks = _tasks(World())
    with started(path, frame_of(tasks), tasks):
        assert journal.read(partial_of(path)).records == ()


def test_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    tasks = _tasks(World())
    with (
        pytest.raises(ResultsError, match="there is no interrupted run to go on with"),
        resumed(tmp_path / "r.json", frame_of(tasks), tasks),
    ):
        pass


def test_an_interrupted_run_of_something_else_is_refused_with_all_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    _, tasks = _whole_run(path)
    before = partial_of(path).read_bytes()
    d0, d1, *_ = tasks
    new = World().task("new", {"n": Kernel()})
    changed = [Task(**{**vars(d0), "sha256": "other"}), Task(**{**vars(d1), "benchmarks": ("d1__z",)}), new]
    machine = made_up_results.MACHINE.model_copy(update={"memory_bytes": 1 << 30})
    frame = frame_of(tasks)
    environment = frame.environment.model_copy(
        update={
            "machine": machine,
            "software": frame.environment.software.model_copy(update={"runtime": "3.14.0"}),
        }
    )
    calls = tuple(
        call.model_copy(update={"settings": call.settings.model_copy(update={"repetitions": 7})})
        for call in frame.calls
    )
    frame = frame.model_copy(update={"environment": environment, "calls": calls})
    with pytest.raises(ResultsError) as error, resumed(path, frame, changed):
        pass
    text = str(error.value)
    for expected in (
        "d1/v: it is not measured any more",
        "one: it is not measured any more",
        "new: it was not measured",
        "d0: its module has changed",
        "d1: it measures something else",
        *differences(made_up_results.MACHINE, machine),
        "runtime: 3.13.0 and 3.14.0",
        "model on cpu, local: it was timed with other settings",
        "try: run without --resume",
    ):
        assert expected in text
    assert text.count("other settings") == 1
    assert partial_of(path).read_bytes() == before


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    data, tasks = _whole_run(path)
    lines = data.splitlines(keepends=True)
    partial_of(path).write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))
    with pytest.raises(ResultsError, match="the line is damaged") as error:
        load(partial_of(path))
    assert f"{partial_of(path)}:3" in str(error.value)
    partial_of(path).write_bytes(lines[0].replace(b'{"journal":1', b'{"journal":9'))
    with pytest.raises(ResultsError, match="has version 9"):
        load(partial_of(path))
    partial_of(path).write_bytes(b'{"journal":1}\n')
    with pytest.raises(ResultsError, match="this is no journal of dispatchgen"), resumed(path, frame_of(tasks), tasks):
        pass


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    world = World()
    tasks = _tasks(world)
    write = os.write

    def full(file: int, data: bytes) -> int:
        if world.ran.total() == 4 and len(data) > 20:
            return write(file, data[:20])
        if world.ran.total() == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    with started(path, frame_of(tasks), tasks) as kept:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left on device"):
            _run(kept, tasks, world)
    monkeypatch.undo()
    assert partial_of(path).read_bytes().endswith(b"}\n")
    assert len(journal.read(partial_of(path)).records) == 3


def test_all_that_an_outcome_has_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    world = World()
    host = Host(cpus=2, mhz_per_cpu=3000, load_avg=(0.5,))
    outcome = Outcome(failures={"b": "a\nb\u2028"}, host=host, absent="gone", hung="late")
    task = Task(**{**vars(world.task("t", {"b": Kernel()})), "run": lambda *_: outcome})
    with started(path, frame_of([task]), [task]) as kept:
        _run(kept, [task], world)
    (record,) = journal.read(partial_of(path)).records
    assert record.outcome == outcome
