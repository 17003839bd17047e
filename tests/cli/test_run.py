"""`dispatchgen run` from a manifest to the table, with the real compiler, CMake and Ninja."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import support

pytestmark = pytest.mark.slow

MANIFEST = """
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: {DEVICES}
run: {rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: [2, 7]}
"""
SYNC = "[local-sync]"
SETTINGS = {
    "min_time": "1x",
    "repetitions": 1,
    "batch_size": 1,
    "rounds": 1,
    "precision": None,
    "caches": "warm",
    "cold_memory": None,
}
FIRST, SECOND = "matmul_Dx128x64_f32", "matmul_Dx32x128_f32"

MakeSuite = Callable[..., Path]


@pytest.fixture
def make_suite(tmp_path: Path, models_dir: Path) -> MakeSuite:
    """Makes a suite of mlp.mlir on the CPU; returns its folder."""

    def make(devices: str = SYNC, more: str = "") -> Path:
        suite = tmp_path / "suite"
        suite.mkdir(exist_ok=True)
        shutil.copy(models_dir / "mlp.mlir", suite)
        (suite / "benchmarks.yaml").write_text(MANIFEST.replace("{DEVICES}", devices) + more)
        return suite

    return make


def run(suite: Path, *arguments: str, host_bin_dir: Path | None = None) -> tuple[support.CliResult, dict[str, Any]]:
    """Runs the suite; returns what was printed, and the data."""
    data = suite / "results.json"
    data.unlink(missing_ok=True)
    env = {"IREE_HOST_BIN_DIR": str(host_bin_dir)} if host_bin_dir else {}
    result = support.run_cli("run", suite, "--json", data, *arguments, env=env)
    return result, json.loads(data.read_text()) if data.exists() else {}


def rows(data: dict[str, Any], call: str) -> dict[str, dict[str, Any]]:
    """The rows of a call's table, by the dispatch's name."""
    (found,) = (entry for entry in data["calls"] if entry["call"] == call)
    return {row["name"]: row for row in found["dispatches"]}


def stand_in_compiler(folder: Path, tools: support.IreeTools, pattern: str, action: str) -> Path:
    """A folder with an iree-compile that does `action` for files that match a pattern, and compiles all others."""
    folder.mkdir(exist_ok=True)
    script = f'#!/bin/sh\nfor word in "$@"; do case "$word" in {pattern}) {action};; esac; done\n'
    (folder / "iree-compile").write_text(script + f'exec {tools.compile} "$@"\n')
    (folder / "iree-compile").chmod(0o755)
    return folder


def test_every_dispatch_of_every_shape_is_measured(make_suite: MakeSuite) -> None:
    result, data = run(make_suite())
    assert result.code == 0, result.stderr
    assert [call["call"] for call in data["calls"]] == ["B2", "B7"]
    for call, size in (("B2", 2), ("B7", 7)):
        found = rows(data, call)
        assert set(found) == {FIRST, SECOND}
        for row in found.values():
            assert row["count"] == 1
            assert row["workload"] == [size]
            assert row["timing"]["seconds"] > 0
            assert row["total_seconds"] == row["timing"]["seconds"]
            assert row["export"].endswith(row["operation"])
    for call in data["calls"]:
        assert call["whole_model"]["timing"]["seconds"] > 0
        assert call["sum_seconds"] == pytest.approx(sum(row["total_seconds"] for row in call["dispatches"]))
        assert call["coverage"] == {"dispatches": 2, "measured": 2, "skipped": 0, "failed": 0, "left_out": 0}
        assert call["settings"].items() >= SETTINGS.items()
    assert (data["version"], data["buffers"], data["not_run"], data["build_failures"]) == (2, "zeros", [], [])
    assert result.stdout.count("2 of 2 dispatches") == 2
    assert f"{FIRST}__B2" in result.stdout
    assert "sum of dispatches" in result.stdout


def test_a_second_run_builds_nothing_and_measures_again(make_suite: MakeSuite) -> None:
    suite = make_suite()
    run(suite)
    folder = suite / ".dispatchgen" / "build" / "mlp" / "cpu"
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.vmfb")}
    result, data = run(suite, "--shape", "B7", "--repetitions", "3", "--batch-size", "5", "--min-time", "2x")
    assert result.code == 0, result.stderr
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.vmfb")} == before
    assert [call["call"] for call in data["calls"]] == ["B7"]
    settings = {**SETTINGS, "min_time": "2x", "repetitions": 3, "batch_size": 5}
    assert data["calls"][0]["settings"].items() >= settings.items()
    assert [len(each) for each in rows(data, "B7")[FIRST]["timing"]["real"]] == [3]
    raw = json.loads((suite / ".dispatchgen/build/results/mlp/cpu/local-sync" / f"{FIRST}.json").read_text())
    assert {entry["run_name"] for entry in raw["benchmarks"]} == {f"BM_{FIRST}__B7/process_time/real_time"}
    assert (suite / ".dispatchgen" / ".gitignore").read_text() == "*\n"


def test_data_on_standard_output_is_data_only(make_suite: MakeSuite) -> None:
    result = support.run_cli("run", make_suite(), "--shape", "B2", "--json", "-")
    assert result.code == 0, result.stderr
    assert json.loads(result.stdout)["version"] == 2
    assert "2 of 2 dispatches" in result.stderr


def test_a_dispatch_that_fails_to_compile_is_named_and_never_measured_from_an_earlier_build(
    make_suite: MakeSuite, tmp_path: Path, iree_tools: support.IreeTools
) -> None:
    suite = make_suite()
    tools = stand_in_compiler(tmp_path / "bin", iree_tools, "nothing", "exit 1")
    assert run(suite, host_bin_dir=tools)[0].code == 0
    stale = suite / ".dispatchgen" / "build" / "mlp" / "cpu" / f"{SECOND}.vmfb"
    assert stale.exists()

    manifest = suite / "benchmarks.yaml"
    manifest.write_text(manifest.read_text().replace("cpu=generic]", "cpu=generic, --iree-vm-emit-polyglot-zip=true]"))
    stand_in_compiler(tools, iree_tools, f"*/{SECOND}.mlir", 'echo "$word:3:7: error: no such luck" >&2; exit 1')
    result, data = run(suite, host_bin_dir=tools)
    assert result.code == 1
    assert not stale.exists()
    for call in ("B2", "B7"):
        found = rows(data, call)
        assert found[SECOND]["timing"] is None
        assert found[SECOND]["failure"].startswith("compile: ")
        assert "no such luck" in found[SECOND]["failure"]
        assert found[FIRST]["timing"]["seconds"] > 0
    (failure,) = data["build_failures"]
    assert [failure[key] for key in ("step", "model", "backend", "dispatch")] == ["compile", "mlp", "cpu", SECOND]
    assert "1 of 2 dispatches, 1 failed" in result.stdout
    assert "1 dispatch could not be built or run" in result.stderr
    assert "renewed the stale lock" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_compiler_that_hangs_is_killed_and_the_rest_is_measured(
    make_suite: MakeSuite, tmp_path: Path, iree_tools: support.IreeTools
) -> None:
    suite = make_suite()
    pid_file = tmp_path / "pid"
    hang = f"trap '' INT TERM; echo $$ > {pid_file}; while :; do sleep 1; done"
    tools = stand_in_compiler(tmp_path / "bin", iree_tools, f"*/{SECOND}.mlir", hang)
    result, data = run(suite, "--timeout", "10", host_bin_dir=tools)
    assert result.code == 1
    assert "no command ended within 10 s" in result.stdout
    found = rows(data, "B2")
    assert found[FIRST]["timing"]["seconds"] > 0
    assert "no command ended within 10 s" in found[SECOND]["failure"]
    assert not _alive(int(pid_file.read_text()))


def test_an_absent_device_is_skipped_and_said(make_suite: MakeSuite) -> None:
    devices = "{sync: {uri: local-sync}, elsewhere: {uri: 'vulkan://nosuchdevice'}}"
    suite = make_suite(devices)
    result, data = run(suite)
    assert result.code == 0, result.stderr
    assert {call["device"]["id"] for call in data["calls"]} == {"sync"}
    (missing,) = data["not_run"]
    assert (missing["device"]["id"], missing["cause"]) == ("elsewhere", "absent-device")
    assert "device elsewhere (vulkan://nosuchdevice) is absent" in result.stdout

    result, data = run(suite, "--device", "elsewhere")
    assert result.code == 1
    assert "devices that were asked for are absent: elsewhere" in result.stderr
    assert "nothing was measured" in result.stderr
    assert data["calls"] == []


def test_measuring_nothing_is_a_failure(make_suite: MakeSuite) -> None:
    result, _ = run(make_suite("{elsewhere: {uri: nosuchdriver}}"))
    assert result.code == 1
    assert "nothing was measured" in result.stderr


def test_a_model_that_is_wrong_does_not_keep_the_others_from_being_measured(make_suite: MakeSuite) -> None:
    suite = make_suite(more="  broken: {source: broken.mlir}\n")
    (suite / "broken.mlir").write_text("func.func @f( {}\n")
    result, data = run(suite)
    assert result.code == 2
    assert "model broken" in result.stderr
    assert rows(data, "B2")[FIRST]["timing"]["seconds"] > 0
    (failure,) = data["build_failures"]
    assert (failure["step"], failure["model"]) == ("lock", "broken")


def test_what_is_skipped_is_named_with_its_reason(make_suite: MakeSuite, models_dir: Path) -> None:
    """A size that only the device knows leaves a dispatch without a benchmark."""
    suite = make_suite(more="  nonzero: {source: nonzero.mlir, inputs: [Nxf32], shapes: {N: 8}}\n")
    shutil.copy(models_dir / "nonzero.mlir", suite)
    result, data = run(suite, "--model", "nonzero")
    assert result.code == 0, result.stderr
    (call,) = data["calls"]
    assert call["skipped"]
    for skip in call["skipped"]:
        assert f"skipped {skip['export']}: {skip['reason'].splitlines()[0]}" in result.stdout
    coverage = call["coverage"]
    assert coverage["skipped"] == len({skip["export"] for skip in call["skipped"]})
    assert coverage["dispatches"] == coverage["measured"] + coverage["skipped"]
    assert f"{coverage['measured']} of {coverage['dispatches']} dispatches, {coverage['skipped']} sk" in result.stdout


def test_counts_are_those_of_the_program(make_suite: MakeSuite, models_dir: Path) -> None:
    """A loop of five steps runs its dispatch five times, and the sum counts it five times."""
    more = """
  loop:
    source: ctrl.mlir
    inputs: [Ax64xf32, 32x64xf32, index=N]
    shapes: {label: five, A: 16, N: 5}
"""
    suite = make_suite(more=more)
    shutil.copy(models_dir / "ctrl.mlir", suite)
    result, data = run(suite, "--model", "loop")
    # Not the exit code: compiled by IREE 3.12, the whole program runs out of memory, as it does in iree-run-module.
    (call,) = data["calls"]
    assert call["coverage"]["failed"] == 0, result.stdout
    repeated = [row for row in call["dispatches"] if row["count"] == 5]
    assert len(repeated) == 1
    assert repeated[0]["total_seconds"] == pytest.approx(5 * repeated[0]["timing"]["seconds"])
    assert call["sum_seconds"] == pytest.approx(
        sum(row["timing"]["seconds"] * row["count"] for row in call["dispatches"])
    )


@pytest.mark.parametrize(
    ("moment", "sent"), [("building", signal.SIGINT), ("running", signal.SIGINT), ("running", signal.SIGTERM)]
)
def test_an_interrupted_run_leaves_no_process(
    make_suite: MakeSuite, tmp_path: Path, iree_tools: support.IreeTools, moment: str, sent: signal.Signals
) -> None:
    """Ctrl-C, and what a CI system sends when it cancels a job."""
    suite = make_suite()
    if moment == "building":
        tools = stand_in_compiler(tmp_path / "bin", iree_tools, f"*/{SECOND}.mlir", "sleep 600")
        waits_for = "sleep"
    else:
        tools = stand_in_compiler(tmp_path / "bin", iree_tools, "nothing", "exit 1")
        waits_for = "iree-benchmark-module"
    arguments = ["run", str(suite), "--iree-host-bin-dir", str(tools), "--min-time", "600s"]
    command = [sys.executable, "-m", "dispatchgen", *arguments]
    with support.started(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        children = _wait_for(process, waits_for)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=support.TIMEOUT)
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert [child.pid for child in children if _alive(child.pid)] == []


def _wait_for(process: subprocess.Popen[str], name: str) -> list[psutil.Process]:
    """All processes that `process` has started, once one of them has that name."""
    deadline = time.monotonic() + support.TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            children = psutil.Process(process.pid).children(recursive=True)
            if any(child.name() in (name, name[:15]) for child in children):
                return children
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.05)
    raise AssertionError(f"{name} was not started")


def _alive(pid: int) -> bool:
    """Whether a process is still there after the moment that a killed one needs to end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full")
def test_the_data_is_written_where_the_table_cannot_be(make_suite: MakeSuite) -> None:
    suite = make_suite()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dispatchgen", "run", str(suite), "--json", str(suite / "results.json")],
            env=support.cli_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=support.TIMEOUT,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.endswith("error: cannot write the output: No space left on device\n")
    assert json.loads((suite / "results.json").read_text())["calls"][0]["dispatches"]
