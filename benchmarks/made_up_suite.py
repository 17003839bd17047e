"""A large suite with made-up programs and locks, and stand-ins of the programs that would build it.

A program of N dispatches is N lines, `dispatch_I content`. The stand-in of iree-compile copies its input, that of the
extraction writes each line's content into a file: what a change causes is what it causes in a real build, and hardly
any time passes in the steps themselves.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import dispatchgen
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Call, Dispatch
from dispatchgen.lock.make import settings_digest
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.lock.store import write_lock
from dispatchgen.manifest import load_suite

#: `iree-compile FLAGS SOURCE -o OUTPUT`; only commands that the shell has itself, except for the copying.
COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then
  echo "IREE compiler version 3.13.0"
  exit
fi
while [ "$1" != -o ]; do
  source=$1
  shift
done
exec cat "$source" > "$2"
"""
#: `extract CONFIGURED OPTIONS --output FOLDER OPTIONS`; leaves alone what does not change, as the extraction does.
EXTRACT = """#!/bin/sh
configured=$2
while [ "$1" != --output ]; do
  shift
done
[ -d "$2" ] || mkdir -p "$2"
put() {
  if [ -f "$1" ]; then
    read -r old < "$1"
    [ "$old" != "$2" ] || return 0
  fi
  echo "$2" > "$1"
}
while read -r name content; do
  put "$2/$name.mlir" "$content"
done < "$configured"
put "$2/static.flags" --function=main
put "$2/index.json" '{}'
put "$2/written.txt" index.json
"""
#: In place of iree-benchmark-module, which is looked for and never run.
NOTHING = "#!/bin/sh\n"


@dataclass(frozen=True)
class Cost:
    """What a process took, with its children for the seconds."""

    seconds: float  #: Wall clock.
    peak_mib: float  #: Largest resident set of the process or of one of its children.


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


def write_results(path: Path, programs: Mapping[str, str], measured: Mapping[str, object]) -> None:
    """The raw figures, with what they were measured on.

    Args:
      programs: Name -> program of the build systems, which knows `--version`.
      measured: What else the file is to say.
    """
    versions = {"python": platform.python_version(), "dispatchgen": dispatchgen.__version__}
    for name, program in programs.items():
        text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        versions[name] = text.split("\n", 1)[0].rpartition(" ")[2]
    machine = {"cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "versions": versions, **measured}, indent=2) + "\n")


def median_of(costs: Sequence[Cost], of: Callable[[Cost], float]) -> float:
    """The median of a figure of the rounds."""
    return median(of(cost) for cost in costs)


def write_suite(folder: Path, models: int, dispatches: int) -> None:
    """A manifest, its programs and its locks."""
    names = [f"model_{index:04}" for index in range(models)]
    entries = "".join(f"  {name}:\n    source: models/{name}.mlir\n    labels: [nightly]\n" for name in names)
    (folder / "benchmarks.yaml").write_text(f"version: 1\nmodels:\n{entries}")
    (folder / "models").mkdir()
    for name in names:
        write_program(folder, name, dispatches)
    suite = load_suite(folder)
    for model in suite.models:
        settings = {backend: settings_digest(model, suite.backend(backend)) for backend in model.backends}
        write_lock(suite.lock_path(model), _lock(model.id, settings, dispatches))


def write_program(folder: Path, model: str, dispatches: int, edit: str = "") -> None:
    """A model's program; `edit` changes its first dispatch and no other."""
    lines = [f"dispatch_{index} {model}{edit if index == 0 else ''}\n" for index in range(dispatches)]
    (folder / "models" / f"{model}.mlir").write_text("".join(lines))


def _lock(model: str, settings: Mapping[str, str], dispatches: int) -> Lock:
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
        entry=None,
        calls=(call,),
        backends={"cpu": BackendDispatches(backend="cpu", dispatches=tuple(listed))},
    )


def write_stand_ins(folder: Path) -> None:
    """The programs in place of IREE's, of Python and of the extraction."""
    folder.mkdir()
    extract = EXTRACT.removeprefix("#!/bin/sh\n")
    programs = {
        "iree-compile": COMPILER,
        "iree-benchmark-module": NOTHING,
        "dispatchgen": EXTRACT,
        # `python3 -m dispatchgen extract` extracts as above; all else is the real interpreter's.
        "python3": f'#!/bin/sh\n[ "$3" = extract ] || exec "{sys.executable}" "$@"\nshift 2\n{extract}',
    }
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
