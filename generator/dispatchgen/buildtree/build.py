"""Configuring a build tree with CMake and building it with Ninja, to the end even where something fails."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dispatchgen.buildtree import ninja
from dispatchgen.buildtree.layout import OWN_STEPS, BuildTree, Step
from dispatchgen.buildtree.programs import BuildPrograms
from dispatchgen.errors import OutputError, Place, Problem
from dispatchgen.files import write_if_changed
from dispatchgen.iree import process
from dispatchgen.iree.configure import diagnostics
from dispatchgen.ownership import IGNORE_ALL, check_build_folder

if TYPE_CHECKING:
    import subprocess

_NO_MESSAGE = "it failed without a message"
#: Longest part of a failed command's output that is kept, in characters.
_REASON_LIMIT = 1000

#: Called with each command that ended.
OnProgress = Callable[[ninja.Progress], None]


@dataclass(frozen=True)
class StepFailure:
    """A command of the build that failed."""

    step: Step
    reason: str


@dataclass(frozen=True)
class BuildReport:
    """How a build went."""

    failures: tuple[StepFailure, ...] = ()
    complete: bool = True  #: Whether everything that was asked for is up to date now.


def check_paths(*folders: Path) -> None:
    """Raises OutputError for folders that CMake cannot work in, however quoted: `;` separates list elements."""
    problems = [
        Problem("CMake cannot build where a path holds `;` or a line end", Place(str(folder)), "another folder")
        for folder in folders
        if ";" in str(folder) or "\n" in str(folder)
    ]
    if problems:
        raise OutputError(*problems)


def write_sources(folder: Path, cmake_lists: str) -> None:
    """Writes `CMakeLists.txt` into a folder that dispatchgen owns, with a .gitignore that hides all of it.

    Raises OutputError when it cannot be written, or the folder holds files of somebody else: then nothing is written.
    """
    check_build_folder(folder)
    write_if_changed(folder / ".gitignore", IGNORE_ALL)
    write_if_changed(folder / "CMakeLists.txt", cmake_lists)


def configure(
    programs: BuildPrograms, source_dir: Path, tree: BuildTree, definitions: Sequence[str], timeout: float | None
) -> None:
    """Runs CMake for Ninja, without the cache of an earlier run, which may remember tools that have moved.

    Args:
      definitions: `NAME=value`, for `-D`.
      timeout: Seconds.

    Raises:
      ToolError: CMake failed or ran past the time limit.
    """
    command = [str(programs.cmake), "--fresh", "-S", str(source_dir), "-B", str(tree.binary_dir), "-G", "Ninja"]
    command.append(f"-DCMAKE_MAKE_PROGRAM={programs.ninja}")
    command += [f"-D{definition}" for definition in definitions]
    process.run(command, timeout=timeout)


def build(
    programs: BuildPrograms,
    tree: BuildTree,
    targets: Sequence[str],
    *,
    jobs: int | None,
    timeout: float | None,
    on_progress: OnProgress,
) -> BuildReport:
    """Builds targets, going on where a command fails.

    Args:
      jobs: How many commands run at once; None: Ninja's own choice.
      timeout: Seconds in which at least one command has to end; then the whole build is killed.
      on_progress: Called with each command that ended.
    """
    command = [str(programs.ninja), "-C", str(tree.binary_dir), "-k", "0"]
    if jobs is not None:
        command.append(f"-j{jobs}")
    failures: list[StepFailure] = []
    child = process.start([*command, *targets], env={**os.environ, "NINJA_STATUS": ninja.STATUS})
    try:
        for event in ninja.read_events(_lines(child, timeout)):
            match event:
                case ninja.Progress():
                    on_progress(event)
                case ninja.FailedEdge(outputs, output):
                    step = tree.step_of(outputs[0] if outputs else "?")
                    failures.append(StepFailure(step, reason_of(output, is_own=step.step in OWN_STEPS)))
                case ninja.Message(text):
                    failures.append(StepFailure(Step("build"), text))
        returncode = child.wait()
    except _NoProgress:
        process.stop_group(child)
        failures.append(StepFailure(Step("build"), f"no command ended within {timeout:g} s: the build was killed"))
        return BuildReport(tuple(failures), complete=False)
    except BaseException:  # Ctrl-C above all: leave no child behind
        process.stop_group(child)
        raise
    if returncode != 0 and not failures:
        failures.append(StepFailure(Step("build"), f"ninja: {process.how_it_ended(returncode)}"))
    return BuildReport(tuple(failures), complete=returncode == 0)


def up_to_date(programs: BuildPrograms, tree: BuildTree, outputs: Sequence[Path]) -> frozenset[Path]:
    """Which of these outputs Ninja would not make again: after a failed build, the others are of an earlier one.

    Asks Ninja itself, all at once first and one by one only where something is out of date.
    """
    if not outputs:
        return frozenset()
    if _nothing_to_do(programs, tree, outputs):
        return frozenset(outputs)
    if len(outputs) == 1:
        return frozenset()
    middle = len(outputs) // 2
    return up_to_date(programs, tree, outputs[:middle]) | up_to_date(programs, tree, outputs[middle:])


def _nothing_to_do(programs: BuildPrograms, tree: BuildTree, outputs: Sequence[Path]) -> bool:
    names = [output.relative_to(tree.binary_dir).as_posix() for output in outputs]
    command = [str(programs.ninja), "-C", str(tree.binary_dir), "-n", *names]
    result = process.run(command, check=False, timeout=60.0)
    return result.returncode == 0 and "ninja: no work to do." in result.stdout


def reason_of(output: str, *, is_own: bool = False) -> str:
    """Why a command failed, from what it printed.

    Args:
      output: It: the compiler's first errors are taken, else all of it, shortened.
      is_own: Whether it is a command of dispatchgen: each of its problems counts, and all of its text is taken.
    """
    if is_own:
        return output.strip().removeprefix("error: ") or _NO_MESSAGE
    problems = diagnostics(output)
    if problems:
        return "\n".join(f"{problem.place}: {problem.message}" for problem in problems)
    return process.shorten(output, _REASON_LIMIT).removeprefix("error: ") or _NO_MESSAGE


class _NoProgress(Exception):
    """The time limit of the build has passed."""


def _lines(child: subprocess.Popen[str], timeout: float | None) -> Iterator[str]:
    """The lines that a process prints, of which commands print anything. Raises _NoProgress after `timeout` seconds
    without a status line.
    """
    received: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        # Closed here alone: closing would wait for a read that goes on, as long as any process has the pipe.
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                received.put(line)
        received.put(None)

    threading.Thread(target=read, daemon=True).start()
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            line = received.get(timeout=None if deadline is None else max(deadline - time.monotonic(), 0))
        except queue.Empty:
            raise _NoProgress from None
        if line is None:
            return
        if deadline is not None and timeout is not None and line.startswith("[dispatchgen "):
            deadline = time.monotonic() + timeout
        yield process.plain(line)
