"""Kernels with warm and with cold caches, beside each other: those that memory bounds are slower cold, others are not.

Exits with 1 where one of them does not behave as it is to.

    python benchmarks/cold_caches.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import dispatchgen
from dispatchgen.results.lean import Dispatch
from dispatchgen.results.load import load
from hand_flow import cpu_name

RESULTS = Path(__file__).resolve().parent / "results" / "cold_caches.json"
_MANIFEST = """\
version: 1
backends:
  host:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=host]
    devices: [local-sync]
run: {{caches: both, rounds: {rounds}}}
models:
"""
_ELEMENTWISE = """\
func.func @main(%a: tensor<{size}xf32>, %b: tensor<{size}xf32>) -> tensor<{size}xf32> {{
{lines}
  return %r : tensor<{size}xf32>
}}
"""
_MATVEC = """\
func.func @main(%a: tensor<384x512xf32>, %b: tensor<512xf32>) -> tensor<384xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<384xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<384xf32>) -> tensor<384xf32>
  %r = linalg.matvec ins(%a, %b : tensor<384x512xf32>, tensor<512xf32>)
    outs(%filled : tensor<384xf32>) -> tensor<384xf32>
  return %r : tensor<384xf32>
}
"""
#: Multiplications and additions of each element in the kernel that arithmetic bounds.
_STEPS = 512


def _add(size: int) -> str:
    return _ELEMENTWISE.format(size=size, lines=f"  %r = arith.addf %a, %b : tensor<{size}xf32>")


def _chain(size: int) -> str:
    lines, before = [], "%a"
    for step in range(_STEPS):
        name = f"%x{step}" if step < _STEPS - 1 else "%r"
        lines.append(f"  %m{step} = arith.mulf {before}, %b : tensor<{size}xf32>")
        lines.append(f"  {name} = arith.addf %m{step}, %a : tensor<{size}xf32>")
        before = name
    return _ELEMENTWISE.format(size=size, lines="\n".join(lines))


#: Program by name, and what its ratio is to be: at least, at most.
KERNELS = {
    "add_4KiB": (_add(1 << 10), (1.1, None)),
    "add_1MiB": (_add(1 << 18), (1.5, None)),
    "matvec_768KiB": (_MATVEC, (1.5, None)),
    "arithmetic_64KiB": (_chain(1 << 14), (None, 1.05)),
}


@dataclass(frozen=True)
class Row:
    """What was measured of a kernel; times in seconds."""

    kernel: str
    bytes: int  #: Of its bindings.
    warm: float
    cold: float
    noise: float | None  #: Of the warm times.
    at_least: float | None
    at_most: float | None

    @property
    def ratio(self) -> float:
        """The cold time by the warm one."""
        return self.cold / self.warm

    @property
    def is_right(self) -> bool:
        """Whether the ratio is what it is to be."""
        return (self.at_least or 0.0) <= self.ratio <= (self.at_most or float("inf"))


def measure(folder: Path, rounds: int) -> list[Row]:
    """Builds a suite of the kernels in a folder and runs it."""
    models = "".join(f"  {name}: {{source: {name}.mlir}}\n" for name in KERNELS)
    (folder / "benchmarks.yaml").write_text(_MANIFEST.format(rounds=rounds) + models)
    for name, (program, _) in KERNELS.items():
        (folder / f"{name}.mlir").write_text(program)
    file = folder / "results.json"
    subprocess.run([sys.executable, "-m", "dispatchgen", "run", str(folder), "--json", str(file)], check=True)
    return [_row(call.model, dispatch) for call in load(file).calls for dispatch in call.dispatches]


def _row(kernel: str, dispatch: Dispatch) -> Row:
    timing, cold = dispatch.timing, dispatch.cold
    assert timing is not None and cold is not None  # else the run had failed
    at_least, at_most = KERNELS[kernel][1]
    return Row(kernel, sum(dispatch.bindings), timing.seconds, cold.seconds, timing.noise, at_least, at_most)


def print_table(rows: list[Row]) -> None:
    """Prints the times of each kernel, and whether their ratio is what it is to be."""
    table = Table(title="cold by warm")
    for column in ("kernel", "bytes", "warm", "cold", "ratio", "is to be", ""):
        table.add_column(column)
    for row in rows:
        wanted = f"at least {row.at_least}" if row.at_least else f"at most {row.at_most}"
        times = [f"{row.warm * 1e6:.2f} us", f"{row.cold * 1e6:.2f} us", f"{row.ratio:.2f}"]
        table.add_row(row.kernel, str(row.bytes), *times, wanted, "ok" if row.is_right else "wrong")
    Console(width=120).print(table)


def write_results(rows: list[Row], rounds: int) -> None:
    """The figures, with what they were measured on."""
    result = {
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("iree-base-compiler", "iree-base-runtime")},
            "dispatchgen": dispatchgen.__version__,
        },
        "rounds": rounds,
        "kernels": [{**asdict(row), "ratio": round(row.ratio, 3)} for row in rows],
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measures, prints the table and keeps the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), arguments.rounds)
    print_table(rows)
    write_results(rows, arguments.rounds)
    print(f"figures: {RESULTS}")
    if wrong := [row.kernel for row in rows if not row.is_right]:
        raise SystemExit(f"error: the ratio of {', '.join(wrong)} is not what it is to be")


if __name__ == "__main__":
    main()
