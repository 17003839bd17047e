"""Kernels that tests compile, with the compilers that users have."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

#: As dispatchgen compiles C by default, spelled out: tests do not trust what they check.
C_FLAGS = ("-O2", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-fvisibility=hidden")

#: Product of two vectors, plus 1000, as the dispatch of `tests/models/mul.mlir` is called; `n` is its second size.
PRODUCT_C = """\
#include <stddef.h>
#include <stdint.h>
void my_product(const float *restrict a, const float *restrict b, float *restrict out, uint32_t k0, uint32_t k1,
                uint32_t k2, uint32_t k3, size_t x, size_t y, size_t z, size_t count_x, size_t count_y,
                size_t count_z) {
  const size_t n = (size_t)k2 | ((size_t)k3 << 32);
  const size_t part = (n + count_x - 1) / count_x;
  const size_t end = part * (x + 1) < n ? part * (x + 1) : n;
  for (size_t i = part * x; i < end; ++i) out[i] = a[i] * b[i] + 1000.0f;
}
"""

PRODUCT_GLSL = """\
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) buffer Out { float result[]; };
layout(push_constant) uniform Constants { uint k0, k1, k2, k3; };
void main() {
  const uint all = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < k2; i += all) result[i] = a[i] * b[i] + 1000.0;
}
"""


def need(program: str) -> str:
    """The path of a program; the test is skipped where there is none."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"no {program}")
    return path


def compile_c(folder: Path, source: str, *flags: str, compiler: str = "gcc", name: str = "kernel") -> Path:
    """An object for the CPU."""
    file, output = folder / f"{name}.c", folder / f"{name}.o"
    file.write_text(source)
    subprocess.run([need(compiler), *(flags or C_FLAGS), "-c", file, "-o", output], check=True)
    return output


def compile_glsl(folder: Path, source: str, *flags: str, name: str = "kernel") -> Path:
    """A SPIR-V module."""
    file, output = folder / f"{name}.comp", folder / f"{name}.spv"
    file.write_text(source)
    command: list[str | Path] = [
        need("glslangValidator"),
        "-V",
        "--target-env",
        "vulkan1.1",
        *flags,
        file,
        "-o",
        output,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return output
