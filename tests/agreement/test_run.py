"""Kernels that are right, wrong, write where they must not, or crash, beside the compiler's own."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import support
from dispatchgen.agreement.module import check_module
from dispatchgen.agreement.run import Agreed, Checker, check
from dispatchgen.agreement.spec import GUARD, CheckedBenchmark, CheckedBinding, CheckSpec, read_spec
from dispatchgen.errors import OutputError
from dispatchgen.substitute.original import Original, read_originals
from substituted import Built, build

_PRODUCT = """\
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
_C = """\
#include <stddef.h>
#include <stdint.h>
void product(float *a, float *b, float *out, uint32_t n, uint32_t n_high, uint32_t m, uint32_t m_high,
             size_t x, size_t y, size_t z, size_t count_x, size_t count_y, size_t count_z) {
  float kept = out[2];
  for (size_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
  STATEMENT
}
"""
_GLSL = """\
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float o[]; };
void main() { for (uint i = 0; i < 5; ++i) o[i] = FACTOR * a[i] * b[i]; }
"""
_SMALL, _LARGE = "c0", "c1"  # calls of 5 and of 1000 elements


@pytest.fixture(scope="module")
def product(iree_tools: support.IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The product of two vectors: one dynamic dispatch with push constants and two benchmarks."""
    folder = tmp_path_factory.mktemp("product")
    (folder / "product.mlir").write_text(_PRODUCT)
    calls = (("5xf32", "5xf32"), ("1000xf32", "1000xf32"))
    return build(iree_tools, folder, folder / "product.mlir", "llvm-cpu", *calls)


def checked(
    built: Built, name: str, file: Path, device: str = "local-sync", workgroups: str = "(n, m) -> (1, 1, 1)"
) -> dict[str, Agreed]:
    """Puts an object in the place of the only dispatch, compiles the check module and runs it; by the call."""
    built.substitute(name, "object", file, built.only, workgroups=workgroups, tolerance=1e-6)
    module = built.compile(f"dispatches/{built.only}.check.mlir", name)
    spec = read_spec(built.variant(name) / "dispatches" / f"{built.only}.check.json")
    checker = Checker(built.tools.run_module, device, timeout=support.TIMEOUT)
    return {agreed.benchmark.partition("__")[2]: agreed for agreed in check(checker, module, spec)}


def c_kernel(built: Built, name: str, statement: str = "") -> dict[str, Agreed]:
    """Compares a C kernel that multiplies, then does what the statement says."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    folder = built.variant(name)
    folder.mkdir(parents=True)
    (folder / "kernel.c").write_text(_C.replace("STATEMENT", statement))
    flags = ["-O1", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-fvisibility=hidden"]
    subprocess.run(["gcc", *flags, "-c", "kernel.c", "-o", "kernel.o"], cwd=folder, check=True)
    return checked(built, name, folder / "kernel.o")


def test_a_right_kernel_agrees_in_all_benchmarks(product: Built) -> None:
    found = c_kernel(product, "right")
    assert list(found) == [_SMALL, _LARGE]
    for agreed in found.values():
        assert (agreed.failure, agreed.worst, agreed.note) == (None, 0.0, None)


def test_a_kernel_wrong_in_one_element_is_found(product: Built) -> None:
    found = c_kernel(product, "wrong", "if (n > 777) out[777] += 1000;")
    assert found[_SMALL].failure is None
    failure = found[_LARGE].failure
    assert failure is not None
    assert failure.startswith("binding 2, element 777 (f32): ")
    assert failure.endswith(" by the substitute; 1 of 1000 elements differ")
    assert found[_LARGE].worst == pytest.approx(1000, rel=0.1)


def test_a_kernel_that_leaves_elements_as_they_were_is_found(product: Built) -> None:
    """What is written holds data before: an element that is left out is not by chance what it is to be."""
    found = c_kernel(product, "lazy", "out[2] = kept;")
    for agreed in found.values():
        assert agreed.failure is not None
        assert agreed.failure.startswith("binding 2, element 2 (f32): ")


@pytest.mark.parametrize(
    ("name", "statement", "message"),
    [
        ("behind", "out[n] = 1;", "binding 2: the substitute writes outside of it"),
        ("before", "out[-1] = 1;", "binding 2: the substitute writes outside of it"),
        ("far", f"out[n + {GUARD // 4 - 1}] = 0;", "binding 2: the substitute writes outside of it"),
        ("input", "b[1] = 7;", "binding 1: the substitute writes to it; the compiler's kernel only reads it"),
        ("nan", "out[3] = 0.0f / (a[0] - a[0]);", "binding 2, element 3 (f32): "),
    ],
)
def test_what_a_kernel_must_not_do_is_found(product: Built, name: str, statement: str, message: str) -> None:
    for agreed in c_kernel(product, name, statement).values():
        assert agreed.failure is not None
        assert agreed.failure.startswith(message)


def test_a_crash_is_told_and_the_next_benchmark_is_checked(product: Built) -> None:
    found = c_kernel(product, "crash", "if (n == 5) *(volatile int *)0 = 1;")
    assert found[_SMALL].failure == "iree-run-module: crashed (SIGSEGV)"
    assert found[_SMALL].worst is None
    assert found[_LARGE].failure is None


def test_an_absent_device_gives_the_tools_own_text(product: Built) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("this machine has a CUDA device")
    file = product.edited(product.only, "configuration", "arith.mulf", "arith.addf")
    product.substitute("absent", "configuration", file, product.only, tolerance=1e-6)
    module = product.compile(f"dispatches/{product.only}.check.mlir", "absent")
    spec = read_spec(product.variant("absent") / "dispatches" / f"{product.only}.check.json")
    found = list(check(Checker(product.tools.run_module, "cuda"), module, spec))
    assert [agreed.benchmark for agreed in found] == [benchmark.name for benchmark in spec.benchmarks]
    for agreed in found:
        assert agreed.absent
        assert agreed.failure is not None
        assert "UNAVAILABLE" in agreed.failure


@pytest.mark.lavapipe
@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="no glslangValidator")
def test_kernels_of_vulkan_are_compared(iree_tools: support.IreeTools, tmp_path: Path) -> None:
    source = tmp_path / "product.mlir"
    source.write_text(_PRODUCT.replace("?", "5"))
    built = build(iree_tools, tmp_path, source, "vulkan", ("5xf32", "5xf32"))
    for name, factor in (("right", "1"), ("wrong", "3")):
        folder = built.variant(name)
        folder.mkdir(parents=True)
        (folder / "kernel.comp").write_text(_GLSL.replace("FACTOR", factor))
        command = ["glslangValidator", "-V", "--target-env", "vulkan1.1", "kernel.comp", "-o", "kernel.spv"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
        (agreed,) = checked(built, name, folder / "kernel.spv", "vulkan", "() -> (1, 1, 1)").values()
        assert (agreed.failure is None) == (name == "right"), agreed.failure


def edited(built: Built, name: str, pattern: str, replacement: str) -> Agreed:
    """Compares the only kernel with itself, its configuration edited."""
    text, count = re.subn(pattern, replacement, built.dump(built.only, "configuration").read_text())
    assert count == 1
    file = built.folder / f"{name}.mlir"
    file.write_text(text)
    built.substitute(name, "configuration", file, built.only, tolerance=1e-3)
    module = built.compile(f"dispatches/{built.only}.check.mlir", name)
    spec = read_spec(built.variant(name) / "dispatches" / f"{built.only}.check.json")
    (agreed,) = check(Checker(built.tools.run_module, "local-sync", timeout=support.TIMEOUT), module, spec)
    return agreed


_INDEX, _NO_INDEX = r"arith\.index_cast %\w+ : i32 to index", "arith.constant 0 : index"
_SCALE, _NO_SCALE = r"arith\.sitofp %\w+ : i32 to f32", "arith.constant 2.0 : f32"
_PRODUCTS, _SWAPPED = r"arith\.mulf (%\w+), (%\w+)", r"arith.mulf \2, \1"


@pytest.mark.parametrize("rows", ["64", "?"])
def test_a_kernel_that_does_not_look_at_an_input_is_found(
    rows: str, iree_tools: support.IreeTools, models_dir: Path, tmp_path: Path
) -> None:
    """Neither at an index, nor at a number of the same type."""
    inputs = ("64xf32", "8xi32", "8xi32")
    source = tmp_path / "rows.mlir"
    source.write_text((models_dir / "rows.mlir").read_text().replace("<64x", f"<{rows}x"))
    built = build(iree_tools, tmp_path, source, "llvm-cpu", inputs)
    for name, pattern, replacement in (("index", _INDEX, _NO_INDEX), ("scale", _SCALE, _NO_SCALE)):
        agreed = edited(built, name, pattern, replacement)
        assert agreed.failure is not None, name
        assert agreed.failure.startswith("binding 3, element ")
    right = edited(built, "right", _PRODUCTS, _SWAPPED)
    assert (right.failure, right.note) == (None, None)


def test_where_the_bounds_of_an_index_are_not_known_that_is_said(
    iree_tools: support.IreeTools, models_dir: Path, tmp_path: Path
) -> None:
    source = tmp_path / "rows.mlir"
    cast = "%row = arith.index_cast %in : i32 to index"
    clamped = f"%last = arith.constant 63 : i32\n%same = arith.minsi %in, %last : i32\n{cast.replace('%in', '%same')}"
    source.write_text((models_dir / "rows.mlir").read_text().replace(cast, clamped))
    built = build(iree_tools, tmp_path, source, "llvm-cpu", ("64xf32", "8xi32", "8xi32"))
    agreed = edited(built, "index", _INDEX, _NO_INDEX)
    assert agreed.failure is None
    assert agreed.note == ("binding 1 held zeros, as an index whose bounds are not known: its use was not compared")
    assert edited(built, "scale", _SCALE, _NO_SCALE).failure is not None


def test_small_outputs_are_compared_by_their_own_size(iree_tools: support.IreeTools, tmp_path: Path) -> None:
    source = tmp_path / "small.mlir"
    source.write_text("""\
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %small = arith.constant dense<1.0e-4> : tensor<8xf32>
  %0 = arith.mulf %a, %small : tensor<8xf32>
  return %0 : tensor<8xf32>
}
""")
    built = build(iree_tools, tmp_path, source, "llvm-cpu", ("8xf32",))
    wrong = edited(built, "zeros", r"arith\.constant 9\.9\d*E-5", "arith.constant 0.0")
    assert wrong.worst == pytest.approx(1)
    assert wrong.failure is not None
    assert edited(built, "right", _PRODUCTS, _SWAPPED).failure is None


def with_another_export(original: Original) -> str:
    """The executable with a second export, `@other`, whose kernel adds instead of multiplying."""
    text = original.executable.benchmark_text
    export, inner = text.index("hal.executable.export"), text.index("builtin.module {")
    end = text.rindex("}", 0, text.rindex("}", 0, text.rindex("}")))  # of the builtin.module
    second = text[inner:end].removeprefix("builtin.module {")
    added = text[export:inner].replace("ordinal(0)", "ordinal(1)"), second.replace("arith.mulf", "arith.addf")
    first, last = (part.replace(f"@{original.name}", "@other") for part in added)
    return text[:inner] + first + text[inner:end] + last + text[end:]


@pytest.mark.parametrize(("export", "agrees"), [(None, True), ("other", False)])
def test_executables_of_several_exports_run_the_one_that_is_meant(
    product: Built, export: str | None, agrees: bool
) -> None:
    (original,) = read_originals(product.folder / "dispatches", [product.only])
    assert isinstance(original, Original)
    text = with_another_export(original)
    made = check_module(text, text, original.dispatch, original.device, 1e-6, export or original.name)
    folder = product.variant(f"several_{export}")
    folder.mkdir(parents=True)
    (folder / "check.mlir").write_text(made.text)
    checker = Checker(product.tools.run_module, "local-sync", timeout=support.TIMEOUT)
    found = list(check(checker, product.compile("check.mlir", folder.name), made.spec))
    assert [agreed.failure is None for agreed in found] == [agrees] * 2


@pytest.mark.parametrize(
    ("statement", "wrote"), [("", 0), ('for word; do case $word in --output=@*) echo >"${word#*@}";; esac; done', 1)]
)
def test_outputs_that_were_not_written_are_said(product: Built, tmp_path: Path, statement: str, wrote: int) -> None:
    """A program that exits with 0 all the same."""
    program = tmp_path / "iree-run-module"
    program.write_text(f"#!/bin/sh\n{statement}\n")
    program.chmod(0o755)
    (original,) = read_originals(product.folder / "dispatches", [product.only])
    assert isinstance(original, Original)
    text = original.executable.benchmark_text
    spec = check_module(text, text, original.dispatch, original.device, 0, original.name).spec
    first, _ = check(Checker(program, "local-sync"), tmp_path / "check.vmfb", spec)
    length = 2 * GUARD + original.dispatch.benchmarks[0].bindings[0]
    assert first.failure == f"iree-run-module wrote {wrote} bytes of binding 0, not {length}"


def test_without_a_temporary_folder_nothing_is_compared(
    product: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (original,) = read_originals(product.folder / "dispatches", [product.only])
    assert isinstance(original, Original)
    text = original.executable.benchmark_text
    spec = check_module(text, text, original.dispatch, original.device, 0, original.name).spec
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(OutputError, match="cannot work in the temporary folder: No such file or directory"):
        list(check(Checker(product.tools.run_module, "local-sync"), tmp_path / "check.vmfb", spec))


def test_after_one_that_does_not_end_none_is_compared(tmp_path: Path) -> None:
    program = tmp_path / "iree-run-module"
    program.write_text(f"#!/bin/sh\necho >> {tmp_path}/runs\nexec sleep 1000\n")
    program.chmod(0o755)
    binding = CheckedBinding(length=4, written=True, pieces=())
    benchmarks = tuple(CheckedBenchmark(name=name, bindings=(binding,)) for name in ("a", "b", "c"))
    spec = CheckSpec(dispatch="a", guard=0, tolerance=0.5, benchmarks=benchmarks)
    found = check(Checker(program, "local-sync", timeout=0.3), tmp_path / "check.vmfb", spec)
    left = "it was not run, because a did not end in time"
    assert [(agreed.benchmark, agreed.failure) for agreed in found] == [
        ("a", "iree-run-module did not end within 0.3 s and was killed"),
        ("b", left),
        ("c", left),
    ]
    assert (tmp_path / "runs").read_text() == "\n"
