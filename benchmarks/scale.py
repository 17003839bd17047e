"""What a large suite costs: 1,000 models of 10 dispatches each, by default.

- Seconds and peak memory of `dispatchgen generate`, against those of CMake configuring and generating its output.
- Seconds of a build with Ninja that has nothing to do.

The suite is made up, and so are the steps of the first build: only what happens around them is measured.

    python benchmarks/scale.py [--models N] [--dispatches N] [--rounds N] [--no-build]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from made_up_suite import Cost, median_of, run, write_results, write_stand_ins, write_suite

#: `dispatchgen generate` takes at most this share of CMake's seconds, ...
TARGET_RATIO = 1.0
#: ... this much memory, ...
TARGET_MIB = 300.0
#: ... and a build with nothing to do at most these seconds.
TARGET_NO_OP_SECONDS = 0.5
RESULTS = Path(__file__).resolve().parent / "results" / "scale.json"


@dataclass
class Measurements:
    """All rounds."""

    generate: list[Cost] = field(default_factory=list)
    cmake: list[Cost] = field(default_factory=list)
    no_op: list[Cost] = field(default_factory=list)


def configure(programs: BuildPrograms, folder: Path, tools: Path) -> Cost:
    """Runs CMake in a fresh build folder."""
    return run(
        [
            *(programs.cmake, "--fresh", "-S", ".", "-B", "build", "-G", "Ninja"),
            *(f"-DCMAKE_MAKE_PROGRAM={programs.ninja}", f"-DIREE_HOST_BIN_DIR={tools}"),
            f"-DPython3_EXECUTABLE={tools / 'python3'}",
        ],
        folder,
    )


def measure(folder: Path, rounds: int, with_build: bool, tools: Path) -> Measurements:
    """Alternates between generating and CMake, so that both see the same machine, then builds."""
    programs = find_build_programs()
    measurements = Measurements()
    for _ in range(rounds):
        (folder / "CMakeLists.txt").unlink(missing_ok=True)
        measurements.generate.append(run([sys.executable, "-m", "dispatchgen", "generate", "--cmake"], folder))
        measurements.cmake.append(configure(programs, folder, tools))
    if with_build:
        build: list[str | Path] = [programs.ninja, "-C", "build", "iree-dispatch-benchmarks"]
        run(build, folder)
        measurements.no_op = [run(build, folder) for _ in range(rounds)]
    return measurements


def check(measurements: Measurements) -> list[str]:
    """The targets that were missed."""
    generate = median_of(measurements.generate, lambda cost: cost.seconds)
    missed = []
    if generate > TARGET_RATIO * median_of(measurements.cmake, lambda cost: cost.seconds):
        missed.append("generate takes longer than CMake")
    if max(cost.peak_mib for cost in measurements.generate) > TARGET_MIB:
        missed.append(f"generate takes more than {TARGET_MIB:g} MiB")
    if measurements.no_op and median_of(measurements.no_op, lambda cost: cost.seconds) > TARGET_NO_OP_SECONDS:
        missed.append(f"a build with nothing to do takes more than {TARGET_NO_OP_SECONDS:g} s")
    return missed


def print_table(measurements: Measurements, models: int, dispatches: int) -> None:
    """Medians over the rounds."""
    table = Table(title=f"{models} models of {dispatches} dispatches, median of the rounds")
    table.add_column("step")
    for column in ("seconds", "to CMake", "peak MiB"):
        table.add_column(column, justify="right")
    cmake = median_of(measurements.cmake, lambda cost: cost.seconds)
    rows = {
        "dispatchgen generate": measurements.generate,
        "cmake (configure and generate)": measurements.cmake,
        "ninja, nothing to do": measurements.no_op,
    }
    for name, costs in rows.items():
        if costs:
            seconds = median_of(costs, lambda cost: cost.seconds)
            peak = median_of(costs, lambda cost: cost.peak_mib)
            table.add_row(name, f"{seconds:.2f}", f"{seconds / cmake:.2f}", f"{peak:.0f}")
    Console(width=100).print(table)


def main() -> None:
    """Measures, prints the table and keeps the raw figures. Exits 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--dispatches", type=int, default=10, help="per model (default: 10)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-build", action="store_true", help="leave the build out, which takes a minute")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "suite"
        folder.mkdir()
        tools = Path(name) / "tools"
        write_suite(folder, options.models, options.dispatches)
        write_stand_ins(tools)
        measurements = measure(folder, options.rounds, not options.no_build, tools)
    print_table(measurements, options.models, options.dispatches)
    measured = {
        "targets": {"ratio": TARGET_RATIO, "generate_mib": TARGET_MIB, "no_op_seconds": TARGET_NO_OP_SECONDS},
        "models": options.models,
        "dispatches_per_model": options.dispatches,
        "rounds": asdict(measurements),
    }
    write_results(RESULTS, asdict(find_build_programs()), measured)
    if missed := check(measurements):
        sys.exit(f"error: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
