"""Kernels from templates: compiled as they stand, and run in the program that they are for."""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.iree import ir
from dispatchgen.kernel_template.fill import Language
from dispatchgen.kernel_template.interface import kernel_interface
from dispatchgen.kernel_template.template import Naming, kernel_text
from kernels import C_FLAGS, compile_c, compile_glsl, need
from substituted import TARGETS, Built, build
from support import IreeTools

#: Writes 7 to a part of what another dispatch wrote; elements of 8, 16 and 64 bits.
_PARTS = """\
func.func @main(%a: tensor<6x8xi8>, %b: tensor<2x3xi8>, %c: tensor<5xf16>, %d: tensor<?xi64>)
    -> (tensor<5xf16>, tensor<5xi1>, tensor<?xi64>, tensor<6x8xi8>) {
  %0 = arith.addi %a, %a : tensor<6x8xi8>
  %1 = arith.addi %b, %b : tensor<2x3xi8>
  %2 = tensor.insert_slice %1 into %0[3, 4] [2, 3] [1, 1] : tensor<2x3xi8> into tensor<6x8xi8>
  %3 = arith.addf %c, %c : tensor<5xf16>
  %4 = arith.cmpf ogt, %c, %3 : tensor<5xf16>
  %5 = arith.addi %d, %d : tensor<?xi64>
  return %3, %4, %5, %2 : tensor<5xf16>, tensor<5xi1>, tensor<?xi64>, tensor<6x8xi8>
}
"""
_PARTS_INPUTS = ("6x8xi8=1", "2x3xi8=1", "5xf16=1", "3xi64=1")


@pytest.fixture(scope="module")
def parts(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_parts(iree_tools, tmp_path_factory.mktemp("parts"), "llvm-cpu")


def build_parts(tools: IreeTools, folder: Path, target: str) -> Built:
    source = folder / "parts.mlir"
    source.write_text(_PARTS)
    return build(tools, folder, source, target, _PARTS_INPUTS)


def template(built: Built, dispatch: str, **naming: str) -> str:
    """The kernel for a dispatch."""
    names = {"model": "m", "backend": "b", "file": "kernels/k.c", "substitution": "mine", **naming}
    with ir.read_module(built.configured) as module:
        found = built.dispatches[dispatch]
        export = Program(module).exports[found.executable, found.export]
        language: Language = "glsl" if TARGETS["vulkan"][0] in built.flags else "c"
        return kernel_text(kernel_interface(export, found), found, language, Naming(**names))


def run_all(built: Built, texts: dict[str, str], *inputs: str, device: str, workgroups: str | None = None) -> list[str]:
    """What the program returns with these kernels in place of dispatches."""
    for dispatch, text in texts.items():
        folder = built.variant(f"{device}_{dispatch}")
        folder.mkdir(parents=True, exist_ok=True)
        make = compile_glsl if device == "vulkan" else compile_c
        built.substitute(folder.name, "object", make(folder, text), dispatch, workgroups=workgroups)
    built.substitute_program(device, *(f"{device}_{dispatch}" for dispatch in texts))
    vmfb = built.compile("configured.mlir", device)
    command = [str(built.tools.run_module), f"--module={vmfb}", f"--device={device}", "--function=main"]
    command += ["--output_max_element_count=10000", *(f"--input={value}" for value in inputs)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in printed.splitlines() if "=" in line]


def sevens(built: Built, dispatches: Sequence[str]) -> dict[str, str]:
    """Templates that write 7 where they write 0: what a buffer held before cannot pass for it."""
    texts = {dispatch: template(built, dispatch) for dispatch in dispatches}
    assert all(re.search(r"\] = (0|float\(0\));", text) for text in texts.values())
    return {d: text.replace("] = 0;", "] = 7;").replace("float(0)", "float(7)") for d, text in texts.items()}


@pytest.mark.parametrize(("device", "size"), [("local-sync", 5), ("local-task", 10000)])
def test_dynamic_kernels_write_all_there_is(product: Built, device: str, size: int) -> None:
    (result,) = run_all(product, sevens(product, [product.only]), f"{size}xf32=1", f"{size}xf32=1", device=device)
    assert result == f"{size}xf32={' '.join(['7'] * size)}"


def test_any_number_of_workgroups_shares_the_work(static_product: Built) -> None:
    texts = sevens(static_product, [static_product.only])
    for workgroups in ("() -> (1, 1, 1)", "() -> (2, 3, 4)"):
        inputs = ("5xf32=1", "5xf32=1")
        (result,) = run_all(static_product, texts, *inputs, device="local-sync", workgroups=workgroups)
        assert result == "5xf32=7 7 7 7 7"


def test_several_kernels_of_a_program(mlp: Built) -> None:
    inputs = ("4x64xf32=1", "64x128xf32=1", "128x32xf32=1")
    (result,) = run_all(mlp, sevens(mlp, list(mlp.dispatches)), *inputs, device="local-task")
    assert set(re.findall(r"[\d.]+", result.partition("=")[2])) == {"7"}
    assert result.startswith("4x32xf32=")


def _grid(written: int) -> str:
    """Six rows of eight twos, with something else in 2 x 3 elements at (3, 4)."""
    rows = [["2"] * 8 for _ in range(6)]
    for row in rows[3:5]:
        row[4:7] = [str(written)] * 3
    return "".join(f"[{' '.join(row)}]" for row in rows)


@pytest.mark.parametrize("fused", ["false", "true"])
def test_nothing_else_is_written(fused: str, iree_tools: IreeTools, tmp_path: Path) -> None:
    """Called as the dispatch is, with memory of the length that it passes, a kernel writes what the dispatch writes."""
    source, configured = tmp_path / "parts.mlir", tmp_path / "configured.mlir"
    source.write_text(_PARTS)
    flags = [*TARGETS["llvm-cpu"], f"--iree-scheduling-optimize-bindings={fused}"]
    phase = "--compile-to=executable-configurations"
    subprocess.run([iree_tools.compile, source, "-o", configured, phase, *flags], check=True)
    zeros = {}
    with ir.read_module(configured) as module:
        program = Program(module)
        call = Call(name="c", function="main", shape="c", symbols={}, inputs=_PARTS_INPUTS)
        for dispatch in extract(program, [call], "backend").lock.dispatches:
            export = program.exports[dispatch.executable, dispatch.export]
            text = kernel_text(kernel_interface(export, dispatch), dispatch, "c", Naming("m", "b", "k.c", "mine"))
            zeros[dispatch.name] = written_by(text, dispatch, tmp_path)
    assert zeros == {
        "elementwise_48_i8": [0, 48],
        "elementwise_6_i8": [0, 6],
        "slow_memcpy": [0, 6],
        "elementwise_5_f16xf16xi1": [0, 10, 5],
        "elementwise_D_i64": [0, 24],
    }


def written_by(text: str, dispatch: Dispatch, folder: Path) -> list[int]:
    """How many bytes of each binding a kernel sets to zero; nothing may be written around them."""
    guard, filling, counts = 4096, b"\xaa", (3, 2, 2)
    library = folder / f"{dispatch.name}.so"
    subprocess.run([need("gcc"), "-shared", compile_c(folder, text, "-O2", "-fPIC"), "-o", library], check=True)
    kernel = ctypes.CDLL(str(library))[f"kernel_{dispatch.name}"]
    (benchmark,) = dispatch.benchmarks
    memory = [ctypes.create_string_buffer(filling * (length + 2 * guard)) for length in benchmark.bindings]
    for x, y, z in itertools.product(*map(range, counts)):
        kernel(
            *(ctypes.c_void_p(ctypes.addressof(each) + guard) for each in memory),
            *(ctypes.c_uint32(value) for _, value in benchmark.constants),
            *map(ctypes.c_size_t, (x, y, z, *counts)),
        )
    contents = [each.raw[:-1] for each in memory]
    assert all(each[:guard] == each[-guard:] == filling * guard for each in contents)
    return [each.count(0) for each in contents]


@pytest.mark.lavapipe
@pytest.mark.slow
def test_vulkan(iree_tools: IreeTools, models_dir: Path, tmp_path: Path) -> None:
    dynamic = build(iree_tools, tmp_path / "mul", models_dir / "mul.mlir", "vulkan", ("5xf32", "5xf32"))
    (result,) = run_all(dynamic, sevens(dynamic, [dynamic.only]), "300xf32=1", "300xf32=1", device="vulkan")
    assert result == f"300xf32={' '.join(['7'] * 300)}"
    parts = build_parts(iree_tools, tmp_path, "vulkan")
    texts = {dispatch: template(parts, dispatch) for dispatch in parts.dispatches}
    *_, part = run_all(parts, {"slow_memcpy": texts["slow_memcpy"]}, *_PARTS_INPUTS, device="vulkan")
    assert part == f"6x8xi8={_grid(0)}"
    results = run_all(parts, texts, *_PARTS_INPUTS, device="vulkan")
    zeros = "[0 0 0 0 0 0 0 0]" * 6
    assert results == ["5xf16=0 0 0 0 0", "5xi1=00 00 00 00 00", "3xi64=0 0 0", f"6x8xi8={zeros}"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_library_is_needed_at_any_optimization(compiler: str, parts: Built, tmp_path: Path) -> None:
    for dispatch in parts.dispatches:
        flags = (*C_FLAGS, "-O3", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
        path = compile_c(tmp_path, template(parts, dispatch), *flags, compiler=compiler)
        undefined = subprocess.run([need("nm"), "--undefined-only", path], capture_output=True, text=True, check=True)
        assert undefined.stdout == ""


def test_the_users_text_stays_in_comments(product: Built, tmp_path: Path) -> None:
    hostile = {
        "model": "m\n#error one\n*/ #error two \\",
        "backend": "b??/\r\n#error three\u2028#error four",
        "file": 'k".c\\\n#error five\x85',
    }
    text = template(product, product.only, **hostile)
    assert text.isascii()
    assert all(line.startswith("//") for line in text.splitlines() if "#error" in line)
    plain = template(product, product.only)
    assert _code(text) == _code(plain)
    compile_c(tmp_path, text, *C_FLAGS, "-std=c99", "-trigraphs")


def _code(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("//")]


def test_the_comment_has_the_manifest(product: Built) -> None:
    comment = [
        line.removeprefix("// ") for line in template(product, product.only).splitlines() if line.startswith("//")
    ]
    assert "          dispatch: elementwise_D_f32" in comment
    assert '          object: "kernels/k.c"' in comment
    assert "          # workgroups: (w0, w1) -> (w1 ceildiv 64, 1, 1)" in comment
    assert "  elementwise_D_f32__c1: 1000, 1000" in comment
