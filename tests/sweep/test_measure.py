"""Measuring, where the programs do not do as they should: stand-ins that hang, crash or count differently."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dispatchgen.extract.schema import Benchmark
from dispatchgen.manifest.suite import Device, Shape
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.schema import Settings
from dispatchgen.sweep.compiled import Compiled
from dispatchgen.sweep.executable import Runnable
from dispatchgen.sweep.measure import Measurer, measure_all
from dispatchgen.sweep.points import Sized
from dispatchgen.sweep.schema import Point

_TIMES_A_SIZE = """
import json, pathlib, sys, time
flags = dict(flag.lstrip("-").partition("=")[::2] for flag in sys.argv[1:])
if flags["workgroup_count"] == "4,1,1":
    time.sleep(60)
run = {"name": "BM_d", "run_name": "BM_d", "run_type": "iteration", "iterations": 1}
run |= {"real_time": 5, "cpu_time": 5, "time_unit": "us"}
host = {"host_name": "h", "num_cpus": 1, "mhz_per_cpu": 1}
pathlib.Path(flags["benchmark_out"]).write_text(json.dumps({"context": host, "benchmarks": [run]}))
"""
_COUNTS = """
import sys
size = int(sys.argv[-1].partition("=")[2])
if size == 13: sys.exit("runtime.c:1: INTERNAL; it is unlucky")
print("EXEC @workgroups")
for count in (size if size != 7 else 70, 1, 1): print(f"result[0]: i64={count}")
"""


def program(path: Path, text: str) -> Path:
    """A program that does what a Python script says."""
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def measured(folder: Path, sizes: list[int], timeout: float | None = None, **workgroups: Any) -> list[Point]:
    """What points of these sizes give, with as many workgroups as their size."""
    runner_program = program(folder / "iree-benchmark-executable", _TIMES_A_SIZE)
    runner = Runner(runner_program, Device("d", "d"), Settings(min_time=None, repetitions=1, batch_size=1), timeout)
    measurer = Measurer(runner, program(folder / "iree-run-module", _COUNTS), None, folder)
    files = Compiled(folder, folder, folder)
    nowhere: Any = None  # where sizes are from is asked for data that are not zeros
    counts: dict[tuple[int, ...], Any] = {(size,): workgroups.get(f"_{size}", (size, 1, 1)) for size in sizes}
    runnable = Runnable(files, "format", 0, counts)
    sized = [
        Sized(
            Shape(f"B{size}", {"B": size}),
            0,
            nowhere,
            Benchmark(name="d", workload=(size,), constants=(), bindings=(8,), counts={f"B{size}": 1}),
            nowhere,
        )
        for size in sizes
    ]
    return [each.point for each in measure_all(measurer, runnable, sized, lambda _: None)]


@pytest.mark.slow
def test_after_one_that_hangs_none_is_run(tmp_path: Path) -> None:
    first, hanging, last = measured(tmp_path, [1, 4, 5], timeout=8.0)
    assert first.timing is not None and first.timing.seconds == pytest.approx(5e-6)
    assert first.bytes_per_second == pytest.approx(8 / 5e-6)
    assert hanging.failure == "iree-benchmark-executable did not end within 8 s and was killed"
    assert last.failure == "it was not run, because B4 did not end in time"


def test_counts_that_differ_from_the_runtimes(tmp_path: Path) -> None:
    differing, right = measured(tmp_path, [7, 8])
    assert differing.failure == "its workgroup count is 7x1x1 by evaluation and 70x1x1 by the runtime"
    assert (differing.workgroups, differing.timing) == (None, None)
    assert right.workgroups == (8, 1, 1) and right.failure is None


def test_no_workgroups(tmp_path: Path) -> None:
    empty, full = measured(tmp_path, [0, 8])
    assert empty.is_empty and not full.is_empty
    assert (empty.workgroups, empty.timing, empty.bytes_per_second, empty.failure) == ((0, 1, 1), None, None, None)


def test_counts_that_are_not_known(tmp_path: Path) -> None:
    unknown, refused = measured(tmp_path, [5, 13], _5="it depends on the weather")
    assert unknown.failure == "it depends on the weather"
    assert refused.failure == "iree-run-module: exit code 1: it is unlucky (INTERNAL)"
