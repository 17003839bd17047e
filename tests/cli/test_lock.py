"""`dispatchgen lock` from end to end: what it prints and writes. Bad input: `tests/lock/test_golden.py`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import support


@pytest.fixture
def suite(tmp_path: Path, samples_dir: Path) -> Path:
    folder = tmp_path / "mlp"
    shutil.copytree(samples_dir / "mlp", folder, ignore=shutil.ignore_patterns("locks"))
    return folder


@pytest.mark.slow
def test_lock_then_check_then_drift(suite: Path) -> None:
    first = support.run_cli("lock", cwd=suite)
    assert (first.code, first.stdout) == (0, "mlp/cpu: 2 of 2 dispatches\nmlp_static/cpu: 2 of 2 dispatches\n")
    assert "mlp: wrote locks/mlp.json\n" in first.stderr
    assert sorted(path.name for path in (suite / "locks").iterdir()) == ["mlp.json", "mlp_static.json"]

    again = support.run_cli("lock", suite)
    assert again.stdout == first.stdout
    assert f"mlp: {suite}/locks/mlp.json is current\n" in again.stderr

    assert support.run_cli("lock", suite, "--check").code == 0

    source = suite / "mlp.mlir"
    text = source.read_text()
    source.write_text(f"// A comment.\n{text}")
    stale = support.run_cli("lock", "--check", "--model", "mlp", cwd=suite)
    assert stale.code == 1
    assert (
        "error: model mlp: its lock is stale: the source file changed\n  its dispatches are as locked\n" in stale.stderr
    )
    assert stale.stderr.endswith("  try: dispatchgen lock --model mlp\n")

    source.write_text(text.replace("512", "256"))
    manifest = suite / "benchmarks.yaml"
    manifest.write_text(manifest.read_text().replace("512", "256"))
    drifted = support.run_cli("lock", suite, "--check", "--model", "mlp")
    assert drifted.code == 1
    assert "error: model mlp: its dispatches have drifted from its lock (the source file changed; " in drifted.stderr
    assert "  cpu: added: matmul_Dx256x784_f32\n" in drifted.stderr
    assert "  cpu: removed: matmul_Dx512x784_f32\n" in drifted.stderr
    assert drifted.stderr.endswith(f"  try: dispatchgen lock {suite} --model mlp\n")

    assert support.run_cli("lock", suite).code == 0
    assert support.run_cli("lock", suite, "--check").code == 0


def test_only_the_models_asked_for(suite: Path) -> None:
    result = support.run_cli("lock", "--model", "mlp_static", cwd=suite)
    assert (result.code, result.stdout) == (0, "mlp_static/cpu: 2 of 2 dispatches\n")
    assert [path.name for path in (suite / "locks").iterdir()] == ["mlp_static.json"]


@pytest.mark.slow
def test_locks_of_no_model_are_noted(suite: Path) -> None:
    locks = suite / "locks"
    locks.mkdir()
    (locks / "old.json").write_text("{}")
    (locks / "README.md").touch()
    note = "note: locks/old.json belongs to no model of benchmarks.yaml\n"
    first = support.run_cli("lock", cwd=suite)
    assert (first.code, first.stderr.count("note: "), note in first.stderr) == (0, 1, True)
    check = support.run_cli("lock", "--check", cwd=suite)
    assert (check.code, check.stderr.count("note: "), note in check.stderr) == (0, 1, True)
    assert "note: " not in support.run_cli("lock", "--model", "mlp", cwd=suite).stderr
    assert (locks / "old.json").read_text() == "{}"


@pytest.mark.parametrize(
    "arguments", [["--jobs", "0"], ["--timeout", "0"], ["--timeout", "soon"], ["--no-such-option"]]
)
def test_bad_arguments(suite: Path, arguments: list[str]) -> None:
    result = support.run_cli("lock", *arguments, cwd=suite)
    assert result.code == 2
    assert "Traceback" not in result.stderr


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without a free byte; needs the right to mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if not shutil.which("mount") or support.run_program(mount, check=False).returncode != 0:
        pytest.skip("no right to mount a file system")
    try:
        with pytest.raises(OSError, match="No space left"), (folder / "filler").open("wb", buffering=0) as filler:
            for _ in range(100):
                filler.write(bytes(4096))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, timeout=support.TIMEOUT)


def test_a_full_disk_under_the_locks(suite: Path, full_disk: Path) -> None:
    (suite / "locks").symlink_to(full_disk)
    result = support.run_cli("lock", "--model", "mlp", cwd=suite)
    assert result.code == 2
    assert "error: cannot write the file: No space left on device\n  at locks/mlp.json\n" in result.stderr
    assert [path.name for path in full_disk.iterdir()] == ["filler"]


def test_a_temporary_folder_that_fills_up(suite: Path, full_disk: Path) -> None:
    # With nothing free at all Python would choose another folder.
    os.truncate(full_disk / "filler", 8192)
    result = support.run_cli("lock", "--model", "mlp", cwd=suite, env={"TMPDIR": str(full_disk)})
    assert result.code == 2
    assert "error: model mlp" in result.stderr
    assert "No space left on device" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (suite / "locks").exists()
    assert [path.name for path in full_disk.iterdir()] == ["filler"]


@pytest.mark.parametrize("length", [60, 75, 200])
def test_a_temporary_folder_with_a_long_path(suite: Path, length: int) -> None:
    """At some length a socket in it has no valid path."""
    with tempfile.TemporaryDirectory(prefix="x", dir="/tmp") as base:
        folder = Path(base, "y" * (length - len(base) - 1))
        folder.mkdir()
        result = support.run_cli("lock", "--model", "mlp", cwd=suite, env={"TMPDIR": str(folder)})
        assert (result.code, result.stdout) == (0, "mlp/cpu: 2 of 2 dispatches\n"), result.stderr
        assert list(folder.iterdir()) == []


def test_check_without_the_compiler(suite: Path, samples_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(samples_dir / "mlp" / "locks", suite / "locks")
    nowhere = {"IREE_HOST_BIN_DIR": str(tmp_path / "nowhere")}
    check = ("lock", "--check", "--no-compile")
    assert support.run_cli(*check, cwd=suite, env=nowhere) == support.CliResult(0, "", "")

    source = suite / "mlp.mlir"
    source.write_text(f"// A comment.\n{source.read_text()}")
    lock = suite / "locks" / "mlp_static.json"
    lock.write_text(lock.read_text().replace("matmul_32x10x512", "matmul_32x11x512"))
    stale = support.run_cli(*check, cwd=suite, env=nowhere)
    assert stale.code == 2
    assert "error: model mlp: its lock is stale: the source file changed\n  at locks/mlp.json\n" in stale.stderr
    assert "error: the lock file was edited by hand" in stale.stderr

    (suite / "locks" / "mlp_static.json").unlink()
    assert "error: there is no lock file\n" in support.run_cli(*check, cwd=suite, env=nowhere).stderr


def test_a_lock_is_made_by_compiling(suite: Path) -> None:
    result = support.run_cli("lock", "--no-compile", cwd=suite)
    assert result.code == 2
    assert "--no-compile is for --check" in result.stderr
