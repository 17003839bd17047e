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


def interruptible() -> None:
    """Undoes what a shell does to background jobs: they ignore Ctrl-C, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
    process = subprocess.Popen(
        [sys.executable, "-m", "dispatchgen", "lock", "--jobs", "2", "--iree-host-bin-dir", "bin"],
        cwd=suite,
        env={**support.cli_environment(), "TMPDIR": str(suite / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=interruptible,
    )
    while len(pids(suite)) < 4:  # two compilers, each with a child
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    family += [psutil.Process(pid) for pid in pids(suite)]
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    try:
        _, stderr = process.communicate(timeout=300)
    finally:
        left = alive(family)
        for each in [*left, *([psutil.Process(process.pid)] if process.poll() is None else [])]:
            each.kill()

    assert process.returncode == 130
    assert stderr.endswith("interrupted\n")
    assert "Traceback" not in stderr
    assert left == []
    assert {path.name: path.read_text() for path in (suite / "locks").iterdir()} == {"a.json": "what was there before"}
    assert list((suite / "temporary").iterdir()) == []
