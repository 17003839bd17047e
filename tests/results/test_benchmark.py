"""Running iree-benchmark-module, the real one, on what works and what does not."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support
from dispatchgen.manifest.suite import Device
from dispatchgen.results.benchmark import Runner, filter_of, run_dispatches, run_model
from dispatchgen.results.schema import Settings

from .conftest import Modules

ONCE = Settings(min_time="1x", repetitions=1, batch_size=1)


@pytest.fixture
def runner(iree_tools: support.IreeTools) -> Runner:
    return Runner(iree_tools.benchmark_module, Device("sync", "local-sync"), ONCE, timeout=support.TIMEOUT)


def test_a_dispatch_is_timed(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    output = tmp_path / "new" / "folder" / "x.json"
    outcome = run_dispatches(runner, modules.dispatch, [modules.dispatch_function], output, every=True)
    assert outcome.failures == {}
    (seconds,) = outcome.samples[modules.dispatch_function].real
    assert 0 < seconds < 1
    assert outcome.host is not None
    assert output.is_file()


def test_times_are_per_dispatch_whatever_the_batch(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    """The library divides by iterations, of which a batch of 50 is 50; it is one call all the same."""
    twice = replace(runner, settings=Settings(min_time="1x", repetitions=2, batch_size=1))
    functions, output = [modules.dispatch_function], tmp_path / "x.json"
    outcome = run_dispatches(twice, modules.dispatch, functions, output, every=True, batch_size=50)
    sample = outcome.samples[modules.dispatch_function]
    assert sample.iterations == 1
    assert (len(sample.real), len(sample.cpu)) == (2, 2)
    assert json.loads(output.read_text())["benchmarks"][0]["iterations"] == 50


def test_a_whole_model_is_timed_with_its_inputs(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    outcome = run_model(runner, modules.model, "double", modules.flag_file, [], tmp_path / "x.json")
    assert outcome.failures == {}
    assert outcome.samples["double"].iterations == 1


def test_a_filter_selects_exactly_the_named_functions(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    for name in modules.names:
        outcome = run_dispatches(runner, modules.functions, [name], tmp_path / "x.json", every=False)
        assert list(outcome.samples) == [name]
        assert (tmp_path / "x.json").read_text().count('"run_name"') == 1
    outcome = run_dispatches(runner, modules.functions, modules.names[1:3], tmp_path / "x.json", every=False)
    assert set(outcome.samples) == set(modules.names[1:3])
    assert (tmp_path / "x.json").read_text().count('"run_name"') == 2


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1), st.text())
def test_a_filter_matches_its_own_name_and_no_other(name: str, other: str) -> None:
    pattern = re.compile(filter_of([name]))
    assert pattern.search(f"BM_{name}/process_time/real_time")
    if other != name and not other.startswith(f"{name}/"):
        assert not pattern.search(f"BM_{other}/process_time/real_time") or f"{other}/process_time".startswith(
            f"{name}/"
        )


def test_one_failing_function_does_not_take_the_others_along(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    functions = [modules.failing, *modules.names]
    outcome = run_dispatches(runner, modules.functions, functions, tmp_path / "x.json", every=True)
    assert set(outcome.samples) == set(modules.names)
    assert list(outcome.failures) == [modules.failing]
    assert outcome.failures[modules.failing].endswith("never (FAILED_PRECONDITION)")  # IREE 3.12 aborts before


def test_garbage_is_a_failure_with_the_runtimes_reason(runner: Runner, tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.vmfb"
    garbage.write_bytes(b"\xffnot a module" * 40)
    outcome = run_dispatches(runner, garbage, ["f", "g"], tmp_path / "x.json", every=True)
    assert outcome.samples == {}
    assert set(outcome.failures) == {"f", "g"}
    assert "INVALID_ARGUMENT" in outcome.failures["f"]
    assert outcome.absent is None


def test_a_missing_module_is_a_failure(runner: Runner, tmp_path: Path) -> None:
    outcome = run_dispatches(runner, tmp_path / "none.vmfb", ["f"], tmp_path / "x.json", every=True)
    assert "failed to open file" in outcome.failures["f"]


@pytest.mark.parametrize("uri", ["cuda", "hip://0", "nosuchdriver", "vulkan://nosuchdevice"])
def test_an_absent_device_is_told_from_a_failure(runner: Runner, modules: Modules, tmp_path: Path, uri: str) -> None:
    if uri == "cuda" and Path("/dev/nvidia0").exists():
        pytest.skip("this machine has a CUDA device")
    absent = replace(runner, device=Device("absent", uri))
    outcome = run_dispatches(absent, modules.dispatch, ["f", "g"], tmp_path / "x.json", every=True)
    assert outcome.absent
    assert outcome.samples == {}
    assert run_model(absent, modules.model, "double", modules.flag_file, [], tmp_path / "x.json").absent


def test_a_name_that_matches_nothing_is_a_failure(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("what an earlier run left")
    outcome = run_dispatches(runner, modules.dispatch, ["nothing"], tmp_path / "x.json", every=False)
    assert "ran nothing" in outcome.failures["nothing"]
    assert (tmp_path / "x.json").read_text() == ""


def test_a_function_that_the_module_lacks_is_a_failure(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    functions = ["nothing", modules.dispatch_function]
    outcome = run_dispatches(runner, modules.dispatch, functions, tmp_path / "x.json", every=True)
    assert list(outcome.samples) == [modules.dispatch_function]
    assert "ran nothing" in outcome.failures["nothing"]


def _stand_in(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_crash_is_named(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    crashing = replace(runner, program=_stand_in(tmp_path / "iree-benchmark-module", "kill -SEGV $$"))
    outcome = run_dispatches(crashing, modules.dispatch, ["f"], tmp_path / "x.json", every=True)
    assert outcome.failures == {"f": "iree-benchmark-module: crashed (SIGSEGV)"}


def test_a_run_without_end_is_killed_with_its_children(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    hanging = _stand_in(tmp_path / "tool", f"sleep 1000 & echo $! > {pid_file}; wait")
    outcome = run_dispatches(
        replace(runner, program=hanging, timeout=0.5), modules.dispatch, ["f"], tmp_path / "x.json", every=True
    )
    assert "did not end within 0.5 s" in outcome.failures["f"]
    assert not _alive(int(pid_file.read_text()))


@pytest.mark.slow
def test_what_had_ended_before_a_hang_is_kept(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    """The rest is tried once more: all together may just be slow."""
    hanging = replace(runner, timeout=2.0)
    outcome = run_dispatches(hanging, modules.hanging, ["a", "hangs", "b"], tmp_path / "x.json", every=True)
    assert list(outcome.samples) == ["a"]
    left = "it was not run, because hangs did not end in time"
    assert outcome.failures == {"hangs": "iree-benchmark-module did not end within 2 s and was killed", "b": left}
    assert outcome.hung == left


def test_a_call_that_does_not_end_is_named(runner: Runner, modules: Modules, tmp_path: Path) -> None:
    hanging = replace(runner, program=_stand_in(tmp_path / "iree-benchmark-module", "exec sleep 1000"), timeout=0.3)
    outcome = run_model(hanging, modules.model, "double", modules.flag_file, [], tmp_path / "x.json")
    assert outcome.failures == {"double": "iree-benchmark-module did not end within 0.3 s and was killed"}
    assert outcome.hung


def test_ctrl_c_leaves_no_process(modules: Modules, tmp_path: Path, iree_tools: support.IreeTools) -> None:
    code = f"""
from pathlib import Path
from dispatchgen.manifest.suite import Device
from dispatchgen.results.benchmark import Runner, run_dispatches
from dispatchgen.results.schema import Settings
settings = Settings(min_time="600s", repetitions=1, batch_size=1)
runner = Runner(Path({str(iree_tools.benchmark_module)!r}), Device("sync", "local-sync"), settings)
run_dispatches(runner, Path({str(modules.dispatch)!r}), ["f"], Path({str(tmp_path)!r}, "x.json"), every=True)
"""
    with support.started([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        children = _children(process.pid)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=support.TIMEOUT)
        assert [child.name() for child in children if _alive(child.pid)] == []


def _children(pid: int) -> list[psutil.Process]:
    """The processes that another one started, as soon as there are any."""
    deadline = time.monotonic() + support.TIMEOUT
    while time.monotonic() < deadline:
        children = psutil.Process(pid).children(recursive=True)
        if children:
            return children
        time.sleep(0.02)
    raise AssertionError("it started no process")


def _alive(pid: int) -> bool:
    """Whether a process is still there after the moment that a killed one needs to end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return False
        time.sleep(0.02)
    return True
