"""Suites with substitutions: manifest, programs, kernels and other substitutes, for tests of build systems."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from configured import FLAGS
from suite_folder import layers_program
from support import REPOSITORY, IreeTools, run_cli

#: What every manifest here starts with.
HEAD = """\
version: 1
backends:
  host:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
"""

#: `layers_program((8, 16, 24))` has these dispatches.
FIRST, SECOND = "matmul_4x16x8_f32", "matmul_4x24x16_f32"

#: A kernel in place of FIRST. SCALE is defined in another file.
KERNEL = """\
#include <stddef.h>
#include "scale.h"
void my_matmul(const float *a, const float *b, float *c, size_t x, size_t y, size_t z,
               size_t count_x, size_t count_y, size_t count_z) {
  if (x | y | z) return;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = 0.0f;
      for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 16 + j];
      c[i * 16 + j] = sum * SCALE;
    }
}
"""

#: The program of a product of two vectors, whose length is known at run time, and a kernel for 64 elements of it.
PRODUCT = (REPOSITORY / "tests" / "models" / "mul.mlir").read_text()
PRODUCT_KERNEL = """\
#include <stddef.h>
#include <stdint.h>
void product(const float *a, const float *b, float *c, uint32_t a_low, uint32_t a_high, uint32_t b_low, uint32_t b_high,
             size_t x, size_t y, size_t z, size_t count_x, size_t count_y, size_t count_z) {
  size_t n = a_low | (uint64_t)a_high << 32;
  for (size_t i = 64 * x; i < n && i < 64 * (x + 1); ++i) c[i] = a[i] * b[i];
}
"""
PRODUCT_WORKGROUPS = "(w0, w1) -> (w0 ceildiv 64, 1, 1)"

#: A tuning spec for products of matrices with `columns` columns.
TUNING_SPEC = """\
module @tuned attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @annotate(
      %op: !transform.any_op {{transform.readonly}}, %config: !transform.any_param {{transform.readonly}}) {{
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }}
  transform.named_sequence @match(
      %op: !transform.any_op {{transform.readonly}}) -> (!transform.any_op, !transform.any_param) {{
    transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = #iree_cpu.lowering_config<
        distribution = [4, {tile}, 0], vector_common_parallel = [4, {tile}, 0], vector_reduction = [0, 0, 4]>,
      translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>
    > -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }}
  transform.named_sequence @main(%variant: !transform.any_op {{transform.consumed}}) -> !transform.any_op
      attributes {{iree_codegen.tuning_spec_entrypoint}} {{
    %result = transform.foreach_match in %variant @match -> @annotate : (!transform.any_op) -> !transform.any_op
    transform.yield %result : !transform.any_op
  }}
}}
"""


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Writes files, in folders that are made where they are missing."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_layers(folder: Path, widths: Sequence[int] = (8, 16, 24)) -> Path:
    """Writes the program of FIRST and SECOND to `models/m.mlir`."""
    path = folder / "models" / "m.mlir"
    write_files(folder, {"models/m.mlir": layers_program(widths)})
    return path


def dumped_source(tools: IreeTools, program: Path, operation: str) -> str:
    """The executable of an operation of a program as IREE dumps it, not configured."""
    dumps = program.parent / "dumps"
    flags = (*FLAGS, "--compile-to=executable-configurations", f"--iree-hal-dump-executable-sources-to={dumps}")
    subprocess.run([tools.compile, program, *flags, "-o", "-"], check=True, capture_output=True)
    (text,) = [text for path in dumps.iterdir() if re.search(rf"@\w*{operation}\(", text := path.read_text())]
    return text


def lock_and_generate(folder: Path, system: str) -> None:
    """Runs `dispatchgen lock`, and `generate` for a build system, as users do."""
    for command in (["lock", str(folder)], ["generate", f"--{system}", str(folder)]):
        result = run_cli(*command)
        assert result.code == 0, result.stderr
