"""The program that runs a step and records what it took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import REPOSITORY, TIMEOUT, wait_until

_PROGRAM = REPOSITORY / "genrules" / "cmake" / "private" / "record_step.py"
_MIB = 1 << 20


def _command(record: Path, *command: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(_PROGRAM), str(record), *command]


def _run(record: Path, *command: str, **options: object) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        _command(record, *command), capture_output=True, text=True, check=False, timeout=TIMEOUT, **options
    )
    return done


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code)


def test_seconds_and_peak_memory(tmp_path: Path) -> None:
    record = tmp_path / "x.step.json"
    done = _run(record, *_python("import time; x = bytearray(200 << 20); del x; time.sleep(0.2); print('out')"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "out\n", "")
    found = json.loads(record.read_text())
    assert found["seconds"] >= 0.2
    assert 200 * _MIB <= found["peak_bytes"] < 260 * _MIB
    assert [path.name for path in tmp_path.iterdir()] == ["x.step.json"]


def test_memory_of_a_process_that_the_command_starts_counts(tmp_path: Path) -> None:
    record = tmp_path / "x.step.json"
    inner = f"import subprocess; subprocess.run({list(_python('bytearray(100 << 20)'))!r}, check=True)"
    assert _run(record, *_python(inner)).returncode == 0
    assert json.loads(record.read_text())["peak_bytes"] >= 100 * _MIB


def test_a_small_command_has_no_more_than_this_program(tmp_path: Path) -> None:
    record = tmp_path / "x.step.json"
    assert _run(record, "true").returncode == 0
    assert json.loads(record.read_text())["peak_bytes"] < 30 * _MIB


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (_python("raise SystemExit(3)"), 3),
        (_python("import os; os.kill(os.getpid(), 9)"), 128 + 9),
        (("no-such-program",), 127),
        (("./no/such/program",), 127),
        (("/",), 127),
    ],
)
def test_no_record_of_what_failed(tmp_path: Path, command: tuple[str, ...], code: int) -> None:
    record = tmp_path / "x.step.json"
    record.write_text("of an earlier run")
    done = _run(record, *command)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    assert _run(tmp_path / "x", "no-such-program").stderr == "no-such-program: No such file or directory\n"


def test_arguments_environment_and_folder_are_the_commands_own(tmp_path: Path) -> None:
    texts = ["", " ", "a b", "$HOME", "`x`", "'\"", ";", "*", "\\", "\n", "--", "-o", "é漢", "\udcff"]
    code = "import os, sys; print(ascii([sys.argv[1:], os.getcwd(), os.environ]))"
    environment = {"PATH": os.environ["PATH"], "A": "b c", "LC_ALL": "C.UTF-8"}
    options = {"cwd": tmp_path, "env": environment}
    record = tmp_path / "a $x 'y' ;z.step.json"
    done = _run(record, *_python(code), *texts, **options)
    plain = subprocess.run(
        [*_python(code), *texts], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert (done.stdout, done.returncode) == (plain.stdout, 0)
    assert record.is_file()


@pytest.mark.parametrize("code", [0, 5])
def test_ctrl_c_is_the_commands_to_answer(tmp_path: Path, code: int) -> None:
    ready = tmp_path / "ready"
    answer = f"""
import signal, sys, time
def answer(*_):
    time.sleep(0.2)
    print("answered", flush=True)
    sys.exit({code})
signal.signal(signal.SIGINT, answer)
open({str(ready)!r}, "w").close()
time.sleep({TIMEOUT})
"""
    record = tmp_path / "x.step.json"
    command = _command(record, *_python(answer))
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(ready.exists, child)
    os.killpg(child.pid, signal.SIGINT)
    output, errors = child.communicate(timeout=TIMEOUT)
    assert (output, errors, child.returncode) == ("answered\n", "", code)
    assert record.exists() == (code == 0)


def test_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    done = _run(tmp_path / "missing" / "x.step.json", "true")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "x.step.json" in done.stderr
