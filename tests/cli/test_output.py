"""Output that cannot be written: a full disk, a reader that is gone. No traceback, and an exit code that tells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import support

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="no /dev/full")


def shell(command: str, unbuffered: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a command of the shell, in which `$dispatchgen` is the command line."""
    return subprocess.run(
        ["bash", "-c", command.replace("$dispatchgen", f"'{sys.executable}' -m dispatchgen")],
        env={**support.cli_environment(), "PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=support.TIMEOUT,
        check=False,
    )


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["schema", "--help", "doctor"])
def test_a_full_disk_under_the_output(command: str, unbuffered: str) -> None:
    done = shell(f"$dispatchgen {command} > {FULL}", unbuffered)
    assert (done.returncode, done.stderr) == (2, "error: cannot write the output: No space left on device\n")


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_the_errors(unbuffered: str) -> None:
    done = shell(f"$dispatchgen lock nowhere 2> {FULL}", unbuffered)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_that_is_gone() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dispatchgen", "schema"],
            env=support.cli_environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=support.TIMEOUT,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_output_that_is_closed() -> None:
    assert shell("$dispatchgen schema >&-").returncode == 0
    assert shell("$dispatchgen lock nowhere 2>&-").returncode == 2
