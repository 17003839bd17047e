"""`dispatchgen run` of a model with substitutions: right, wrong, broken in every way, and the same as the original."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import support
from dispatchgen.results.json_schema import json_schema
from schema_check import problems
from substituted import build

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")]

FIRST, SECOND = "matmul_Dx128x64_f32", "matmul_Dx32x128_f32"
_MANIFEST = f"""
version: 1
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {{B: 7}}
    substitutions:
      right: &kernel
        dispatch: {{operation: {FIRST}}}
        object: right.c
        workgroups: (w0) -> (1, 1, 1)
        check: {{tolerance: 1.0e-4}}
      wrong: {{<<: *kernel, object: wrong.c}}
      crashes: {{<<: *kernel, object: crashes.c}}
      not C: {{<<: *kernel, object: not_c.c}}
      no entry: {{<<: *kernel, entry: nothing}}
      compiler crash: {{<<: *kernel}}
      same: {{dispatch: {SECOND}, configuration: same.mlir}}
      negative: {{dispatch: {SECOND}, configuration: negative.mlir, check: {{tolerance: 1.0}}}}
    combinations:
      both: [right, negative]
      broken: [no entry, same]
  other: {{source: mlp.mlir, inputs: [4x64xf32, 64x128xf32, 128x32xf32]}}
run: {{rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}}
"""
_KERNEL = """\
#include <stddef.h>
#include <stdint.h>
void kernel(const float *a, const float *b, float *out, uint32_t rows, uint32_t rows_high, size_t x, size_t y, size_t z,
            size_t count_x, size_t count_y, size_t count_z) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < 128; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 64; ++k) sum += a[i * 64 + k] * b[k * 128 + j];
      out[i * 128 + j] = sum > 0 ? sum : 0;
    }
  STATEMENT;
}
"""
_STATEMENTS = {
    "right": "",
    "wrong": "out[135] += 1000",
    "crashes": "*(volatile int *)0 = 1",
    "not_c": "here is an error",
}


@dataclass(frozen=True)
class Ran:
    """A suite that was run, and what that gave."""

    suite: Path
    tools: Path
    result: support.CliResult
    data: dict[str, Any]

    @property
    def call(self) -> dict[str, Any]:
        (call,) = (call for call in self.data["calls"] if call["model"] == "mlp")
        found: dict[str, Any] = call
        return found

    def substitution(self, name: str) -> dict[str, Any]:
        (found,) = (each for each in self.call["substitutions"] if each["name"] == name)
        substitution: dict[str, Any] = found
        return substitution

    def row(self, name: str) -> dict[str, Any]:
        (row,) = self.substitution(name)["dispatches"]
        found: dict[str, Any] = row
        return found


def run(suite: Path, tools: Path, *arguments: str) -> Ran:
    data = suite / "results.json"
    data.unlink(missing_ok=True)
    result = support.run_cli("run", suite, "--json", data, *arguments, env={"IREE_HOST_BIN_DIR": str(tools)})
    return Ran(suite, tools, result, json.loads(data.read_text()) if data.exists() else {})


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, models_dir: Path, iree_tools: support.IreeTools) -> Ran:
    """The whole suite, once, with a compiler that crashes on one of the variants."""
    suite = tmp_path_factory.mktemp("suite")
    shutil.copy(models_dir / "mlp.mlir", suite)
    (suite / "benchmarks.yaml").write_text(_MANIFEST)
    for name, statement in _STATEMENTS.items():
        (suite / f"{name}.c").write_text(_KERNEL.replace("STATEMENT", statement))
    built = build(iree_tools, suite / "dumps", suite / "mlp.mlir", "llvm-cpu", ("7x64xf32", "64x128xf32", "128x32xf32"))
    shutil.copy(built.dump(SECOND, "configuration"), suite / "same.mlir")
    negative = built.edited(SECOND, "configuration", "arith.constant 0.000000e+00", "arith.constant 1.000000e+00")
    shutil.copy(negative, suite / "negative.mlir")
    compiler = suite / "bin" / "iree-compile"
    compiler.parent.mkdir()
    crash = 'case "$word" in */substitutions/compiler_crash/*.vmfb) kill -SEGV $$;; esac'
    compiler.write_text(f'#!/bin/sh\nfor word in "$@"; do {crash}; done\nexec {iree_tools.compile} "$@"\n')
    compiler.chmod(0o755)
    return run(suite, compiler.parent)


def test_the_results_fit_their_schema(ran: Ran) -> None:
    assert problems(json_schema(), ran.data) == []


def test_the_original_is_measured_whatever_happens_to_the_others(ran: Ran) -> None:
    assert ran.result.code == 1
    assert "Traceback" not in ran.result.stderr
    call = ran.call
    assert call["coverage"] == {"dispatches": 2, "measured": 2, "skipped": 0, "failed": 0, "left_out": 0}
    assert call["whole_model"]["timing"]["seconds"] > 0
    assert [each["call"] for each in ran.data["calls"]] == ["B7", "static"]
    names = ["right", "wrong", "crashes", "not C", "no entry", "compiler crash", "same", "negative"]
    assert [each["name"] for each in call["substitutions"]] == [*names, "both", "broken"]


def test_a_right_kernel_stands_beside_the_original(ran: Ran) -> None:
    row = ran.row("right")
    original = next(each for each in ran.call["dispatches"] if each["name"] == FIRST)
    assert row["original"] == original["timing"]
    assert row["ratio"] == pytest.approx(row["timing"]["seconds"] / original["timing"]["seconds"])
    assert (row["kind"], row["file"], row["same"], row["failure"]) == ("kernel", "right.c", None, None)
    assert (row["name"], row["benchmark"], row["operation"], row["count"]) == (FIRST, f"{FIRST}__B7", FIRST, 1)
    assert row["agreement"]["agrees"]
    assert row["agreement"]["tolerance"] == 1e-4
    model = ran.substitution("right")
    expected = model["whole_model"]["timing"]["seconds"] / ran.call["whole_model"]["timing"]["seconds"]
    assert model["ratio"] == pytest.approx(expected)
    assert not model["same"]


def test_a_kernel_wrong_in_one_element_is_measured_and_found(ran: Ran) -> None:
    row = ran.row("wrong")
    assert row["timing"]["seconds"] > 0
    assert not row["agreement"]["agrees"]
    assert row["agreement"]["worst"] == pytest.approx(1000, rel=0.01)
    assert "binding 2, element 135 (f32): " in row["agreement"]["failure"]
    assert f"  outputs of {FIRST}__B7: binding 2, element 135 (f32): " in ran.result.stdout
    assert "of 3 substitutions are not the compiler's, or could not be compared" in ran.result.stderr


def test_a_crash_fails_its_own_substitution_alone(ran: Ran) -> None:
    row = ran.row("crashes")
    assert (row["timing"], row["failure"]) == (None, "iree-benchmark-module: crashed (SIGSEGV)")
    assert row["agreement"]["failure"] == "iree-run-module: crashed (SIGSEGV)"
    assert ran.substitution("crashes")["whole_model"]["failure"] == "iree-benchmark-module: crashed (SIGSEGV)"


@pytest.mark.parametrize(
    ("name", "step", "reason"),
    [
        ("not C", "object", "not_c.c:11:3: unknown type name"),
        ("no entry", "substitute", "there is no entry point `nothing` in the object; it defines `kernel`"),
        ("compiler crash", "compile", ""),
    ],
)
def test_what_cannot_be_built_has_the_step_and_its_reason(ran: Ran, name: str, step: str, reason: str) -> None:
    row, model = ran.row(name), ran.substitution(name)["whole_model"]
    for failure in (row["failure"], model["failure"]):
        assert failure.startswith(f"{step}: ")
        assert reason in failure
    assert (row["timing"], row["original"]["seconds"] > 0, row["agreement"]) == (None, True, None)
    identifier = name.replace(" ", "_")
    failed = [each for each in ran.data["build_failures"] if each["substitution"] == identifier]
    assert step in {each["step"] for each in failed}
    assert f"with {identifier}" in ran.result.stdout


def test_what_is_the_same_is_said_and_not_timed(ran: Ran) -> None:
    row, model = ran.row("same"), ran.substitution("same")
    assert (row["same"], row["timing"], row["failure"], row["ratio"]) == ("text", None, None, None)
    assert (model["same"], model["whole_model"]["timing"], model["whole_model"]["failure"]) == (True, None, None)
    assert f"  same {SECOND}__B7: the compiler's own kernel, word for word" in ran.result.stdout
    assert "whole model: the compiler's own, byte for byte" in ran.result.stdout


def test_a_combination_is_a_whole_program(ran: Ran) -> None:
    both, broken = ran.substitution("both"), ran.substitution("broken")
    assert (both["members"], both["dispatches"]) == (["right", "negative"], [])
    assert both["whole_model"]["timing"]["seconds"] > 0
    assert broken["whole_model"]["failure"].startswith("substitute: there is no entry point `nothing`")


def test_one_substitution_is_run_beside_its_original_only(ran: Ran) -> None:
    """In the same build folder, where all is up to date; the other model is not run."""
    again = run(ran.suite, ran.tools, "--substitution", "right")
    assert again.result.code == 0, again.result.stderr
    (call,) = again.data["calls"]
    assert [each["name"] for each in call["dispatches"]] == [FIRST]
    assert call["coverage"] == {"dispatches": 2, "measured": 1, "skipped": 0, "failed": 0, "left_out": 1}
    assert call["sum_seconds"] is None
    assert [each["name"] for each in call["substitutions"]] == ["right"]
    assert again.data["build_failures"] == []
    assert "1 of 2 dispatches, 1 not asked for" in again.result.stdout


def test_a_kernel_replaced_by_an_older_file_is_another_one(ran: Ran) -> None:
    """As `cp -p`, `mv` and `tar` do: Ninja goes by times, and would measure what it built before."""
    kernel, right = ran.suite / "right.c", (ran.suite / "right.c").read_text()
    older = kernel.stat().st_mtime - 1000
    assert run(ran.suite, ran.tools, "--substitution", "right").row("right")["agreement"]["agrees"]
    try:
        shutil.copyfile(ran.suite / "wrong.c", kernel)
        os.utime(kernel, (older, older))
        row = run(ran.suite, ran.tools, "--substitution", "right").row("right")
    finally:
        kernel.write_text(right)
    assert "binding 2, element 135 (f32): " in row["agreement"]["failure"]
    cache = (ran.suite / ".dispatchgen" / "build" / "CMakeCache.txt").read_text()
    assert "\nDISPATCHGEN_HASH_INPUTS:BOOL=ON\n" in cache


def test_an_unknown_substitution_is_said(ran: Ran) -> None:
    result = support.run_cli("run", ran.suite, "--substitution", "rihgt")
    assert result.code == 2
    assert "error: there is no substitution or combination `rihgt` among those selected\n" in result.stderr
    assert "  try: `right`\n" in result.stderr
