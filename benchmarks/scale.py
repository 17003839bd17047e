"""What a large suite costs: 1,000 models of 10 dispatches each, by default.

- Seconds and peak memory of `dispatchgen generate`, against those of CMake configuring and generating its output.
- Seconds of a build with Ninja that has nothing to do.

The locks are made up, and so are the steps of the first build: stand-ins of iree-compile and of the extraction write
empty files, since only what happens around them is measured.

    python benchmarks/scale.py [--models N] [--dispatches N] [--rounds N] [--no-build]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

import dispatchgen
from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.store import write_lock
from dispatchgen.lock.update import settings_digest
from dispatchgen.manifest import load_suite

#: `dispatchgen generate` takes at most this share of CMake's seconds, ...
TARGET_RATIO = 1.0
#: ... this much memory, ...
TARGET_MIB = 300.0
#: ... and a build with nothing to do at most these seconds.
TARGET_NO_OP_SECONDS = 0.5
RESULTS = Path(__file__).resolve().parent / "results" / "scale.json"

_COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then
  echo "IREE compiler version 3.13.0"
  exit
fi
while [ "$1" != -o ]; do
  shift
done
: > "$2"
"""
#: In place of Python: extraction writes an empty file per dispatch and call, all else is the real interpreter's.
_PYTHON = """#!/bin/sh
if [ "$3" = extract ]; then
  while [ "$1" != --output ]; do
    shift
  done
  i=0
  while [ $i -lt {dispatches} ]; do
    : > "$2/dispatch_$i.mlir"
    i=$((i + 1))
  done
  : > "$2/static.flags"
  : > "$2/index.json"
else
  exec "{python}" "$@"
fi
"""
#: In place of iree-benchmark-module, which is looked for and never run.
_NOTHING = "#!/bin/sh\n"


@dataclass(frozen=True)
class Cost:
    """What a process took, with its children for the seconds."""

    seconds: float  #: Wall clock.
    peak_mib: float  #: Largest resident set of the process or of one of its children.


@dataclass
class Measurements:
    """All rounds."""

    generate: list[Cost] = field(default_factory=list)
    cmake: list[Cost] = field(default_factory=list)
    no_op: list[Cost] = field(default_factory=list)


def run(command: Sequence[str | Path], folder: Path) -> Cost:
    """Runs a command in `folder`; ends the program with its output where it fails."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            sys.exit(f"error: {command[0]} failed\n{output.read()}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(seconds, usage.ru_maxrss / unit)


def write_suite(folder: Path, models: int, dispatches: int) -> None:
    """A manifest, its programs and its locks."""
    names = [f"model_{index:04}" for index in range(models)]
    entries = "".join(f"  {name}:\n    source: models/{name}.mlir\n    labels: [nightly]\n" for name in names)
    (folder / "benchmarks.yaml").write_text(f"version: 1\nmodels:\n{entries}")
    (folder / "models").mkdir()
    for name in names:
        (folder / "models" / f"{name}.mlir").write_text("module {}\n")
    suite = load_suite(folder)
    for model in suite.models:
        settings = {backend: settings_digest(model, suite.backend(backend)) for backend in model.backends}
        write_lock(suite.lock_path(model), made_up_lock(model.id, settings, dispatches))


def made_up_lock(model: str, settings: Mapping[str, str], dispatches: int) -> Lock:
    """A lock as a small model on the CPU has it."""
    digest = "0123456789abcdef" * 4
    listed = []
    for index in range(dispatches):
        name = f"dispatch_{index}"
        benchmark = Benchmark(
            name=name, workload=(), constants=(("i32", 42),), bindings=(4096, 4096, 4096), counts={"static": 1}
        )
        listed.append(
            Dispatch(
                name=name,
                operation="matmul_32x32x32_f32",
                executable=f"main_dispatch_{index}",
                variant="embedded_elf_x86_64",
                export=f"main_dispatch_{index}_matmul_32x32x32_f32",
                content=digest,
                written=(False, False, True),
                benchmarks=(benchmark,),
            )
        )
    call = Call(name="static", function="main", shape="static", symbols={}, inputs=("32x32xf32",) * 3)
    return Lock(
        model=model,
        made_from=MadeFrom(source=digest, settings=dict(settings), compiler="3.13.0"),
        calls=(call,),
        backends={"cpu": BackendDispatches(backend="cpu", dispatches=tuple(listed))},
    )


def write_stand_ins(folder: Path, dispatches: int) -> None:
    """The programs in place of IREE's and of Python."""
    folder.mkdir()
    programs = {
        "iree-compile": _COMPILER,
        "iree-benchmark-module": _NOTHING,
        "python3": _PYTHON.format(dispatches=dispatches, python=sys.executable),
    }
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


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


def _median(costs: Sequence[Cost], of: Callable[[Cost], float]) -> float:
    return statistics.median(of(cost) for cost in costs)


def check(measurements: Measurements) -> list[str]:
    """The targets that were missed."""
    generate = _median(measurements.generate, lambda cost: cost.seconds)
    missed = []
    if generate > TARGET_RATIO * _median(measurements.cmake, lambda cost: cost.seconds):
        missed.append("generate takes longer than CMake")
    if max(cost.peak_mib for cost in measurements.generate) > TARGET_MIB:
        missed.append(f"generate takes more than {TARGET_MIB:g} MiB")
    if measurements.no_op and _median(measurements.no_op, lambda cost: cost.seconds) > TARGET_NO_OP_SECONDS:
        missed.append(f"a build with nothing to do takes more than {TARGET_NO_OP_SECONDS:g} s")
    return missed


def print_table(measurements: Measurements, models: int, dispatches: int) -> None:
    """Medians over the rounds."""
    table = Table(title=f"{models} models of {dispatches} dispatches, median of the rounds")
    table.add_column("step")
    for column in ("seconds", "to CMake", "peak MiB"):
        table.add_column(column, justify="right")
    cmake = _median(measurements.cmake, lambda cost: cost.seconds)
    rows = {
        "dispatchgen generate": measurements.generate,
        "cmake (configure and generate)": measurements.cmake,
        "ninja, nothing to do": measurements.no_op,
    }
    for name, costs in rows.items():
        if costs:
            seconds = _median(costs, lambda cost: cost.seconds)
            peak = _median(costs, lambda cost: cost.peak_mib)
            table.add_row(name, f"{seconds:.2f}", f"{seconds / cmake:.2f}", f"{peak:.0f}")
    Console(width=100).print(table)


def write_results(measurements: Measurements, models: int, dispatches: int) -> None:
    """The raw figures, with what they were measured on."""
    programs = find_build_programs()
    versions = {"python": platform.python_version(), "dispatchgen": dispatchgen.__version__}
    for name, program in asdict(programs).items():
        text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        versions[name] = text.split("\n", 1)[0].rpartition(" ")[2]
    result = {
        "targets": {"ratio": TARGET_RATIO, "generate_mib": TARGET_MIB, "no_op_seconds": TARGET_NO_OP_SECONDS},
        "machine": {"cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": versions,
        "models": models,
        "dispatches_per_model": dispatches,
        "rounds": asdict(measurements),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")


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
        write_stand_ins(tools, options.dispatches)
        measurements = measure(folder, options.rounds, not options.no_build, tools)
    print_table(measurements, options.models, options.dispatches)
    write_results(measurements, options.models, options.dispatches)
    if missed := check(measurements):
        sys.exit(f"error: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
