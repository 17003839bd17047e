"""nightly.sh: what `bazel run` of the baseline's targets becomes."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from support import REPOSITORY, TIMEOUT

_SCRIPT = REPOSITORY / "genrules" / "bazel" / "private" / "nightly.sh"

#: Runs the script in a mode, with these arguments of the user's.
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=[shell for shell in ("dash", "bash") if shutil.which(shell)])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """The script, in the runfiles of a target, with a dispatchgen that prints its arguments and the last file."""
    runfiles, workspace = tmp_path / "runfiles", tmp_path / "my workspace"
    runfiles.mkdir()
    (workspace / "here").mkdir(parents=True)
    program = runfiles / "dispatchgen"
    program.write_text('#!/bin/sh\nprintf "<%s>" "$@"\necho\nfor file; do [ ! -f "$file" ] || cat "$file"; done\n')
    program.chmod(0o755)

    def run_mode(mode: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        fixed = ["dispatchgen", "s/m.yaml", "//s:p.nightly", "s/p.nightly/test.outputs", "p", "main"]
        return subprocess.run(
            [request.param, _SCRIPT, mode, *fixed, *arguments],
            cwd=runfiles,
            env={
                "PATH": "/usr/bin:/bin",
                "BUILD_WORKSPACE_DIRECTORY": str(workspace),
                "BUILD_WORKING_DIRECTORY": str(workspace / "here"),
            },
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    return run_mode


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    """Where the test leaves what it wrote."""
    folder = tmp_path / "my workspace" / "bazel-testlogs" / "s" / "p.nightly" / "test.outputs"
    folder.mkdir(parents=True)
    return folder


def test_the_results_of_the_last_test_are_taken(run: Run, outputs: Path, tmp_path: Path) -> None:
    (outputs / "results.json").write_text("of last night\n")
    manifest, file = tmp_path / "my workspace" / "s" / "m.yaml", outputs / "results.json"
    outcome = run("check")
    assert outcome.stdout == f"<nightly><{manifest}><--preset><p><--results><{file}>\nof last night\n"
    for mode in ("save", "update"):
        expected = f"<baseline><{mode}><main><{file}><--manifest><{manifest}>\nof last night\n"
        assert run(mode).stdout == expected


@pytest.mark.skipif(not shutil.which("unzip"), reason="no unzip")
def test_older_bazels_zip_them(run: Run, outputs: Path) -> None:
    with zipfile.ZipFile(outputs / "outputs.zip", "w") as archive:
        archive.writestr("results.json", "of last night\n")
    outcome = run("save")
    assert outcome.stdout.endswith("/results.json><--manifest>" + outcome.stdout.partition("<--manifest>")[2])
    assert outcome.stdout.endswith("\nof last night\n")


@pytest.mark.skipif(not shutil.which("unzip"), reason="no unzip")
def test_of_both_the_newer_is_taken(run: Run, outputs: Path) -> None:
    """Other flags or another Bazel leave the one beside the other."""
    file, archive = outputs / "results.json", outputs / "outputs.zip"
    file.write_text("of the file\n")
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("results.json", "of the archive\n")
    for older, newer, expected in ((archive, file, "of the file\n"), (file, archive, "of the archive\n")):
        os.utime(older, (1000, 1000))
        os.utime(newer, (2000, 2000))
        assert run("save").stdout.endswith(expected)
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("other.json", "")
    outcome = run("save")
    assert outcome.returncode == 1, "the last test left no results: those of the test before are not taken for them"
    assert "error: there is no result of a last run: no " in outcome.stderr


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("update", ["--accept-slower", "*"]),
        ("check", ["--fail-on", "slower:5%", "--fail-on", "a b"]),
        ("save", ["--force"]),
    ],
)
def test_options_are_passed_on_and_are_no_results(run: Run, outputs: Path, mode: str, options: list[str]) -> None:
    (outputs / "results.json").write_text("of last night\n")
    passed = "".join(f"<{option}>" for option in options)
    assert f"{outputs}/results.json>{passed}" in run(mode, *options).stdout
    assert f"<a.json>{passed}" in run(mode, "a.json", *options).stdout
    assert "of last night" not in run(mode, "a.json", *options).stdout


@pytest.mark.parametrize(("mode", "arguments"), [("save", ["--force", "a.json"]), ("check", ["--results", "a.json"])])
def test_results_behind_options_are_not_put_beside_those_of_the_test(
    run: Run, outputs: Path, mode: str, arguments: list[str]
) -> None:
    (outputs / "results.json").touch()
    outcome = run(mode, *arguments)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: results go before options: ")


def test_results_of_the_users_are_where_bazel_was_started(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my workspace" / "here" / "a b.json").write_text("a\n")
    (tmp_path / "my workspace" / "here" / "c.json").write_text("c\n")
    outcome = run("check", "a b.json", "c.json")
    assert "<--results><a b.json><--results><c.json>\na\nc\n" in outcome.stdout
    assert "<save><main><a b.json><c.json>" in run("save", "a b.json", "c.json").stdout


def test_without_results_it_names_the_test(run: Run) -> None:
    outcome = run("check")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("error: there is no result of a last run: no ")
    assert outcome.stderr.endswith(
        "  try: bazel test //s:p.nightly; or give files with results after --, before options\n"
    )
