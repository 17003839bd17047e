"""An interrupt in the very moment in which a process starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from dispatchgen.iree import process


@pytest.fixture
def interrupted_popen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes Ctrl-C arrive after the process exists and before anybody could know it; returns the processes' ids."""
    started: list[int] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        child = popen(*arguments, **options)
        started.append(child.pid)
        signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_run_leaves_no_process(interrupted_popen: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt):
        process.run(SLEEP)
    (pid,) = interrupted_popen
    assert not psutil.pid_exists(pid)


def test_start_leaves_no_process_and_the_handlers_as_they_were(interrupted_popen: list[int]) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        process.start(SLEEP)
    (pid,) = interrupted_popen
    assert not psutil.pid_exists(pid)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_killing_reaches_process_groups_below() -> None:
    """Ninja starts each command in a group of its own; `setsid` would leave the session, `setpgid` does not."""
    code = (
        "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:], preexec_fn=os.setpgrp); "
        "print(child.pid, flush=True); child.wait()"
    )
    parent = process.start([sys.executable, "-c", code, *SLEEP])
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    process.kill_group(parent)
    parent.stdout.close()
    psutil.wait_procs([psutil.Process(child)] if psutil.pid_exists(child) else [], timeout=10)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
