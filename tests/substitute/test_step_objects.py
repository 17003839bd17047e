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
  for (uint i = 0; i < 5; ++i) o[i] = a[i] * b[i] + 1000.0;
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


@pytest.mark.parametrize("named_like", ["dispatch", "export"])
def test_a_kernel_may_be_called_like_what_it_replaces(product: Built, named_like: str) -> None:
    entry = product.only if named_like == "dispatch" else product.dispatches[product.only].export
    file = c_object(product, named_like, entry=entry, dynamic=True)
    product.substitute(named_like, "object", file, product.only, workgroups="(n, m) -> (n ceildiv 2, 1, 1)")
    product.substitute_program(named_like)
    product.compile(f"dispatches/{product.only}.mlir", named_like)
    assert product.run(product.compile("configured.mlir", named_like), *_INPUTS) == _RESULT


def test_two_objects_of_one_program_cannot_define_the_same(mlp: Built) -> None:
    for number, dispatch in enumerate(mlp.dispatches):
        file = c_object(mlp, f"object{number}", dynamic=True)
        source = file.with_suffix(".c")
        source.write_text(source.read_text().replace("1000", str(number)).replace(_DYNAMIC, "uint32_t n, uint32_t m,"))
        subprocess.run(["gcc", "-O2", "-ffreestanding", "-fPIC", "-c", str(source), "-o", str(file)], check=True)
        mlp.substitute(f"object{number}", "object", file, dispatch)
    mlp.substitute_program("object0")
    with pytest.raises(SubstitutionError, match=r"`multiply` is defined by `object0/kernel\.o`, `object1/kernel\.o`"):
        mlp.substitute_program("objects", "object0", "object1")


@pytest.mark.lavapipe
@pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="no glslangValidator")
def test_a_glsl_kernel_runs_in_the_program(static_product: Built, iree_tools: IreeTools, tmp_path: Path) -> None:
    source = static_product.folder / "product.mlir"
    built = build(iree_tools, tmp_path, source, "vulkan", ("5xf32", "5xf32"))
    built.variant("glsl").mkdir(parents=True)
    shader, output = tmp_path / "kernel.comp", built.variant("glsl") / "kernel.spv"
    shader.write_text(_GLSL)
    command = ["glslangValidator", "-V", "--target-env", "vulkan1.1", str(shader), "-o", str(output)]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    built.substitute("glsl", "object", output, built.only, workgroups="() -> (1, 1, 1)")
    built.compile(f"dispatches/{built.only}.mlir", "glsl")
    text = built.substitute_program("glsl").read_text()
    assert f"@{built.dispatches[built.only].export}" not in text
    assert built.run(built.compile("configured.mlir", "glsl"), *_INPUTS, device="vulkan") == _RESULT


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
