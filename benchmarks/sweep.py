"""Time of a sweep of 16 shapes against 16 static recompiles by hand, and against one module with 16 functions.

All three give the time of one dispatch, the first matrix product of `samples/mlp`, at 16 batch sizes, each measured for
the same time. Nothing is kept from one to the next:

- sweep: `dispatchgen sweep`.
- by hand: for each shape the program with that batch is compiled up to its configured executables, where
  `--iree-hal-dump-executable-benchmarks-to=` has written its benchmarks; the dispatch's is compiled, and
  iree-benchmark-module runs it. What is measured is another kernel: code generation sees the batch.
- module: `dispatchgen repro`, whose script compiles the benchmark module with a function per shape and runs it.

The rounds are interleaved. Ratios are of wall-clock time, which is also what a user waits for.

    python benchmarks/sweep.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import dispatchgen
from hand_flow import cpu_name, cpu_seconds, run

RESULTS = Path(__file__).resolve().parent / "results" / "sweep.json"
#: A sweep takes at most this share of the time of recompiling by hand.
TARGET_RATIO = 0.5

_PROGRAM = Path(__file__).resolve().parent.parent / "samples" / "mlp" / "mlp.mlir"
_DISPATCH = "matmul_Dx512x784_f32"
_SIZES = range(8, 129, 8)
_MIN_TIME = "0.1s"
_LAUNCHERS = Path(sys.executable).parent
_MANIFEST = f"""\
version: 1
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx784xf32, 784x512xf32, 512xf32, 512x10xf32, 10xf32]
    shapes: {{B: {list(_SIZES)}}}
run: {{min_time: {_MIN_TIME}}}
"""
#: The backend that a manifest without `backends` compiles for.
_TARGET_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


@dataclass(frozen=True)
class Seconds:
    """How long a flow took."""

    wall: float
    cpu: float  #: Of all processes, user and system.


def prepare(folder: Path) -> None:
    """Writes the suite that dispatchgen's flows use."""
    shutil.copy(_PROGRAM, folder)
    (folder / "benchmarks.yaml").write_text(_MANIFEST)


def sweep(folder: Path) -> None:
    """Sweeps the dispatch."""
    sizes = f"B={_SIZES.start}..{_SIZES[-1]}:+{_SIZES.step}"
    run([*_dispatchgen("sweep"), "--dims", sizes, "--json", "sweep.json"], folder)
    (curve,) = json.loads((folder / "sweep.json").read_text())["curves"]
    assert [point["symbols"]["B"] for point in curve["points"] if point["timing"]] == list(_SIZES)


def module(folder: Path) -> None:
    """Compiles and runs the module with a function per shape."""
    run(["sh", "-c", f"{' '.join(_dispatchgen('repro'))} > repro.sh && sh repro.sh > times.txt"], folder)
    assert (folder / "times.txt").read_text().count("BM_") == len(_SIZES)


def by_hand(folder: Path) -> None:
    """Makes the program static, dumps, compiles and runs the dispatch, for each shape."""
    compiler = _LAUNCHERS / "iree-compile"
    for size in _SIZES:
        name = f"b{size}"
        (folder / f"{name}.mlir").write_text(static_program(size))
        dump = [f"--iree-hal-dump-executable-benchmarks-to={name}", "--compile-to=executable-configurations"]
        run([compiler, f"{name}.mlir", *_TARGET_FLAGS, *dump, "-o", f"{name}_configured.mlir"], folder)
        (file,) = (folder / name).glob("*dispatch_0_*_benchmark.mlir")
        run([compiler, file, *_TARGET_FLAGS, "--compile-from=executable-configurations", "-o", f"{name}.vmfb"], folder)
        runner = _LAUNCHERS / "iree-benchmark-module"
        timing = ["--device=local-sync", f"--benchmark_min_time={_MIN_TIME}"]
        run([runner, f"--module={name}.vmfb", *timing], folder)


def static_program(size: int) -> str:
    """The program with a batch that is known when it is compiled."""
    lines = [line for line in _PROGRAM.read_text().splitlines() if "tensor.dim" not in line]
    return "\n".join(lines).replace("tensor<?x", f"tensor<{size}x").replace("tensor.empty(%batch)", "tensor.empty()")


def _dispatchgen(command: str) -> list[str]:
    return [sys.executable, "-m", "dispatchgen", command, "mlp", "--dispatch", _DISPATCH]


FLOWS: dict[str, Callable[[Path], None]] = {"sweep": sweep, "by_hand": by_hand, "module": module}


def measure(flow: Callable[[Path], None]) -> Seconds:
    """One flow in a fresh folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        start = time.perf_counter()
        cpu = cpu_seconds(lambda: flow(folder))
        return Seconds(time.perf_counter() - start, cpu)


def ratio(rounds: list[dict[str, Seconds]], other: str) -> float:
    """Median over the rounds of the sweep's time by the other flow's of the same round."""
    return statistics.median(one["sweep"].wall / one[other].wall for one in rounds)


def print_table(rounds: list[dict[str, Seconds]]) -> None:
    """Medians of the rounds, and the ratios."""
    table = Table(title=f"{len(_SIZES)} shapes of {_DISPATCH}: median of {len(rounds)} rounds")
    for column in ("flow", "wall s", "CPU s", "sweep by it"):
        table.add_column(column, justify="left" if column == "flow" else "right")
    for name in FLOWS:
        wall = statistics.median(one[name].wall for one in rounds)
        cpu = statistics.median(one[name].cpu for one in rounds)
        table.add_row(name, f"{wall:.1f}", f"{cpu:.1f}", f"{ratio(rounds, name):.2f}")
    Console(width=100).print(table)


def write_results(rounds: list[dict[str, Seconds]], path: Path) -> None:
    """The raw figures, with what they were measured on."""
    result = {
        "target_ratio": TARGET_RATIO,
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("iree-base-compiler", "iree-base-runtime")},
            "dispatchgen": dispatchgen.__version__,
        },
        "shapes": list(_SIZES),
        "min_time": _MIN_TIME,
        "ratios": {f"sweep_by_{name}": round(ratio(rounds, name), 3) for name in FLOWS if name != "sweep"},
        "rounds": [{name: asdict(seconds) for name, seconds in one.items()} for one in rounds],
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")


def main() -> None:
    """Measures, prints the table and keeps the raw figures. Exits 1 where the ratio to the flow by hand is too high."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each flow is measured (default: 3)")
    rounds = [{name: measure(flow) for name, flow in FLOWS.items()} for _ in range(parser.parse_args().rounds)]
    print_table(rounds)
    write_results(rounds, RESULTS)
    if ratio(rounds, "by_hand") > TARGET_RATIO:
        sys.exit(f"error: a sweep takes more than {TARGET_RATIO} of the time of recompiling by hand")


if __name__ == "__main__":
    main()
