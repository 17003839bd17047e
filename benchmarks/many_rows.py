"""How long comparing and reporting take, and how much memory, where results have very many rows.

`python benchmarks/many_rows.py` makes up two result files of 100,000 rows (10 rounds of 3 repetitions each), runs the
commands on them, each three times in processes of their own, and writes what the fastest took to
`benchmarks/results/many_rows.json`. Fails where a command takes longer or more memory than it may. The machine is to be
quiet: times are those of the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dispatchgen import __version__
from dispatchgen.results.environment_schema import Cpu, Environment, Machine, Software
from dispatchgen.results.schema import (
    RESULTS_VERSION,
    Coverage,
    DeviceUsed,
    Measuring,
    Results,
    Settings,
)

ROUNDS = 10
REPETITIONS = 3
#: Dispatches per call.
DISPATCHES = 100
_RESULTS = Path(__file__).resolve().parent / "results" / "many_rows.json"
_MACHINE = Machine(
    cpu=Cpu(model="Made-up CPU", architecture="x86_64", features=("avx2",), cores=8),
    memory_bytes=1 << 34,
    system="Linux 6.1",
    virtual_machine=None,
    container=None,
    devices=(),
)
#: Most seconds that a command may take.
LIMITS = {"compare": 5.0, "report": 10.0}
MOST_BYTES = 1_000_000_000


def main() -> None:
    """Measures and writes the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of each file")
    parser.add_argument("--runs", type=int, default=3, help="how often each command runs; the fastest counts")
    parser.add_argument("-o", "--output", type=Path, default=_RESULTS, help="default: %(default)s")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="many-rows-") as folder:
        base, new = Path(folder) / "base.json", Path(folder) / "new.json"
        write_results(base, arguments.rows, "base", slower=0.0)
        write_results(new, arguments.rows, "new", slower=0.02)
        commands = _commands(base, new, Path(folder))
        measured = [{"name": name, **fastest(command, arguments.runs)} for name, command in commands]
        sizes = [base.stat().st_size, new.stat().st_size]
    figures = {
        "dispatchgen": __version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "rows": arguments.rows,
        "rounds": ROUNDS,
        "repetitions": REPETITIONS,
        "file_bytes": sizes,
        "commands": measured,
    }
    arguments.output.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))
    wrong = list(_wrong(measured))
    if wrong:
        sys.exit("\n".join(f"error: {each}" for each in wrong))


def _commands(base: Path, new: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    outputs = [f"--{kind}={folder / kind}" for kind in ("json", "markdown", "junit")]
    yield "compare", ["compare", str(base), str(new)]
    yield "compare, with all outputs", ["compare", str(base), str(new), *outputs]
    yield "report", ["report", str(new), "--base", str(base), "-o", str(folder / "report.html")]


def fastest(arguments: list[str], runs: int) -> dict[str, Any]:
    """What the fastest run measured, with the most memory of any: nothing makes a program faster than it is."""
    found = [measure(arguments) for _ in range(runs)]
    return {**min(found, key=lambda each: each["seconds"]), "peak_bytes": max(each["peak_bytes"] for each in found)}


def measure(arguments: list[str]) -> dict[str, Any]:
    """Runs a command of dispatchgen: seconds, and the most memory that its process had, in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "dispatchgen", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"error: dispatchgen {arguments[0]} failed:\n{errors}")
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def _wrong(measured: list[dict[str, Any]]) -> Iterator[str]:
    for each in measured:
        limit = LIMITS.get(each["name"])
        if limit is not None and each["seconds"] > limit:
            yield f"{each['name']} took {each['seconds']} s, and may take {limit:g} s"
        if each["peak_bytes"] > MOST_BYTES:
            yield f"{each['name']} had {each['peak_bytes'] / 1e6:.0f} MB, and may have {MOST_BYTES / 1e6:.0f} MB"


def write_results(path: Path, rows: int, run: str, *, slower: float) -> None:
    """Writes made-up results of that many dispatches.

    Args:
      slower: Part of the dispatches that is 10 % slower.
    """
    chance = random.Random(run)
    frame = _frame(run).model_dump(mode="json")
    calls = [_call(index, chance, slower) for index in range(max(1, rows // DISPATCHES))]
    path.write_bytes(msgspec.json.encode({**frame, "calls": calls}))


def _frame(run: str) -> Results:
    software = Software(
        compiler="IREE compiler version 3.13.0",
        runtime="3.13.0",
        dispatchgen=__version__,
        python=platform.python_version(),
        kernel="6.1.0",
        flags={},
        commit=None,
        dirty=None,
    )
    return Results(
        version=RESULTS_VERSION,
        id=run,
        session=run,
        started="2026-01-01T00:00:00+00:00",
        finished="2026-01-01T01:00:00+00:00",
        environment=Environment(machine=_MACHINE, software=software, host=None),
        measuring=Measuring(rounds=ROUNDS),
        calls=(),
    )


def _call(index: int, chance: random.Random, slower: float) -> dict[str, Any]:
    dispatches = [_dispatch(index, number, chance, slower) for number in range(DISPATCHES)]
    settings = Settings(min_time="0.01s", repetitions=REPETITIONS, batch_size="auto", rounds=ROUNDS)
    coverage = Coverage(dispatches=DISPATCHES, measured=DISPATCHES, skipped=0, failed=0)
    total = sum(each["total_seconds"] for each in dispatches)
    return {
        "model": f"model_{index % 50}",
        "backend": "cpu",
        "device": DeviceUsed(id="local", uri="local-sync", run_flags=()).model_dump(),
        "call": f"B{index}",
        "function": "main",
        "shape": f"B{index}",
        "symbols": {"B": index},
        "inputs": [f"{index}x128xf32"],
        "settings": settings.model_dump(),
        "dispatches": dispatches,
        "initializers": [],
        "skipped": [],
        "uncounted": [],
        "whole_model": {"timing": _timing(total, chance), "failure": None},
        "sum_seconds": total,
        "sum_by_model": 1.0,
        "coverage": coverage.model_dump(),
    }


def _dispatch(call: int, number: int, chance: random.Random, slower: float) -> dict[str, Any]:
    name = f"matmul_like_Dx{8 * number}x128_f32"
    seconds = 1e-5 * (1 + number) * (1.1 if chance.random() < slower else 1.0)
    timing = _timing(seconds, chance)
    return {
        "name": name,
        "benchmark": f"{name}__B{call}",
        "operation": name,
        "executable": f"main_dispatch_{number}",
        "variant": "embedded_elf_x86_64",
        "export": f"main_dispatch_{number}_{name}",
        "content": f"{number:064x}",
        "workload": [call, number],
        "constants": [["i32", call]],
        "bindings": [call * 512, number * 4096, call * number * 32],
        "count": 1 + number % 4,
        "timing": timing,
        "total_seconds": timing["seconds"] * (1 + number % 4),
        "share": 0.01,
        "overhead_seconds": 1e-7,
        "compiled": {"seconds": 0.5, "peak_bytes": 1 << 27, "size": 12_345, "sha256": f"{number:064x}"},
    }


def _timing(seconds: float, chance: random.Random) -> dict[str, Any]:
    """Rounds with noise that makes them slower only."""
    real = [[_recorded(seconds * (1 + abs(chance.gauss(0, 0.01)))) for _ in range(REPETITIONS)] for _ in range(ROUNDS)]
    fastest = sorted(map(min, real))
    middle = sum(fastest[2:-2]) / len(fastest[2:-2])
    return {
        "seconds": middle,
        "cpu_seconds": middle,
        "low": middle * 0.995,
        "high": middle * 1.005,
        "noise": 0.005,
        "rounds": list(range(ROUNDS)),
        "at": [round(chance.random() + 60 * number, 3) for number in range(ROUNDS)],
        "fastest": [min(each) for each in real],
        "real": real,
        "cpu": real,
        "iterations": 1000,
        "batch_size": 16,
    }


def _recorded(seconds: float) -> float:
    """With as many digits as a run records."""
    return float(f"{seconds:.6e}")


if __name__ == "__main__":
    main()
