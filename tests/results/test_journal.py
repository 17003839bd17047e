from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import made_up_results
import support
from dispatchgen.buildtree.exclusive import exclusive
from dispatchgen.errors import OutputError, ResultsError
from dispatchgen.iree import process
from dispatchgen.results import journal
from dispatchgen.results.environment import differences
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.journal import Journal, finish, partial_of, resumed, started
from dispatchgen.results.lean import rows
from dispatchgen.results.load import INTERRUPTED, load, load_full
from dispatchgen.results.measure import measure
from dispatchgen.results.policy import Policy
from dispatchgen.results.schema import Results, Shard
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
        finish([(kept, text_of(frame))])
    assert load_full(path) == frame
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_of_builds_in_turns_all_journals_stay_until_all_results_are_written(tmp_path: Path) -> None:
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    tasks = _tasks(World())
    frame = frame_of(tasks)
    other.mkdir()  # cannot be written
    with started(path, frame, tasks, 2) as first, started(other, frame, tasks, 2) as second:
        with pytest.raises(OutputError):
            finish([(first, text_of(frame)), (second, text_of(frame))])
        other.rmdir()
    with resumed(path, frame, tasks, 2) as first, resumed(other, frame, tasks, 2) as second:
        finish([(first, text_of(frame)), (second, text_of(frame))])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "b.json"]


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
        finish([(again, text_of(frame))])


def test_a_file_is_held_as_long_as_what_a_killed_run_started_lives(tmp_path: Path) -> None:
    """The benchmark that was being measured would run beside the next run's."""
    code = (
        "import sys; from pathlib import Path; from dispatchgen.buildtree.exclusive import exclusive;"
        "from dispatchgen.iree import process; from dispatchgen.results.journal import _made;"
        "folder = Path(sys.argv[1]);"
        "_made(folder / 'r.json.partial', b'', lambda new: new.replace(folder / 'r.json.partial'));"
        "held = exclusive(folder / 'build'); held.__enter__();"
        "process.run(['/bin/sh', '-c', f'echo $$ > {folder}/new; mv {folder}/new {folder}/pid; exec sleep 600'])"
    )
    tasks = _tasks(World())
    path, pid = tmp_path / "r.json", tmp_path / "pid"
    with support.started([sys.executable, "-c", code, str(tmp_path)]) as run:
        support.wait_until(pid.exists, run)
        run.kill()
        run.wait()
        try:
            for opened in (started(path, frame_of(tasks), tasks), exclusive(tmp_path / "build")):
                with pytest.raises(OutputError, match="or a process of one that was killed"), opened:
                    pass
        finally:
            os.kill(int(pid.read_text()), signal.SIGKILL)
    with started(path, frame_of(tasks), tasks), exclusive(tmp_path / "build"):
        left = process.start(["/bin/sh", "-c", "exec sleep 600"])
    try:  # a server that a compiler has started holds nothing
        with resumed(path, frame_of(tasks), tasks), exclusive(tmp_path / "build"):
            pass
    finally:
        process.kill_group(left)
        assert left.stdout is not None
        left.stdout.close()


def test_how_much_is_measured_may_change_and_the_rest_of_the_frame_stays(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    data, tasks = _whole_run(path)
    partial_of(path).write_bytes(data + b"{not whole")
    frame = frame_of(tasks)
    calls = tuple(
        call.model_copy(update={"settings": call.settings.model_copy(update={"rounds": 9, "precision": 0.5})})
        for call in frame.calls
    )
    now = frame.model_copy(
        update={
            "id": "now",
            "calls": calls,
            "measuring": frame.measuring.model_copy(update={"budget_seconds": 5.0}),
            "environment": frame.environment.model_copy(update={"uncontrolled": ("battery",)}),
        }
    )
    with resumed(path, now, tasks) as kept:
        assert len(kept.records) == data.count(b"\n") - 1
        kept.append(kept.records[0])
        with pytest.raises(OutputError), resumed(path, now, tasks):
            pass
    for found in (kept.frame, load_full(partial_of(path))):
        assert found.id == frame.id
        assert [call.settings for call in found.calls] == [call.settings for call in calls]
        assert found.environment.uncontrolled == (*frame.environment.uncontrolled, "battery")
    assert kept.frame.measuring.budget_seconds == 5.0
    assert partial_of(path).read_bytes().partition(b"\n")[2] == data.partition(b"\n")[2] + data.splitlines(True)[1]


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
            "pinned": (1, 2),
        }
    )
    calls = tuple(
        call.model_copy(
            update={"settings": call.settings.model_copy(update={"repetitions": 7}), "inputs": ("8xf32=7",)}
        )
        for call in frame.calls
    )
    measuring = frame.measuring.model_copy(update={"shard": Shard(index=1, count=2)})
    frame = frame.model_copy(update={"environment": environment, "calls": calls, "measuring": measuring})
    with pytest.raises(ResultsError) as error, resumed(path, frame, changed, 2):
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
        "model on cpu, local, one: inputs differ",
        "--pin: any processor and 1, 2",
        "--shard: it was another part",
        "builds that are measured in turns (--beside): 1 and 2",
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
    hint = r"this is no journal of dispatchgen(.|\n)*try: run without --resume"
    with pytest.raises(ResultsError, match=hint), resumed(path, frame_of(tasks), tasks):
        pass
    for times in (b"[]", b"[-1.0]", b"[1e308]"):
        partial_of(path).write_bytes(b"".join([lines[0], re.sub(rb'"real":\[.*?\]', b'"real":' + times, lines[1])]))
        with pytest.raises(ResultsError, match=r"the line is damaged: .*\.real"):
            load(partial_of(path))


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
