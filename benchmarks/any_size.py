"""A function that takes sizes against the listed function of the same module at the same shape: the ratio of times.

Both dispatch the same kernel with the same sizes; one has them as constants, the other computes them at each call. They
are run in turns, so that the machine is in the same state for both. The ratio is that of CPU time: on a machine that
does other work it is steadier than that of wall-clock time, which is printed too. Where a pair's ratio is too far from
1, it exits with 1.

    python benchmarks/any_size.py [SUITE...] [--rounds N] [--seconds T] [--batch-size N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import dispatchgen
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.suite import Device
from dispatchgen.results.benchmark import Runner, run_dispatches, run_sized
from dispatchgen.results.index import read_index
from dispatchgen.results.schema import Settings
from dispatchgen.results.task import Outcome, Sample
from hand_flow import cpu_name

#: Their times are the same but for noise between these ratios.
TARGET_RATIOS = (0.9, 1.1)
DEVICE = Device("local-sync", "local-sync")
REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results" / "any_size.json"


@dataclass(frozen=True)
class Pair:
    """Two functions of a module that dispatch the same."""

    module: Path
    listed: str
    sized: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """What a pair gave, medians: CPU time in seconds per dispatch, and ratios."""

    name: str
    batch_size: int
    listed: float
    sized: float
    wall_ratio: float

    @property
    def ratio(self) -> float:
        """Of CPU time: that of the function that takes sizes by that of the listed one."""
        return self.sized / self.listed

    @property
    def is_near(self) -> bool:
        """Whether the ratio is near enough to 1."""
        return TARGET_RATIOS[0] <= self.ratio <= TARGET_RATIOS[1]


def pairs(suite: Path) -> Iterator[Pair]:
    """The pairs of a suite that is built: of each dispatch with one function that takes sizes, at each call."""
    tree = BuildTree(suite / ".dispatchgen" / "build")
    for path in sorted((suite / "locks").glob("*.json")):
        lock = read_lock(path)
        for backend in lock.backends:
            for dispatch in read_index(tree, lock.model, backend).dispatches:
                module = tree.dispatch_module(lock.model, backend, dispatch.name)
                for call in lock.calls if len(dispatch.parameterized) == 1 else ():
                    yield from _at(module, dispatch, call)


def _at(module: Path, dispatch: Dispatch, call: Call) -> Iterator[Pair]:
    (function,) = dispatch.parameterized
    listed = [benchmark.name for benchmark in dispatch.benchmarks if call.name in benchmark.counts]
    if len(listed) == 1:
        yield Pair(module, listed[0], function.name, tuple(call.symbols[symbol] for symbol in function.symbols))


def measure(
    runner: Runner, pair: Pair, batch_size: int, rounds: int, output: Path
) -> tuple[list[Sample], list[Sample]]:
    """Times of the listed function and of the one that takes sizes, in each round."""
    listed, sized = [], []
    for _ in range(rounds):
        found = run_dispatches(runner, pair.module, [pair.listed], output, every=False, batch_size=batch_size)
        listed.append(_sample(found, pair.listed))
        found = run_sized(runner, pair.module, pair.sized, pair.sizes, output, batch_size=batch_size)
        sized.append(_sample(found, pair.sized))
    return listed, sized


def _sample(outcome: Outcome, function: str) -> Sample:
    if function not in outcome.samples:
        raise SystemExit(f"{function} failed: {outcome.absent or outcome.failures}")
    return outcome.samples[function]


def batch_size_for(program: Path, pair: Pair, seconds: float, batch_size: int, output: Path) -> int:
    """As many dispatches per call as asked for, unless they take longer than the benchmark is to."""
    once = Runner(program, DEVICE, Settings(min_time="1x", repetitions=1, batch_size=1))
    (time,) = _sample(run_dispatches(once, pair.module, [pair.listed], output, every=False), pair.listed).real
    return max(1, min(batch_size, int(seconds / time)))


def print_table(rows: Sequence[Row]) -> None:
    """Prints the medians of each pair, and whether their ratio is near enough to 1."""
    table = Table(title=f"with sizes by listed, medians; the ratio of CPU time is to lie in {TARGET_RATIOS}")
    for column in ("benchmark", "batch", "listed, CPU", "with sizes, CPU", "ratio", "ratio of wall-clock time", ""):
        table.add_column(column)
    for row in rows:
        cells = [f"{row.listed * 1e6:.2f} us", f"{row.sized * 1e6:.2f} us", f"{row.ratio:.3f}", f"{row.wall_ratio:.3f}"]
        table.add_row(row.name, str(row.batch_size), *cells, "ok" if row.is_near else "too far")
    table.add_row("geometric mean", "", "", "", *(f"{mean:.3f}" for mean in means(rows)), "")
    Console(width=120).print(table)


def means(rows: Sequence[Row]) -> tuple[float, float]:
    """Geometric means of the ratios of CPU time and of wall-clock time."""
    return (
        statistics.geometric_mean(row.ratio for row in rows),
        statistics.geometric_mean(row.wall_ratio for row in rows),
    )


def write_results(rows: Sequence[Row], raw: Sequence[dict[str, object]], seconds: float, path: Path) -> None:
    """The figures, raw ones too, with what they were measured on."""
    cpu, wall = means(rows)
    result = {
        "target_ratios": TARGET_RATIOS,
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("iree-base-compiler", "iree-base-runtime")},
            "dispatchgen": dispatchgen.__version__,
        },
        "seconds": seconds,
        "ratios": {"cpu": round(cpu, 3), "wall": round(wall, 3)},
        "pairs": [
            {**asdict(row), "ratio": round(row.ratio, 3), **of_row} for row, of_row in zip(rows, raw, strict=True)
        ],
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Builds the suites, runs the pairs, prints the table and keeps the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    suites = [REPOSITORY / "samples" / name for name in ("mlp", "control_flow")]
    parser.add_argument("suites", nargs="*", type=Path, default=suites)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="at least, per benchmark and round")
    parser.add_argument("--batch-size", type=int, default=16, help="dispatches per call, unless they take too long")
    arguments = parser.parse_args()
    program = find_tools().iree_benchmark_module
    rows: list[Row] = []
    raw: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for index, suite in enumerate(arguments.suites):
            copy = Path(folder, str(index))
            shutil.copytree(suite, copy, ignore=shutil.ignore_patterns(".dispatchgen"))
            build = [sys.executable, "-m", "dispatchgen", "run", str(copy), "--rounds", "1", "--min-time", "1x"]
            subprocess.run(build, stdout=subprocess.DEVNULL, check=True)
            for pair in pairs(copy):
                output = Path(folder, "run.json")
                batch_size = batch_size_for(program, pair, arguments.seconds, arguments.batch_size, output)
                settings = Settings(min_time=f"{arguments.seconds}s", repetitions=1, batch_size=batch_size)
                samples = measure(Runner(program, DEVICE, settings), pair, batch_size, arguments.rounds, output)
                cpu = [statistics.median(sample.cpu[0] for sample in each) for each in samples]
                wall = [statistics.median(sample.real[0] for sample in each) for each in samples]
                rows.append(Row(pair.listed, batch_size, cpu[0], cpu[1], wall[1] / wall[0]))
                listed, sized = ([asdict(sample) for sample in each] for each in samples)
                raw.append({"rounds": {"listed": listed, "sized": sized}})
    if not rows:
        raise SystemExit("no dispatch has a function that takes sizes: nothing was measured")
    print_table(rows)
    write_results(rows, raw, arguments.seconds, RESULTS)
    print(f"figures: {RESULTS}")
    if far := [row.name for row in rows if not row.is_near]:
        raise SystemExit(f"error: the ratio of {', '.join(far)} does not lie in {TARGET_RATIOS}")


if __name__ == "__main__":
    main()
