"""Ctrl-C and its like in the middle of a real `dispatchgen lock`: no half-written file, no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import support

MANIFEST = "version: 1\nmodels:\n  a:\n    source: m.mlir\n  b:\n    source: m.mlir\n"
MODULE = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
#: A compiler that never ends and has a child; it writes half an output, and who it is.
COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "  IREE compiler version 3.13.0 @ fake"; exit 0; fi
sleep 1000 &
echo half > "$3"
echo $! $$ > pids/$$.new && mv pids/$$.new pids/$$
wait
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks.yaml").write_text(MANIFEST)
    (tmp_path / "m.mlir").write_text(MODULE)
    (tmp_path / "pids").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "a.json").write_text("what was there before")
    (tmp_path / "temporary").mkdir()
    compiler = tmp_path / "bin" / "iree-compile"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    return tmp_path


def pids(folder: Path) -> list[int]:
    files = [file for file in (folder / "pids").iterdir() if not file.suffix]
    return [int(pid) for file in files for pid in file.read_text().split()]


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; waits a little, since whoever adopts an orphan has yet to reap it."""
    for _ in range(200):
        running = [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        if not running:
            return []
        time.sleep(0.05)
    return running


@pytest.mark.parametrize(
    ("number", "to_all"),
    [
        pytest.param(signal.SIGINT, True, id="Ctrl-C in a terminal: the whole process group"),
        pytest.param(signal.SIGINT, False, id="SIGINT to dispatchgen"),
        pytest.param(signal.SIGTERM, False, id="SIGTERM to dispatchgen"),
    ],
)
def test_nothing_is_left(suite: Path, number: signal.Signals, to_all: bool) -> None:
    command = [sys.executable, "-m", "dispatchgen", "lock", "--jobs", "2", "--iree-host-bin-dir", "bin"]
    environment = {**support.cli_environment(), "TMPDIR": str(suite / "temporary")}
    pipe = subprocess.PIPE
    with support.started(command, cwd=suite, env=environment, stdout=pipe, stderr=pipe) as process:
        support.wait_until(lambda: len(pids(suite)) == 4, process)  # two compilers, each with a child
        family = psutil.Process(process.pid).children(recursive=True)
        family += [psutil.Process(pid) for pid in pids(suite)]
        if to_all:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        try:
            _, stderr = process.communicate(timeout=support.TIMEOUT)
        finally:
            left = alive(family)
            for each in left:  # the compilers are in sessions of their own
                each.kill()

    assert process.returncode == 130
    assert stderr.endswith("interrupted\n")
    assert "Traceback" not in stderr
    assert left == []
    assert {path.name: path.read_text() for path in (suite / "locks").iterdir()} == {"a.json": "what was there before"}
    assert list((suite / "temporary").iterdir()) == []
