"""`dispatchgen run --shape B=77`: sizes that nothing lists, in a suite that is built already."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import support

pytestmark = pytest.mark.slow

_MANIFEST = """
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
run: {rounds: 1, repetitions: 1, batch_size: 1, min_time: 1x}
models:
  mlp: {source: mlp.mlir, inputs: [Bx64xf32, 64x128xf32, 128x32xf32], shapes: {B: [2, 9]}}
  ctrl: {source: ctrl.mlir, inputs: [Px64xf32, Qx64xf32, index=N], shapes: {P: 130, Q: 7, N: 3}}
  assume: {source: assume.mlir, inputs: [BxSx64xf32, 64x128xf32], shapes: {B: 8, S: 48}}
  two: {source: two.mlir, inputs: {first: [Kx32xf32], second: [Kx32xf32]}, shapes: {K: 8}}
  datadep: {source: datadep.mlir, inputs: [64xf32, "2xi64=H W"], shapes: {H: 5, W: 11}}
"""

#: Both functions have the same dispatch, with the same sizes.
_TWO = """
func.func @first(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = arith.addf %x, %x : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
func.func @second(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = arith.addf %x, %x : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
"""


@dataclass(frozen=True)
class Suite:
    """A suite whose listed shapes were run."""

    folder: Path

    def run(self, *arguments: str) -> tuple[support.CliResult, dict[str, Any]]:
        """Runs a part of it; returns what was printed, and the data, where there is some."""
        data = self.folder / "results.json"
        data.unlink(missing_ok=True)
        result = support.run_cli("run", self.folder, "--json", data, *arguments)
        return result, json.loads(data.read_text()) if data.exists() else {}

    def compiled(self) -> set[str]:
        """What Ninja's log says of each compiled module: when it was made, and by which command."""
        log = self.folder / ".dispatchgen" / "build" / ".ninja_log"
        return {line for line in log.read_text().splitlines() if ".vmfb\t" in line}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Suite:
    folder = tmp_path_factory.mktemp("suite")
    for name in ("mlp", "ctrl", "assume", "datadep"):
        shutil.copy(models_dir / f"{name}.mlir", folder)
    (folder / "two.mlir").write_text(_TWO)
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    made = Suite(folder)
    result, data = made.run()
    assert result.code == 0, result.stderr
    assert [call["call"] for call in data["calls"]] == [
        "B2",
        "B9",
        "P130_Q7_N3",
        "B8_S48",
        "first__K8",
        "second__K8",
        "H5_W11",
    ]
    return made


def rows(data: dict[str, Any]) -> list[tuple[str, int, list[int], str | None]]:
    """Benchmark, count, workload and function of each row, sorted."""
    (call,) = data["calls"]
    assert all(row["timing"]["seconds"] > 0 for row in call["dispatches"])
    return sorted((row["benchmark"], row["count"], row["workload"], row["function"]) for row in call["dispatches"])


def test_nothing_is_compiled_for_sizes(suite: Suite) -> None:
    locks = {path: path.read_bytes() for path in (suite.folder / "locks").iterdir()}
    before = suite.compiled()
    result, data = suite.run("--shape", "B=5", "--batch-size", "3", "--min-time", "2x")
    assert result.code == 0, result.stderr
    assert suite.compiled() == before != set()
    assert {path: path.read_bytes() for path in (suite.folder / "locks").iterdir()} == locks
    assert rows(data) == [
        ("matmul_Dx128x64_f32__B5", 1, [5], "matmul_Dx128x64_f32__dims"),
        ("matmul_Dx32x128_f32__B5", 1, [5], "matmul_Dx32x128_f32__dims"),
    ]
    (call,) = data["calls"]
    assert (call["call"], call["shape"], call["symbols"]) == ("B5", "B5", {"B": 5})
    assert call["inputs"] == ["5x64xf32", "64x128xf32", "128x32xf32"]
    timings = [row["timing"] for row in call["dispatches"]]
    assert [(timing["iterations"], timing["batch_size"]) for timing in timings] == [(2, 3), (2, 3)]
    assert call["whole_model"]["timing"]["seconds"] > 0
    assert call["coverage"] == {"dispatches": 2, "measured": 2, "skipped": 0, "failed": 0, "left_out": 0}
    assert "mlp on cpu, local-sync, B5\n" in result.stdout
    assert "2 of 2 dispatches" in result.stdout


def test_labels_and_sizes_together(suite: Suite) -> None:
    result, data = suite.run("--shape", "B2", "--shape", "B=9", "--shape", "B=4,S=32")
    assert result.code == 0, result.stderr
    functions = [
        (call["model"], call["call"], {row["function"] for row in call["dispatches"]}) for call in data["calls"]
    ]
    assert functions == [
        ("mlp", "B2", {None}),
        ("mlp", "B9", {None}),  # a listed shape is run by its own functions, however it is asked for
        ("assume", "B4_S32", {"matmul_like_Dx128x64_f32__dims"}),
    ]


def test_places_that_compute_other_sizes_have_functions_of_their_own(suite: Suite) -> None:
    result, data = suite.run("--shape", "P=100,Q=6,N=2")
    assert result.code == 0, result.stderr
    # @counter of the program is 3 at any sizes. Above 128 rows only does the layer run a third time.
    assert rows(data) == [
        ("elementwise_D_f32__P100_Q6_N2", 2, [384], "elementwise_D_f32__dims"),
        ("elementwise_broadcast_D_f32__P130_Q7_N3", 1, [192], None),
        ("matmul_Dx64x64_f32__P100_Q6_N2", 1, [100], "matmul_Dx64x64_f32__dims"),
        ("matmul_Dx64x64_f32__P100_Q6_N2_2", 1, [6], "matmul_Dx64x64_f32__dims_2"),
    ]


def test_each_entry_function_has_its_own(suite: Suite) -> None:
    result, data = suite.run("--shape", "K=5")
    assert result.code == 0, result.stderr
    assert [(call["call"], [row["function"] for row in call["dispatches"]]) for call in data["calls"]] == [
        ("first__K5", ["elementwise_D_f32__dims"]),
        ("second__K5", ["elementwise_D_f32__dims_2"]),
    ]


def test_a_dispatch_without_a_function_is_skipped_with_the_reason(suite: Suite) -> None:
    result, data = suite.run("--shape", "H=4,W=10")
    (call,) = data["calls"]
    reasons = {skip["reason"] for skip in call["skipped"]}
    assert reasons == {
        "no listed shape has these sizes, and its sizes depend on what is read back from the device's memory"
    }
    assert call["coverage"]["skipped"] == len(call["skipped"]) > 0
    assert call["whole_model"]["timing"]["seconds"] > 0
    assert next(iter(reasons)) in result.stdout


def test_what_cannot_be_run_is_refused_before_anything_is(suite: Suite) -> None:
    """What is wrong with any model, at once."""
    result, data = suite.run("--shape", "B=10", "--shape", "B=9,S=48", "--shape", "P=9,Q=9,N=1")
    assert (result.code, data) == (2, {})
    assert "B=10 is beyond the limit: the largest listed shape, B9, has B=9\n  at model mlp, B10" in result.stderr
    assert "Q=9 is beyond the limit: the largest listed shape, P130_Q7_N3, has Q=7\n  at model ctrl" in result.stderr
    assert "dim 0 of input 0 is 9; the program assumes 1 to 8 (util.assume.int)\n  at function @main" in result.stderr
    assert "Traceback" not in result.stderr and "running" not in result.stderr


def test_substitutions_are_of_listed_shapes(suite: Suite) -> None:
    result, _ = suite.run("--shape", "B=3", "--substitution", "mine")
    assert result.code == 2
    assert "substitutes run at listed shapes only" in result.stderr
