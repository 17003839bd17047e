"""Starting processes: limits, signals, what is said of failures. Each with a real process."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import support
from dispatchgen.errors import ToolError
from dispatchgen.iree import process

SHELL = ["/bin/sh", "-c"]


def test_output_is_kept() -> None:
    result = process.run([*SHELL, "echo out; echo err >&2; exit 3"], check=False)
    assert (result.stdout, result.stderr, result.returncode) == ("out\n", "err\n", 3)


def test_arguments_are_not_read_by_a_shell(tmp_path: Path) -> None:
    nasty = ["a b", "$(touch x)", "`touch x`", ";", "'", '"', "\n", "*", "${HOME}"]
    result = process.run([sys.executable, "-c", "import sys; print(sys.argv[1:])", *nasty], cwd=tmp_path)
    assert result.stdout.strip() == str(nasty)
    assert not list(tmp_path.iterdir())


def test_output_that_is_not_utf8_is_no_error() -> None:
    assert "\N{REPLACEMENT CHARACTER}" in process.run([*SHELL, r"printf '\377'"]).stdout


def test_standard_input_is_empty() -> None:
    assert process.run([*SHELL, "cat"]).stdout == ""


def test_a_failure_shows_the_command_as_it_can_be_repeated() -> None:
    command = [*SHELL, "echo 'it is so' >&2; exit 7"]
    with pytest.raises(ToolError) as caught:
        process.run(command)
    text = str(caught.value)
    assert "sh failed: exit code 7" in text
    assert f"command: {shlex.join(command)}" in text
    assert "\n  it is so" in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SEGV", "crashed (SIGSEGV)"),
        ("ABRT", "crashed (SIGABRT)"),
        ("KILL", "killed (SIGKILL), most likely because memory ran"),
    ],
)
def test_a_signal_is_named(name: str, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        process.run([*SHELL, f"kill -{name} $$"])
    assert words in str(caught.value)


def test_the_time_limit_kills_the_children_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 1000 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait"
    with pytest.raises(ToolError, match=r"sh did not end within 1 s and was killed"):
        process.run([*SHELL, script], timeout=1)
    assert all(support.is_gone(int(pid)) for pid in pids.read_text().split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_interrupts_kills_the_children_too(tmp_path: Path, number: int) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 1000 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait"
    code = f"from dispatchgen.iree import process; process.end_as_interrupted(); process.run({[*SHELL, script]!r})"
    with support.started([sys.executable, "-c", code], stderr=subprocess.PIPE) as parent:
        support.wait_until(pids.exists, parent)
        parent.send_signal(number)
        _, stderr = parent.communicate(timeout=60)
        assert "KeyboardInterrupt" in stderr
        assert all(support.is_gone(int(pid)) for pid in pids.read_text().split())


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        process.end_as_interrupted()  # below `nohup`
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])


@pytest.mark.parametrize(("program", "reason"), [("/no/such/program", "No such file"), ("/", "Permission denied")])
def test_a_program_that_cannot_be_started(program: str, reason: str) -> None:
    with pytest.raises(ToolError, match=rf"cannot start {program}: {reason}"):
        process.run([program])


def test_what_a_terminal_acts_on_is_no_text() -> None:
    assert process.plain("a\tb\n\x1b[1;31mred\x1b[m \x1b]0;title\x07 \x00\x9b \u00e9") == (
        "a\tb\nred \\x1b]0;title\\x07 \\x00\\x9b \u00e9"
    )
    assert process.shorten("\x1b[2Jno\n") == "no"


def test_long_output_is_shortened_at_both_ends() -> None:
    text = "\n".join(["first", "x" * 100_000, *(f"line {i}" for i in range(10_000)), "last"])
    short = process.shorten(text)
    assert len(short) < 2500
    assert short.startswith("first\n")
    assert short.endswith("\nlast")
    assert process.shorten("a\nb") == "a\nb"
