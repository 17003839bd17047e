"""One process per task, a few at a time.

A process of its own because reading IR takes hundreds of megabytes that Python does not give back, holds Python's
global lock, and can crash: a crash then is the error of one task. When the caller is interrupted, every process is
ended together with the programs it started.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Generic, TypeVar

from dispatchgen.errors import DispatchgenError, Problem, ToolError
from dispatchgen.iree.process import how_it_ended

Task = TypeVar("Task")
Value = TypeVar("Value")

#: The fork server listens on a socket in the temporary folder, `pymp-xxxxxxxx/listener-xxxxxxxx`, and the path of a
#: socket has 103 characters at most (macOS; Linux: 107).
_LONGEST_TEMPORARY_FOLDER = 103 - len("/pymp-xxxxxxxx/listener-xxxxxxxx")
#: Seconds that an interrupted process gets to kill the programs it started.
_GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome(Generic[Task, Value]):
    """How a task ended: with a value, or with an error that a user can cause."""

    task: Task
    value: Value | None
    error: DispatchgenError | None


def run_tasks(
    function: Callable[[Task], Value],
    tasks: Sequence[Task],
    jobs: int,
    on_start: Callable[[Task], None],
    preload: Sequence[str] = (),
) -> Generator[Outcome[Task, Value], None, None]:
    """Calls `function` with each task in a process of its own, `jobs` at a time, and yields the outcomes as they come.

    Args:
      function: A function at the top of a module; it, the tasks and the values must be picklable.
      preload: Modules that are imported once for all processes, where the platform can.

    An error in `function` that no user can cause is raised here. However the loop is left, no process is left behind.
    """
    context = _context(preload)
    waiting = list(reversed(tasks))
    running: dict[Connection, tuple[BaseProcess, Task]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < max(jobs, 1):
                task = waiting.pop()
                on_start(task)
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(function, task, sender), daemon=False)  # type: ignore[attr-defined]
                process.start()
                running[receiver] = (process, task)
                sender.close()
            ready = wait(list(running))
            for receiver in [receiver for receiver in running if receiver in ready]:
                outcome: Outcome[Task, Value] = _receive(receiver, *running[receiver])
                del running[receiver]
                yield outcome
    finally:
        _end([process for process, _ in running.values()])


def _context(preload: Sequence[str]) -> BaseContext:
    # Never a plain fork: the caller may have threads, such as that of a progress display.
    methods = multiprocessing.get_all_start_methods()
    too_long = len(os.fsencode(tempfile.gettempdir())) > _LONGEST_TEMPORARY_FOLDER
    if "forkserver" not in methods or too_long:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*preload])
    return context


def _work(function: Callable[[Task], Value], task: Task, sender: Connection) -> None:
    """What a worker process does; sends a pair of value and error."""

    def interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    # Ctrl-C reaches every process of a terminal; only the caller decides what it means, and says so by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        try:
            message: tuple[Any, Exception | None] = (function(task), None)
        except DispatchgenError as error:
            message = (None, error)
        except Exception as error:  # a bug: to be raised by the caller
            import traceback

            message = (None, RuntimeError("".join(traceback.format_exception(error))))
        sender.send(message)
    except KeyboardInterrupt:
        pass
    finally:
        sender.close()


def _receive(receiver: Connection, process: BaseProcess, task: Task) -> Outcome[Task, Value]:
    try:
        value, error = receiver.recv()
    except EOFError:
        process.join()
        how = how_it_ended(process.exitcode or 0)
        return Outcome(
            task, None, ToolError(Problem(f"the process that reads its program ended without a result: {how}"))
        )
    finally:
        receiver.close()
    process.join()
    if error is not None and not isinstance(error, DispatchgenError):
        raise error
    return Outcome(task, value, error)


def _end(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_GRACE_SECONDS)
    for process in processes:
        if process.is_alive():
            with contextlib.suppress(OSError):
                process.kill()
            process.join()
