"""First manifests: they load, lock, and say what the program says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dispatchgen.draft import DraftModel, manifest_text
from dispatchgen.manifest.suite import Source
from support import RunCli


@pytest.mark.parametrize(
    ("name", "inputs", "shapes"),
    [
        ("mlp", ["Ax64xf32", "64x128xf32", "128x32xf32"], {"A": 1}),
        ("ctrl", ["Ax64xf32", "Bx64xf32", "index=1"], {"A": 1, "B": 1}),
        ("assume", ["AxBx64xf32", "64x128xf32"], {"A": 1, "B": 16}),
        ("datadep", None, None),
    ],
)
def test_init(
    name: str,
    inputs: list[str] | None,
    shapes: dict[str, int] | None,
    run_cli: RunCli,
    models_dir: Path,
    tmp_path: Path,
) -> None:
    shutil.copy(models_dir / f"{name}.mlir", tmp_path)
    result = run_cli("init", f"{name}.mlir", cwd=tmp_path)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout == "wrote benchmarks.yaml\nnext: dispatchgen run\n"
    manifest = yaml.safe_load((tmp_path / "benchmarks.yaml").read_text())
    model = manifest["models"][name]
    assert (model.get("inputs"), model.get("shapes")) == (inputs, shapes)
    assert run_cli("lock", cwd=tmp_path).code == 0
    assert json.loads((tmp_path / "locks" / f"{name}.json").read_text())["model"] == name


@pytest.mark.slow
def test_init_of_packaged_models(run_cli: RunCli, tmp_path: Path) -> None:
    models = [
        "package:magika/models/standard_v3_3/model.onnx",
        "package:onnx/backend/test/data/light/light_squeezenet.onnx",
    ]
    result = run_cli("init", *models, cwd=tmp_path)
    assert (result.code, result.stderr) == (0, "")
    manifest = yaml.safe_load((tmp_path / "benchmarks.yaml").read_text())
    assert manifest["models"]["magika"]["inputs"] == ["Ax2048xi32"]
    assert "inputs" not in manifest["models"]["light_squeezenet"]


def test_an_existing_manifest_is_not_replaced(run_cli: RunCli, models_dir: Path, tmp_path: Path) -> None:
    shutil.copy(models_dir / "mul.mlir", tmp_path)
    manifest = tmp_path / "benchmarks.yaml"
    manifest.write_text("mine")
    result = run_cli("init", "mul.mlir", cwd=tmp_path)
    assert (result.code, manifest.read_text()) == (2, "mine")
    assert result.stderr == (
        "error: the manifest is there already\n  at benchmarks.yaml\n  try: --force to replace it\n"
    )
    assert run_cli("init", "mul.mlir", "--force", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nothing.mlir", "nothing.mlir"),
        ("../outside.mlir", "leaves the suite's folder"),
        ("model.txt", "is not a known kind of model"),
        ("package:no_such_package/a.mlir", "no_such_package"),
        ("broken.mlir", "broken.mlir:1:1"),
        ("nodispatch.mlir", "nothing to benchmark"),
    ],
)
def test_bad_models(model: str, message: str, run_cli: RunCli, tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "outside.mlir").write_text("")
    (folder / "model.txt").write_text("")
    (folder / "broken.mlir").write_text("func.func @main(")
    (folder / "nodispatch.mlir").write_text("func.func @main(%x: i32) -> i32 { return %x : i32 }")
    result = run_cli("init", model, cwd=folder)
    assert result.code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "benchmarks.yaml").exists()


texts = st.text(st.characters(codec="utf-8"), min_size=1)


@settings(max_examples=30, deadline=None)
@given(name=texts, path=texts, flag=texts)
def test_any_text_is_read_back(name: str, path: str, flag: str) -> None:
    inputs = {name: [flag], f"{name}2": []}
    text = manifest_text([DraftModel(name, Source(path, "mlir"), [flag], inputs, {"B": 1}, False)])
    model = {"source": path, "import_flags": [flag], "inputs": inputs, "shapes": {"B": 1}}
    assert yaml.safe_load(text) == {"version": 1, "models": {name: model}}
