"""Kernels that are objects, from the object to the whole program, by the real compilers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError
from substituted import Built, build
from support import IreeTools

_C = """\
#include <stddef.h>
#include <stdint.h>
void {entry}(float *a, float *b, float *out, {constants}
             size_t x, size_t y, size_t z, size_t count_x, size_t count_y, size_t count_z) {{
  size_t size = {size}, part = (size + count_x - 1) / count_x, begin = part * x;
  for (size_t i = begin; i < begin + part && i < size; ++i) out[i] = a[i] * b[i] + 1000.0f;
}}
"""
_DYNAMIC = "uint32_t n, uint32_t n_high, uint32_t m, uint32_t m_high,"
_GLSL = """\
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float o[]; };
void main() {
  for (uint i = 0; i < 5; ++i) o[i] = a[i] + %d.0;
}
"""
_TWO_DISPATCHES = """\
func.func @main(%x: tensor<5xf32>, %w: tensor<5x5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5xf32>) -> tensor<5xf32>
  %y = linalg.matvec ins(%w, %x : tensor<5x5xf32>, tensor<5xf32>) outs(%init : tensor<5xf32>) -> tensor<5xf32>
  %z = linalg.vecmat ins(%y, %w : tensor<5xf32>, tensor<5x5xf32>) outs(%init : tensor<5xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
"""
#: Fits any dispatch of two sizes as constants and three bindings; 32 numbers of the last are written.
_ONES = """\
void ones(float *a, float *b, float *out, unsigned n, unsigned n_high) {
  for (int i = 0; i < 32; ++i) out[i] = 1.0f;
}
"""
_INPUTS = "5xf32=1 2 3 4 5", "5xf32=10"
_RESULT = "5xf32=1010 1020 1030 1040 1050"


def c_object(built: Built, substitution: str, compiler: str = "gcc", *, entry: str = "multiply", dynamic: bool) -> Path:
    """An object with a kernel that multiplies and adds 1000, where builds have it."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    folder = built.variant(substitution)
    folder.mkdir(parents=True, exist_ok=True)
    source, output = folder / "kernel.c", folder / "kernel.o"
    constants, size = (_DYNAMIC, "n") if dynamic else ("", "5")
    source.write_text(_C.format(entry=entry, constants=constants, size=size))
    flags = ["-O2", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-fvisibility=hidden"]
    subprocess.run([compiler, *flags, "-c", str(source), "-o", str(output)], check=True)
    return output


@pytest.mark.parametrize(("model", "compiler"), [("product", "gcc"), ("static_product", "clang")])
def test_a_c_kernel_runs_in_the_program(model: str, compiler: str, request: pytest.FixtureRequest) -> None:
    built: Built = request.getfixturevalue(model)
    file = c_object(built, compiler, compiler, dynamic=model == "product")
    assert built.substitute(compiler, "object", file, built.only, tolerance=0.1) == []
    assert built.record(compiler, built.only).entry == "multiply"
    built.compile(f"dispatches/{built.only}.check.mlir", compiler)
    built.compile(f"dispatches/{built.only}.mlir", compiler)
    built.substitute_program(compiler)
    assert built.run(built.compile("configured.mlir", compiler), *_INPUTS) == _RESULT


@pytest.mark.parametrize("named_like", ["dispatch", "export", "executable"])
def test_a_kernel_may_be_called_like_what_it_replaces(product: Built, named_like: str) -> None:
    export = product.dispatches[product.only].export
    entry = {"dispatch": product.only, "export": export, "executable": f"{product.only}_executable"}[named_like]
    file = c_object(product, named_like, entry=entry, dynamic=True)
    product.substitute(named_like, "object", file, product.only, workgroups="(n, m) -> (n ceildiv 2, 1, 1)")
    product.substitute_program(named_like)
    product.compile(f"dispatches/{product.only}.mlir", named_like)
    assert product.run(product.compile("configured.mlir", named_like), *_INPUTS) == _RESULT


def test_a_kernel_is_not_called_like_another_dispatch(mlp: Built) -> None:
    first, second = mlp.dispatches
    export = mlp.dispatches[second].export
    file = c_object(mlp, "named_like_another", entry=export, dynamic=True)
    source = file.with_suffix(".c")
    source.write_text(source.read_text().replace(_DYNAMIC, "uint32_t n, uint32_t n_high,"))
    subprocess.run(["gcc", "-O2", "-ffreestanding", "-fPIC", "-c", str(source), "-o", str(file)], check=True)
    mlp.substitute("named_like_another", "object", file, first)
    with pytest.raises(SubstitutionError, match=rf"`{export}` is a function of the substitute, and .* of {second}"):
        mlp.substitute_program("named_like_another")


def test_two_objects_of_one_program_cannot_define_the_same(mlp: Built) -> None:
    for number, dispatch in enumerate(mlp.dispatches):
        file = c_object(mlp, f"object{number}", dynamic=True)
        source = file.with_suffix(".c")
        source.write_text(source.read_text().replace("1000", str(number)).replace(_DYNAMIC, "uint32_t n, uint32_t m,"))
        subprocess.run(["gcc", "-O2", "-ffreestanding", "-fPIC", "-c", str(source), "-o", str(file)], check=True)
        mlp.substitute(f"object{number}", "object", file, dispatch)
    mlp.substitute_program("object0")
    with pytest.raises(
        SubstitutionError, match=r"`multiply` is defined by `kernel\.o \(object0\)`, `kernel\.o \(object1\)`"
    ):
        mlp.substitute_program("objects", "object0", "object1")


def test_one_object_replaces_several_dispatches(mlp: Built) -> None:
    file = c_object(mlp, "both", dynamic=True)
    source = file.with_suffix(".c")
    source.write_text(_ONES)
    subprocess.run(["gcc", "-O2", "-ffreestanding", "-fPIC", "-c", str(source), "-o", str(file)], check=True)
    for dispatch in mlp.dispatches:
        mlp.substitute("both", "object", file, dispatch, workgroups="(n) -> (1, 1, 1)")
    mlp.substitute_program("both")
    inputs = "1x64xf32=7", "64x128xf32=7", "128x32xf32=7"
    assert mlp.run(mlp.compile("configured.mlir", "both"), *inputs) == f"1x32xf32=[{' '.join(['1'] * 32)}]"


@pytest.mark.lavapipe
@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="no glslangValidator")
def test_glsl_kernels_run_in_the_program(iree_tools: IreeTools, tmp_path: Path) -> None:
    """Two of them, whose entry points have the same name."""
    source = tmp_path / "program.mlir"
    source.write_text(_TWO_DISPATCHES)
    inputs = "5xf32=7", f"5x5xf32={' '.join(map(str, range(1, 26)))}"
    built = build(iree_tools, tmp_path, source, "vulkan", ("5xf32", "5x5xf32"))
    assert len(built.dispatches) == 2
    for added, dispatch in zip((10, 100), built.dispatches, strict=True):
        substitution = f"glsl{added}"
        built.variant(substitution).mkdir(parents=True)
        shader, output = tmp_path / "kernel.comp", built.variant(substitution) / "kernel.spv"
        shader.write_text(_GLSL % added)
        command = ["glslangValidator", "-V", "--target-env", "vulkan1.1", str(shader), "-o", str(output)]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)
        built.substitute(substitution, "object", output, dispatch, workgroups="() -> (1, 1, 1)")
        built.compile(f"dispatches/{dispatch}.mlir", substitution)
    text = built.substitute_program("both", "glsl10", "glsl100").read_text()
    assert not any(f"@{dispatch.export}" in text for dispatch in built.dispatches.values())
    assert built.run(built.compile("configured.mlir", "both"), *inputs, device="vulkan") == "5xf32=111 112 113 114 115"


@pytest.mark.slow
@pytest.mark.parametrize(("target", "suffix"), [("cuda", "ptx"), ("hip", "hsaco")])
def test_irees_own_code_substituted_back(
    target: str, suffix: str, product: Built, iree_tools: IreeTools, tmp_path: Path
) -> None:
    built = build(iree_tools, tmp_path, product.folder / "product.mlir", target, ("5xf32", "5xf32"))
    module = f"dispatches/{built.only}.mlir"
    dumps = tmp_path / "dumps"
    original = built.compile(module, flags=[f"--iree-hal-dump-executable-binaries-to={dumps}"])
    (file,) = dumps.glob(f"*.{suffix}")
    built.substitute("back", "object", file, built.only)
    again = built.compile(module, "back")
    assert abs(again.stat().st_size - original.stat().st_size) < 128
    built.substitute_program("back")
    built.compile("configured.mlir", "back")
