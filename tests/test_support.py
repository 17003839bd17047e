"""What keeps the tests from hanging."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil

import support

_HANGS = """
import ctypes

def test_that_hangs():
    ctypes.PyDLL(None).sleep(600)  # with Python's global lock: no thread and no signal handler can end it

def test_that_passes():
    pass
"""


def test_a_hanging_test_is_ended_and_named_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(_HANGS)
    options: list[str | Path] = [
        "-c",
        support.REPOSITORY / "pyproject.toml",
        "--rootdir",
        tmp_path,
        "-p",
        "no:cacheprovider",
    ]
    command = [sys.executable, "-m", "pytest", *options, "-n", "1", "-o", "faulthandler_timeout=1", tmp_path]
    output = support.run_program(command, cwd=tmp_path, check=False).stdout
    assert "crashed while running 'test_it.py::test_that_hangs'" in output
    assert "in test_that_hangs" in output  # where: the stack
    assert "1 failed, 1 passed" in output


def test_no_process_outlives_its_context() -> None:
    child = "import subprocess, sys; subprocess.Popen(['sleep', '600']); print(flush=True); sys.stdin.read()"
    with support.started([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (sleep,) = psutil.Process(process.pid).children()
    assert process.returncode == -signal.SIGKILL
    assert support.is_gone(sleep.pid)


def test_interrupts_are_heard_where_the_shell_lets_its_jobs_ignore_them() -> None:
    code = "import signal, support; support.hear_interrupts(); signal.raise_signal(signal.SIGINT)"
    job = f"trap '' INT; cd {support.REPOSITORY / 'tests'}; '{sys.executable}' -c '{code}'"
    assert "KeyboardInterrupt" in support.run_program(["sh", "-c", job], check=False).stdout
