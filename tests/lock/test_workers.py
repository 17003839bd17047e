"""One process per task. The tasks are calls of builtins, which every process can import."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psutil
import pytest

from dispatchgen.errors import DispatchgenError, Place, Problem, ToolError
from dispatchgen.lock.workers import run_tasks


def outcomes(function: Callable[[Any], Any], tasks: list[Any], jobs: int = 2) -> dict[Any, Any]:
    started: list[Any] = []
    result = {outcome.task: outcome for outcome in run_tasks(function, tasks, jobs, started.append)}
    assert started == tasks
    return result


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_every_task_has_its_value(jobs: int) -> None:
    result = outcomes(abs, [-1, -2, -3, -4, -5], jobs)
    assert {task: outcome.value for task, outcome in result.items()} == {-n: n for n in range(1, 6)}


def test_no_tasks() -> None:
    assert outcomes(abs, []) == {}


def test_a_crash_is_the_error_of_one_task() -> None:
    result = outcomes(signal.raise_signal, [signal.SIGSEGV, signal.SIGKILL, signal.SIGWINCH])
    assert result[signal.SIGWINCH].error is None
    assert isinstance(result[signal.SIGSEGV].error, ToolError)
    assert "crashed (SIGSEGV)" in str(result[signal.SIGSEGV].error)
    assert "most likely because memory ran out" in str(result[signal.SIGKILL].error)


def test_a_process_that_ends_without_a_result() -> None:
    assert "ended without a result: exit code 3" in str(outcomes(os._exit, [3])[3].error)


def test_a_bug_is_raised_with_where_it_was() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)Traceback.*ValueError: invalid literal"):
        outcomes(int, ["x"])


def test_all_problems_of_an_error_survive_the_way() -> None:
    copy = pickle.loads(pickle.dumps(DispatchgenError(Problem("one", Place("f", 1), "hint"), "two")))
    assert copy.problems == [Problem("one", Place("f", 1), "hint"), Problem("two")]


def test_whoever_leaves_the_loop_leaves_no_process() -> None:
    me = psutil.Process()
    others = set(me.children(recursive=True))
    before = time.monotonic()
    with closing(run_tasks(time.sleep, [0.01, 1000, 1000], 3, lambda task: None)) as results:  # noqa: ARG005
        assert next(results).task == 0.01
        sleeping = [child for child in me.children(recursive=True) if child not in others]
        assert sleeping
    assert time.monotonic() - before < 500
    alive = [child for child in sleeping if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    commands = [" ".join(child.cmdline()) for child in alive]
    # The fork server and the resource tracker stay as long as this process does.
    assert len(alive) <= 2, commands
