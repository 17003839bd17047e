"""`dispatchgen sweep` as a process: its files, its exit codes, its errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from dispatchgen.cli.sweep import command
from dispatchgen.errors import DispatchgenError
from dispatchgen.sweep.schema import SWEEP_VERSION, Sweep
from support import CliResult, RunCli

_MANIFEST = """\
version: 1
backends:
  cpu:
    target_device: local
    local_backend: llvm-cpu
    compile_flags: [--iree-llvmcpu-target-cpu=generic]
    devices: [local-sync]
  cuda: {target_device: cuda, compile_flags: [--iree-cuda-target=sm_80], devices: [cuda]}
  metal: {target_device: metal}
models:
  product:
    source: product.mlir
    inputs: [Nxf32, Nxf32]
    shapes: {N: 100}
"""


@pytest.fixture(scope="module")
def suite_dir(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """The suite's folder: one model of one dispatch."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "benchmarks.yaml").write_text(_MANIFEST)
    shutil.copy(models_dir / "mul.mlir", folder / "product.mlir")
    return folder


def sweep(run_cli: RunCli, suite_dir: Path, *arguments: str | Path) -> CliResult:
    """Sweeps the only dispatch of the model."""
    return run_cli("sweep", "product", "--manifest", suite_dir, "--dispatch", "elementwise_D_f32", *arguments)


def test_table_data_and_curves(suite_dir: Path, tmp_path: Path, run_cli: RunCli) -> None:
    data, curves = tmp_path / "sweep.json", tmp_path / "sweep.svg"
    result = sweep(
        run_cli, suite_dir, "--backend", "cpu", "--dims", "N=1..4096:x16", "--min-time", "1x", "--data", "random",
        "--json", data, "--svg", curves,
    )  # fmt: skip
    assert result.code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["product", "on", "cpu,", "local-sync:", "elementwise_D_f32"]
    assert [row[0] for row in rows[2:6]] == ["1", "16", "256", "4096"]
    assert "measuring" in result.stderr
    written = Sweep.model_validate_json(data.read_text())
    assert (written.version, written.settings.min_time) == (SWEEP_VERSION, "1x")
    assert written.dims == {"N": (1, 16, 256, 4096)}
    assert written.host is not None and written.runtime is not None
    assert ElementTree.parse(curves).getroot().tag.endswith("svg")


def test_data_on_standard_output(suite_dir: Path, run_cli: RunCli) -> None:
    result = sweep(run_cli, suite_dir, "--device", "local-sync", "--dims", "N=5", "--budget", "0.01", "--json", "-")
    assert result.code == 0, result.stderr
    assert json.loads(result.stdout)["curves"][0]["points"][0]["bindings"] == [20, 20, 20]
    assert "product on cpu" in result.stderr


def test_a_point_that_cannot_be_measured(suite_dir: Path, run_cli: RunCli) -> None:
    sizes = "N=5,100000000000000"
    result = sweep(run_cli, suite_dir, "--backend", "cpu", "--dims", sizes, "--min-time", "1x")
    assert result.code == 1
    assert "  failed at N=100000000000000: iree-benchmark-executable: " in result.stdout
    assert result.stderr.endswith("error: 1 of 2 points could not be measured\n")


def test_nothing_could_be_measured(suite_dir: Path, run_cli: RunCli) -> None:
    result = sweep(run_cli, suite_dir, "--backend", "cpu", "--dims", "N=100000000000000")
    assert (result.code, result.stderr.splitlines()[-1]) == (1, "error: nothing was measured")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--dims", "N=4"], 2, "one backend is needed, and these are meant: `cpu`, `cuda`, `metal`"),
        (["--dims", "N=4", "--backend", "cuda"], 1, "device cuda (cuda) is absent: "),
        (["--dims", "N=4", "--backend", "metal"], 2, "backend `metal` has no devices in the manifest"),
        (["--dims", "N=4", "--backend", "gpu"], 2, "there is no backend `gpu`"),
        (["--dims", "N=4", "--device", "hip"], 2, "there is no device `hip` among those selected"),
        (["--dims", "M=4", "--backend", "cpu"], 2, "model `product` has no symbol `M`"),
        (["--dims", "N=4..1", "--backend", "cpu"], 2, "--dims N=4..1: the range is empty"),
        (["--dims", "N=4", "--min-time", "1x", "--budget", "1"], 2, "--budget and --min-time exclude each other"),
        (["--dims", "N=4", "--json", "absent/x.json"], 2, "there is no folder 'absent'"),
        (["--dims", "N=4", "--min-time", "fast", "--backend", "cpu"], 2, "--min-time"),
        (["--dims", "N=4", "--backend", "cpu", "--build-dir", "/usr"], 2, "the build folder holds files that"),
        (["--backend", "cpu"], 2, "Missing option '--dims'"),
    ],
)
def test_errors(arguments: list[str], code: int, message: str, suite_dir: Path) -> None:
    options = ["product", "--manifest", str(suite_dir), "--dispatch", "elementwise_D_f32", *arguments]
    result = CliRunner().invoke(command, options)
    error = result.exception
    assert isinstance(error, (DispatchgenError, SystemExit))
    assert (error.exit_code if isinstance(error, DispatchgenError) else error.code) == code
    assert message in f"{result.output}{error}"
