"""What a large suite costs under Bazel, beside CMake and Ninja: 100 models of 10 dispatches each, by default.

- Seconds from nothing: starting and analysing (CMake: configuring and generating), then building all modules.
- Seconds of a build with nothing to do, and of one after a change of one dispatch of one model.
- Seconds in which Bazel analyses the tests of the suite.

The suite is made up, and so are the steps: only what happens around them is measured. Bazel's actions have the inputs
of real ones, Python's standard library included, and run as it runs them by itself: in a sandbox, where there is one;
measured once more with the sandboxes' links in memory, as docs/remote-execution.md advises.

    python benchmarks/bazel_scale.py [--models N] [--dispatches N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dispatchgen.buildtree.programs import find_build_programs
from dispatchgen.resources import genrules_dir
from made_up_suite import Cost, median_of, run, write_program, write_results, write_stand_ins, write_suite

#: A build with nothing to do takes at most these seconds under Bazel, ...
TARGET_NO_OP_SECONDS = 1.0
#: ... and one after a change of one dispatch these.
TARGET_EDIT_SECONDS = 2.0
RESULTS = Path(__file__).resolve().parent / "results" / "bazel_scale.json"
TARGET = "iree-dispatch-benchmarks"

_WORKSPACE = """\
workspace(name = "suite")

local_repository(
    name = "dispatchgen",
    path = "{rules}",
)

load("@dispatchgen//:repositories.bzl", "iree_tools_repository")

iree_tools_repository(name = "iree_tools")

# Bazel 4 downloads it for each test rule; nothing of it is used without coverage.
local_repository(
    name = "remote_coverage_tools",
    path = "coverage",
)
"""
_COVERAGE = """\
filegroup(
    name = "coverage_report_generator",
    srcs = [],
    visibility = ["//visibility:public"],
)
"""
_TOOLS = """\
load("@dispatchgen//:defs.bzl", "iree_dispatch_tools")

iree_dispatch_tools(
    name = "tools",
    benchmark_tool = "iree-benchmark-module",
    compile_data = ["@iree_tools//:compile_files"],
    compile_tool = "iree-compile",
    dispatchgen_data = ["@iree_tools//:dispatchgen_files"],
    dispatchgen_tool = "dispatchgen",
    visibility = ["//visibility:public"],
)
"""


#: Build system -> step -> the costs of all rounds.
Measurements = dict[str, dict[str, list[Cost]]]
BAZEL, IN_MEMORY, CMAKE = "Bazel", "Bazel, sandbox in memory", "CMake and Ninja"
_MEMORY = "/dev/shm"


@dataclass(frozen=True)
class Bazel:
    """Bazel in a workspace, with a folder for its own files."""

    program: str
    folder: Path
    state: Path
    options: Sequence[str] = ()  #: Of builds.

    def run(self, command: str, *arguments: str) -> Cost:
        """Runs a command."""
        return run([*self._startup(), command, *arguments], self.folder)

    def build(self, target: str = TARGET, *options: str) -> Cost:
        """Builds a target of the top package."""
        common = ("--nosandbox_debug", "--@dispatchgen//:tools=//tools", f"--repo_env=VIRTUAL_ENV={sys.prefix}")
        return self.run("build", *common, *self.options, *options, "--", f"//:{target}")

    def _startup(self) -> list[str]:
        return [self.program, "--nohome_rc", f"--output_user_root={self.state}", "--max_idle_secs=120"]


def find_bazel() -> str:
    """Bazel's program: the one that $BAZEL names, or the first on PATH; ends the program where there is none."""
    names = [os.environ["BAZEL"]] if os.environ.get("BAZEL") else ["bazel-4", "bazel"]
    program = next(filter(None, map(shutil.which, names)), None)
    return program or sys.exit(f"error: no {' or '.join(names)}; on Debian: apt-get install bazel-bootstrap")


def write_workspace(folder: Path) -> None:
    """Makes a suite a workspace of Bazel and a project of CMake, built by the stand-ins in `tools/`."""
    (folder / "WORKSPACE").write_text(_WORKSPACE.format(rules=genrules_dir() / "bazel"))
    (folder / "coverage").mkdir()
    (folder / "coverage" / "WORKSPACE").write_text("")
    (folder / "coverage" / "BUILD.bazel").write_text(_COVERAGE)
    write_stand_ins(folder / "tools")
    (folder / "tools" / "BUILD.bazel").write_text(_TOOLS)
    run([sys.executable, "-m", "dispatchgen", "generate", "--bazel", "--cmake"], folder)


def measure_bazel(bazel: Bazel, dispatches: int, edit: str) -> Mapping[str, Cost]:
    """One round from nothing: nothing is running, nothing is fetched."""
    costs = {
        "start and analyse, or configure": bazel.build(TARGET, "--nobuild"),
        "build all": bazel.build(),
        "nothing to do": bazel.build(),
    }
    write_program(bazel.folder, "model_0000", dispatches, edit)
    costs["one dispatch changed"] = bazel.build()
    costs["analyse the tests"] = bazel.build(f"{TARGET}.smoke", "--nobuild")
    return costs


def measure_cmake(folder: Path, dispatches: int, edit: str) -> Mapping[str, Cost]:
    """One round from nothing."""
    programs = find_build_programs()
    build: list[str | Path] = [programs.ninja, "-C", "build", TARGET]
    configure: list[str | Path] = [
        *(programs.cmake, "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={programs.ninja}"),
        *(f"-DIREE_HOST_BIN_DIR={folder / 'tools'}", f"-DPython3_EXECUTABLE={folder / 'tools' / 'python3'}"),
    ]
    costs = {
        "start and analyse, or configure": run(configure, folder),
        "build all": run(build, folder),
        "nothing to do": run(build, folder),
    }
    write_program(folder, "model_0000", dispatches, edit)
    costs["one dispatch changed"] = run(build, folder)
    shutil.rmtree(folder / "build")
    return costs


def measure(folder: Path, rounds: int, dispatches: int) -> Measurements:
    """Alternates between the build systems, so that all see the same machine."""
    measurements: Measurements = {}
    for index in range(rounds):
        for name, options in ((BAZEL, ()), (IN_MEMORY, (f"--sandbox_base={_MEMORY}",))):
            if os.access(_MEMORY, os.W_OK) or not options:
                bazel = Bazel(find_bazel(), folder, folder.parent / f"bazel-{index}-{len(options)}", options)
                try:
                    _add(measurements, name, measure_bazel(bazel, dispatches, f" {name} {index}"))
                finally:
                    bazel.run("shutdown")
        _add(measurements, CMAKE, measure_cmake(folder, dispatches, f" {CMAKE} {index}"))
    return measurements


def _add(measurements: Measurements, build_system: str, costs: Mapping[str, Cost]) -> None:
    for step, cost in costs.items():
        measurements.setdefault(build_system, {}).setdefault(step, []).append(cost)


def _seconds(costs: Sequence[Cost]) -> float:
    return median_of(costs, lambda cost: cost.seconds)


def check(measurements: Measurements) -> list[str]:
    """The targets that were missed."""
    targets = {"nothing to do": TARGET_NO_OP_SECONDS, "one dispatch changed": TARGET_EDIT_SECONDS}
    return [
        f"{step}: more than {target:g} s under Bazel"
        for step, target in targets.items()
        if _seconds(measurements[BAZEL][step]) > target
    ]


def print_table(measurements: Measurements, models: int, dispatches: int) -> None:
    """Medians over the rounds."""
    table = Table(title=f"{models} models of {dispatches} dispatches, median seconds of the rounds")
    table.add_column("step")
    for build_system in measurements:
        table.add_column(build_system, justify="right")
    for step in measurements[BAZEL]:
        costs = [rounds.get(step) for rounds in measurements.values()]
        table.add_row(step, *(f"{_seconds(cost):.2f}" if cost else "" for cost in costs))
    Console(width=100).print(table)


def main() -> None:
    """Measures, prints the table and keeps the raw figures. Exits 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--dispatches", type=int, default=10, help="per model (default: 10)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "suite"
        folder.mkdir()
        write_suite(folder, options.models, options.dispatches)
        write_workspace(folder)
        measurements = measure(folder, options.rounds, options.dispatches)
    print_table(measurements, options.models, options.dispatches)
    bazel = find_bazel()
    measured = {
        "targets": {"no_op_seconds": TARGET_NO_OP_SECONDS, "edit_seconds": TARGET_EDIT_SECONDS},
        "bazel": Path(bazel).name,  # Debian's says `no_version`
        "models": options.models,
        "dispatches_per_model": options.dispatches,
        "seconds": {
            build_system: {step: [cost.seconds for cost in costs] for step, costs in rounds.items()}
            for build_system, rounds in measurements.items()
        },
    }
    write_results(RESULTS, {**asdict(find_build_programs()), "bazel": bazel}, measured)
    if missed := check(measurements):
        sys.exit(f"error: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
