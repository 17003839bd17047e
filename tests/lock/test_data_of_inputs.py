"""Which bindings hold inputs, against recorded runs: the device found the same bytes there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import support
from configured import Configured
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.sizes import sizes_of
from dispatchgen.iree import ir
from dispatchgen.lock.data import data_plan
from dispatchgen.manifest.load import load_suite
from dispatchgen.profile.archive import RecordedBytes
from dispatchgen.profile.match import codes_of
from dispatchgen.profile.store import read_profile

_RANDOM = "{{type: {}, data: random}}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "inputs", "held"),
    [
        ("mlp", ["5x64xf32", "64x128xf32", "128x32xf32"], 3),
        ("multi", ["2x24x32xf32", "2x40x32xf32", "57xf32"], 2),
        ("ctrl", ["13x64xf32", "7x64xf32", "index=3"], 2),
    ],
)
def test_bindings_hold_what_a_run_found(
    name: str,
    inputs: list[str],
    held: int,
    iree_tools: support.IreeTools,
    models_dir: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / f"{name}.mlir").write_bytes((models_dir / f"{name}.mlir").read_bytes())
    texts = [text if "=" in text else _RANDOM.format(text) for text in inputs]
    manifest = tmp_path / "benchmarks.yaml"
    manifest.write_text(
        f"version: 1\nmodels:\n  m:\n    source: {name}.mlir\n    inputs: [{', '.join(texts)}]\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "dispatchgen", "capture", "m", "--keep-data", "-o", "profile.json"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=support.TIMEOUT)
    (model,) = load_suite(manifest).models
    with ir.read_module(Configured(iree_tools, tmp_path).module(models_dir / f"{name}.mlir")) as module:
        program = Program(module)
        profile = tmp_path / "profile.json"
        recorded = RecordedBytes(codes_of(program), [(profile, read_profile(profile))])
        found = extract(program, calls_of(program, model), "cpu", data=data_plan(model.data, tmp_path))
    compared = set()
    for dispatch in found.lock.dispatches:
        for benchmark in dispatch.benchmarks:
            for binding, words in enumerate(benchmark.data):
                known = recorded(dispatch.executable, dispatch.export, sizes_of(benchmark), binding)
                content = found.held.bindings[dispatch.name][benchmark.name][binding]
                if known is not None and words.startswith("input "):
                    assert content.data(benchmark.bindings[binding]) == known
                    compared.add(words.partition(":")[0])
    assert compared == {f"input {i}" for i in range(held)}, "the test shows nothing where it compares nothing"
