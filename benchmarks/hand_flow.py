"""CPU seconds of dispatchgen's build against the flow by hand that IREE documents, on static models, side by side.

By hand: the whole model is compiled with `--iree-hal-dump-executable-benchmarks-to=`, then each file that this writes
is compiled by a call of `iree-compile`, the launcher that the wheel installs.

dispatchgen: what its generated build does for the same: configure, extract, compile each dispatch. Making the lock and
the build files, which is done once and not at each build, is left out. Both flows start from the imported program.

The hand flow's first step leaves a module of the whole model too. The second ratio has the build make that as well.

    python benchmarks/hand_flow.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import magika
import onnx
from rich.console import Console
from rich.table import Table

import dispatchgen
from dispatchgen.buildtree.programs import find_build_programs

#: dispatchgen takes at most this share of the hand flow's CPU seconds.
TARGET_RATIO = 0.75
RESULTS = Path(__file__).resolve().parent / "results" / "hand_flow.json"

_LAUNCHERS = Path(sys.executable).parent
#: The backend that a manifest without `backends` compiles for.
_TARGET_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


@dataclass(frozen=True)
class Measurement:
    """CPU seconds (user and system, of all processes) of one round of one model."""

    by_hand: float
    by_hand_dispatches: int  #: Benchmark files that the dump pass wrote.
    build: float  #: Configure, extract, compile each dispatch.
    build_whole: float  #: The same and the module of the whole model.
    build_dispatches: int


def run(command: Sequence[str | Path], folder: Path) -> None:
    """Runs a command in `folder`; ends the program with its output where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {command[0]} failed\n{done.stdout}{done.stderr}")


def cpu_seconds(work: Callable[[], None]) -> float:
    """CPU seconds of the processes that `work` runs and waits for, and of those that they wait for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def squeezenet(folder: Path) -> Path:
    """The light SqueezeNet of the onnx package, imported."""
    source = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
    return _import(source, folder / "squeezenet.mlir")


def magika_static(folder: Path) -> Path:
    """Magika with its batch fixed at 1, imported."""
    model = onnx.load(Path(magika.__file__).parent / "models/standard_v3_3/model.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    source = folder / "magika_static.onnx"
    onnx.save(model, source)
    return _import(source, folder / "magika_static.mlir")


def _import(source: Path, output: Path) -> Path:
    run([_LAUNCHERS / "iree-import-onnx", source, "--opset-version", "17", "-o", output], output.parent)
    return output


def hand_flow(program: Path, folder: Path) -> int:
    """Dumps and compiles the benchmarks of a program; returns how many there are."""
    compiler = _LAUNCHERS / "iree-compile"
    dump = folder / "dump"
    run(
        [compiler, program, *_TARGET_FLAGS, f"--iree-hal-dump-executable-benchmarks-to={dump}", "-o", "model.vmfb"],
        folder,
    )
    files = sorted(dump.glob("*_benchmark.mlir"))
    for file in files:
        output = file.with_suffix(".vmfb")
        run([compiler, file, *_TARGET_FLAGS, "--compile-from=executable-configurations", "-o", output], folder)
    return len(files)


def prepare_build(program: Path, folder: Path) -> tuple[list[str], str]:
    """Locks and generates a suite of that program and configures its build in `folder/build`.

    Returns the files of the dispatch modules, as Ninja names them, and the target that also makes the whole model.
    """
    manifest = folder / "benchmarks.yaml"
    manifest.write_text(f"version: 1\nmodels:\n  {program.stem}:\n    source: {program.name}\n")
    (folder / program.name).write_bytes(program.read_bytes())
    dispatchgen = [sys.executable, "-m", "dispatchgen"]
    run([*dispatchgen, "lock"], folder)
    run([*dispatchgen, "generate", "--cmake"], folder)
    run(
        [
            find_build_programs().cmake,
            "-S",
            ".",
            "-B",
            "build",
            "-G",
            "Ninja",
            f"-DPython3_EXECUTABLE={sys.executable}",
        ],
        folder,
    )
    lock = json.loads((folder / "locks" / f"{program.stem}.json").read_text())
    (backend, found), *others = lock["backends"].items()
    assert not others
    modules = [f"{program.stem}/{backend}/{dispatch['name']}.vmfb" for dispatch in found["dispatches"]]
    return modules, f"iree-dispatch-benchmarks-{program.stem}-{backend}"


def measure(program: Path) -> Measurement:
    """One round: the hand flow, then the build, each in a fresh folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (by_hand_folder := folder / "by_hand").mkdir()
        (build_folder := folder / "build_flow").mkdir()
        dispatches = 0

        def by_hand() -> None:
            nonlocal dispatches
            dispatches = hand_flow(program, by_hand_folder)

        by_hand_seconds = cpu_seconds(by_hand)
        modules, target = prepare_build(program, build_folder)
        ninja = [str(find_build_programs().ninja), "-C", "build"]
        build_seconds = cpu_seconds(lambda: run([*ninja, *modules], build_folder))
        rest_seconds = cpu_seconds(lambda: run([*ninja, target], build_folder))
    return Measurement(by_hand_seconds, dispatches, build_seconds, build_seconds + rest_seconds, len(modules))


@dataclass(frozen=True)
class Summary:
    """Medians over the rounds of a model, in CPU seconds."""

    by_hand: float
    build: float
    build_whole: float

    @property
    def ratio(self) -> float:
        return self.build / self.by_hand

    @property
    def ratio_whole(self) -> float:
        return self.build_whole / self.by_hand


def summarize(rounds: Sequence[Measurement]) -> Summary:
    """The medians of these rounds."""
    return Summary(
        by_hand=statistics.median(one.by_hand for one in rounds),
        build=statistics.median(one.build for one in rounds),
        build_whole=statistics.median(one.build_whole for one in rounds),
    )


def print_table(measurements: dict[str, list[Measurement]]) -> None:
    """What the rounds of each model come to, and the ratios."""
    table = Table(title="CPU seconds, median of the rounds; ratios to the flow by hand")
    table.add_column("model")
    for column in ("by hand", "dispatches", "dispatchgen", "dispatches", "ratio", "with the whole model", "ratio"):
        table.add_column(column, justify="right")
    for name, rounds in measurements.items():
        summary = summarize(rounds)
        table.add_row(
            name,
            f"{summary.by_hand:.2f}",
            str(rounds[0].by_hand_dispatches),
            f"{summary.build:.2f}",
            str(rounds[0].build_dispatches),
            f"{summary.ratio:.2f}",
            f"{summary.build_whole:.2f}",
            f"{summary.ratio_whole:.2f}",
        )
    Console(width=100).print(table)


def write_results(measurements: dict[str, list[Measurement]], path: Path) -> None:
    """The raw figures, with what they were measured on."""
    result = {
        "target_ratio": TARGET_RATIO,
        "unit": "CPU seconds, user and system",
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("iree-base-compiler", "onnx", "magika")},
            "dispatchgen": dispatchgen.__version__,
        },
        "rounds": {name: [asdict(one) for one in rounds] for name, rounds in measurements.items()},
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n")


def cpu_name() -> str:
    """The processor's name where Linux tells it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Measures, prints the table and keeps the raw figures. Exits 1 where a ratio is above the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each flow is measured (default: 3)")
    rounds = parser.parse_args().rounds
    measurements: dict[str, list[Measurement]] = {}
    with tempfile.TemporaryDirectory() as name:
        programs = [make(Path(name)) for make in (squeezenet, magika_static)]
        for _ in range(rounds):
            for program in programs:
                measurements.setdefault(program.stem, []).append(measure(program))
    print_table(measurements)
    write_results(measurements, RESULTS)
    above = [name for name, rounds_of in measurements.items() if summarize(rounds_of).ratio > TARGET_RATIO]
    if above:
        sys.exit(f"error: above {TARGET_RATIO} of the flow by hand: {', '.join(above)}")


if __name__ == "__main__":
    main()
