"""check_outputs.sh: what becomes of the outcomes of `dispatchgen check-outputs`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support import REPOSITORY, TIMEOUT

_RUNNER = REPOSITORY / "genrules" / "bazel" / "private" / "check_outputs.sh"
_ABSENT = "error: the device hip://3 is absent: INVALID; no driver 'hip' registered"

#: Runs the runner for a program that ends with this code and output.
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=[shell for shell in ("dash", "bash") if shutil.which(shell)])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    def run_with(*options: str, prints: str = "a: agrees", ends: str = "exit 0") -> subprocess.CompletedProcess[str]:
        program, temporary = tmp_path / "a program", tmp_path / "tmp"
        program.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$@" > {tmp_path}/arguments\necho "{prints}"\n{ends}\n')
        program.chmod(0o755)
        temporary.mkdir()
        result = subprocess.run(
            [request.param, _RUNNER, *options, "hip://3", "--", program, "check-outputs", "$a b", ""],
            env={"PATH": "/usr/bin:/bin", "TEST_TMPDIR": str(temporary), "XML_OUTPUT_FILE": f"{tmp_path}/test.xml"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert list(temporary.iterdir()) == []
        return result

    return run_with


def _skip_reason(folder: Path) -> str | None:
    path = folder / "test.xml"
    skipped = ElementTree.parse(path).find(".//skipped") if path.exists() else None
    return skipped.get("message") if skipped is not None else None


def test_outputs_that_agree(run: Run, tmp_path: Path) -> None:
    outcome = run("--skip-absent-device")
    assert (outcome.returncode, outcome.stdout) == (0, "a: agrees\n")
    assert (tmp_path / "arguments").read_text() == "check-outputs\n$a b\n\n"
    assert _skip_reason(tmp_path) is None


@pytest.mark.parametrize("ends", ["exit 1", "exit 2", "kill -SEGV $$"])
def test_what_fails_fails(run: Run, tmp_path: Path, ends: str) -> None:
    outcome = run("--skip-absent-device", prints="error: a: binding 2 differs", ends=ends)
    assert outcome.returncode == 1
    assert "error: a: binding 2 differs\n" in outcome.stdout
    assert _skip_reason(tmp_path) is None


def test_an_absent_device_fails(run: Run, tmp_path: Path) -> None:
    outcome = run(prints=_ABSENT, ends="exit 1")
    assert outcome.returncode == 1
    assert "error: nothing was measured: this machine does not have the device hip://3\n" in outcome.stdout
    assert _skip_reason(tmp_path) is None


def test_an_absent_device_is_skipped_where_that_is_allowed(run: Run, tmp_path: Path) -> None:
    outcome = run("--skip-absent-device", prints=_ABSENT, ends="exit 1")
    assert outcome.returncode == 0
    assert _skip_reason(tmp_path) == f"no device hip://3: {_ABSENT}"


def test_a_dispatch_that_is_gone_is_skipped(run: Run, tmp_path: Path) -> None:
    placeholder = tmp_path / "a.check.mlir"
    placeholder.write_text("// dispatchgen: skipped: it is gone\nmodule {}\n")
    assert run("--placeholder", str(placeholder)).returncode == 0
    assert not (tmp_path / "arguments").exists()
    assert _skip_reason(tmp_path) == "it is gone"
