"""Starting processes. Nothing else in dispatchgen does."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dispatchgen.errors import Problem, TimeLimitError, ToolError

#: Longest piece of a program's stderr that an error repeats, in characters.
_STDERR_LIMIT = 2000
#: Longest line of it: IREE's diagnostics repeat whole operations.
_LINE_LIMIT = 300
#: What sets colours and moves the cursor of a terminal, and what else is no text.
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: What ends a process: a CI system that cancels a job sends SIGTERM, a terminal that is closed SIGHUP.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True)
class Result:
    """What a finished process left."""

    command: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str


def plain(text: str) -> str:
    """`text` without what a terminal would act on: no colours, other control characters as escapes (`\\x07`)."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", _ESCAPE_SEQUENCE.sub("", text))


def shorten(text: str, limit: int = _STDERR_LIMIT) -> str:
    """`text` with long lines and a long middle cut, for people to read."""
    lines = [line if len(line) <= _LINE_LIMIT else f"{line[:_LINE_LIMIT]} [...]" for line in text.strip().splitlines()]
    short = plain("\n".join(lines))
    return short if len(short) <= limit else f"{short[: limit * 3 // 4]}\n[...]\n{short[-limit // 4 :]}"


def how_it_ended(returncode: int) -> str:
    """An exit code in words; a negative one is the signal that killed the process."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    if name == "SIGKILL":
        return "killed (SIGKILL), most likely because memory ran out"
    return f"crashed ({name})"


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kills a process that was started in a session of its own, with all its children, and waits for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    for pid in _session_members(process.pid):  # Ninja gives each command a process group of its own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def stop_group(process: subprocess.Popen[str], grace: float = 3.0) -> None:
    """Interrupts a process as Ctrl-C does, so that it can end its children; kills what is left after `grace`."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    kill_group(process)


def _session_members(session: int) -> list[int]:
    """The processes of a session, where the system lists processes in /proc."""
    members = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(int(entry.name)) == session:
                members.append(int(entry.name))
    return members


def start(
    command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Starts a process in a session of its own with its output, stderr included, on a pipe. Raises ToolError."""
    return _start(command, cwd, env, subprocess.PIPE, subprocess.STDOUT)


def _start(
    command: Sequence[str],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdout: IO[str] | int,
    stderr: IO[str] | int,
) -> subprocess.Popen[str]:
    """Starts a process in a session of its own. An interrupt meanwhile leaves no process: it is raised afterwards."""
    process: subprocess.Popen[str] | None = None
    try:
        with _interrupts_held():
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
                errors="replace",
                start_new_session=True,
                close_fds=False,  # Python's own are not inherited, but for locks: see `exclusive.hold`
            )
    except OSError as error:
        raise ToolError(Problem(f"cannot start {command[0]}: {error.strerror}")) from error
    except BaseException:
        if process is not None:
            kill_group(process)
        raise
    return process


def end_as_interrupted() -> None:
    """Has what ends this process raise KeyboardInterrupt, as Ctrl-C does, so that it leaves no process behind.

    What is ignored stays so: `nohup` ignores SIGHUP.
    """
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Puts off what interrupts until the body has ended; only the main thread gets it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    previous = {
        number: signal.signal(number, lambda received, _: pending.append(received))
        for number in (signal.SIGINT, *_ENDING)
        if callable(signal.getsignal(number))
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        for received in pending:
            signal.raise_signal(received)


def run(
    command: Sequence[str],
    *,
    timeout: float | None = None,
    check: bool = True,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Result:
    """Runs a command to its end, with no standard input.

    Args:
      command: Program and arguments; no shell reads them.
      timeout: Seconds; then the process is killed with its children.
      check: Whether an exit code other than 0 is an error.
      cwd: Working folder.
      env: Environment, instead of this process's own.

    Raises:
      TimeLimitError: it ran past the time limit.
      ToolError: it could not be started or (with `check`) failed; names the command, how it ended and the shortened
        stderr.
    """
    with (
        tempfile.TemporaryFile("w+", errors="replace") as stdout,
        tempfile.TemporaryFile("w+", errors="replace") as stderr,
    ):
        process = _start(command, cwd, env, stdout, stderr)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            kill_group(process)
            message = f"{Path(command[0]).name} did not end within {timeout:g} s and was killed"
            raise TimeLimitError(Problem(f"{message}\n  command: {shlex.join(command)}")) from None
        except BaseException:  # Ctrl-C above all: leave no child behind
            kill_group(process)
            raise
        stdout.seek(0)
        stderr.seek(0)
        result = Result(tuple(command), process.returncode, stdout.read(), stderr.read())
    if check and result.returncode != 0:
        raise ToolError(failure(result))
    return result


def failure(result: Result) -> Problem:
    """What to say of a command that failed."""
    message = f"{Path(result.command[0]).name} failed: {how_it_ended(result.returncode)}"
    message += f"\n  command: {shlex.join(result.command)}"
    output = shorten(result.stderr)
    if output:
        message += "\n  " + output.replace("\n", "\n  ")
    return Problem(message)
