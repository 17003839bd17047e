"""Benchmark modules to run: one of IREE's own dumps, and one with function names that regular expressions mind."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import support

_TARGET = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
_DOUBLE = """
func.func @double(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
"""
_FUNCTIONS = """
func.func @"a.b"() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }
func.func @"axb"() -> i32 { %c = arith.constant 2 : i32 return %c : i32 }
func.func @"a(b|c)[d]*{2}+?^"() -> i32 { %c = arith.constant 3 : i32 return %c : i32 }
func.func @"a\\5Cb c/d"() -> i32 { %c = arith.constant 4 : i32 return %c : i32 }
func.func @"fails"() -> i32 {
  %c = arith.constant 5 : i32
  %false = arith.constant false
  cf.assert %false, "never"
  return %c : i32
}
"""
_HANGING = """
func.func @a() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }
func.func @hangs() -> i32 {
  %c = arith.constant 0 : i32
  %0 = util.optimization_barrier %c : i32
  cf.br ^bb1
^bb1:
  %is_zero = arith.cmpi eq, %0, %c : i32
  cf.cond_br %is_zero, ^bb1, ^bb2
^bb2:
  return %c : i32
}
func.func @b() -> i32 { %c = arith.constant 2 : i32 return %c : i32 }
"""


@dataclass(frozen=True)
class Modules:
    """Compiled modules and what they hold."""

    dispatch: Path
    dispatch_function: str
    model: Path  #: One function, `double`.
    flag_file: Path  #: Its inputs.
    functions: Path
    hanging: Path  #: `a`, then `hangs`, then `b`.
    names: tuple[str, ...] = ("a.b", "axb", "a(b|c)[d]*{2}+?^", "a\\b c/d")
    failing: str = "fails"


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory, iree_tools: support.IreeTools) -> Modules:
    """The modules, compiled once."""
    folder = tmp_path_factory.mktemp("modules")

    def compiled(source: Path, *flags: str) -> Path:
        output = folder / f"{source.stem}.vmfb"
        subprocess.run(
            [iree_tools.compile, source, "-o", output, *_TARGET, *flags], check=True, timeout=support.TIMEOUT
        )
        return output

    double = folder / "double.mlir"
    double.write_text(_DOUBLE)
    dumps = folder / "dumps"
    dumps.mkdir()
    model = compiled(double, f"--iree-hal-dump-executable-benchmarks-to={dumps}")
    (dump,) = dumps.glob("*.mlir")
    functions = folder / "functions.mlir"
    functions.write_text(_FUNCTIONS)
    hanging = folder / "hanging.mlir"
    hanging.write_text(_HANGING)
    flag_file = folder / "double.flags"
    flag_file.write_text("--function=double\n--input=64xf32\n")
    return Modules(
        dispatch=compiled(dump, "--compile-from=executable-configurations"),
        dispatch_function="double_dispatch_0_embedded_elf_x86_64_double_dispatch_0_elementwise_64_f32",
        model=model,
        flag_file=flag_file,
        functions=compiled(functions),
        hanging=compiled(hanging),
    )
