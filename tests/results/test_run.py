"""Runs of builds in turns that are interrupted, of made-up tasks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from dispatchgen.cli.progress import ConsoleObserver
from dispatchgen.errors import ResultsError
from dispatchgen.results.journal import partial_of
from dispatchgen.results.prepare import Prepared
from dispatchgen.results.run import Build, Measured, RunOptions, run
from dispatchgen.results.scrub import make_scrubber
from dispatchgen.results.task import Outcome, Target
from made_up_tasks import Kernel, World, frame_of


def _build(file: Path, build: str, session: str, until: int = 1000) -> Build:
    """A build of one dispatch that Ctrl-C comes to after `until` processes; `build` is that of its target."""
    world = World()
    target = Target("model", "cpu", "local", "dispatch")
    task = world.task(f"d@{build}", {"d__1": Kernel(noise=0.1)}, group="d", target=target)
    measured = task.run

    def interrupted(names: Sequence[str], batch: int) -> Outcome:
        if world.ran[task.id] == until:
            raise KeyboardInterrupt
        return measured(names, batch)

    frame = frame_of([task]).model_copy(update={"id": f"{session}{build}", "session": session})
    task = replace(task, target=target._replace(build=build), run=interrupted)
    return Build(Prepared(frame, (task,), (), build), file, make_scrubber({}, hosts=[], users=[]))


def _run(builds: Sequence[Build], *, resume: bool = False) -> list[Measured]:
    return run(builds, RunOptions(resume=resume), ConsoleObserver(Console(file=io.StringIO())))


def test_builds_in_turns_go_on_only_with_each_other(tmp_path: Path) -> None:
    file, other = tmp_path / "a.json", tmp_path / "b.json"

    def both(session: str, until: int = 1000) -> list[Build]:
        return [_build(file, "", session, until), _build(other, "beside", session)]

    with pytest.raises(KeyboardInterrupt):
        _run(both("first", until=2))
    for alone in (_build(file, "", "second"), _build(other, "beside", "second")):
        with pytest.raises(ResultsError, match=r"in turns \(--beside\): 2 and 1"):
            _run([alone], resume=True)
    left = partial_of(other).read_bytes()
    with pytest.raises(KeyboardInterrupt):
        _run(both("second", until=1))
    partial_of(other).write_bytes(left)
    with pytest.raises(ResultsError, match="they were not measured in turns") as error:
        _run(both("third"), resume=True)
    assert str(partial_of(other)) in str(error.value)
    assert not file.exists() and not other.exists()
    with pytest.raises(KeyboardInterrupt):
        _run(both("fourth", until=2))
    measured = _run(both("fifth"), resume=True)
    assert [each.results.session for each in measured] == ["fourth", "fourth"]
    assert [each.results.calls[0].dispatches[0].failure for each in measured] == [None, None]
    assert all("interrupted and resumed" in each.results.environment.uncontrolled[-1] for each in measured)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_a_run_that_went_through_was_not_resumed(tmp_path: Path) -> None:
    (measured,) = _run([_build(tmp_path / "a.json", "", "s")])
    assert not any("resumed" in text for text in measured.results.environment.uncontrolled)
