"""First manifests: they load, lock, and say what the program says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dispatchgen.draft import DraftModel, manifest_text
from dispatchgen.manifest.suite import Source
from support import RunCli


@pytest.mark.parametrize(
    ("name", "inputs", "shapes"),
    [
        ("mlp", ["Ax64xf32", "64x128xf32", "128x32xf32"], {"A": 1}),
        ("ctrl", ["Ax64xf32", "Bx64xf32", "index=1"], {"A": 1, "B": 1}),
        ("assume", ["AxBx64xf32", "64x128xf32"], "auto"),
        ("datadep", ["64xf32", "2xi64=1 1"], None),
    ],
)
def test_init(
    name: str,
    inputs: list[str] | None,
    shapes: dict[str, int] | str | None,
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nothing.mlir", "nothing.mlir"),
        (
            "../outside.mlir",
            "the model `../outside.mlir` lies outside of the manifest's folder\n  try: a manifest in a",
        ),
        ("../nothing.mlir", "there is no file `../nothing.mlir`"),
        ("link.mlir", "the model `link.mlir` lies outside of the manifest's folder"),
        ("$(x).mlir", "cannot use the path `$(x).mlir`: it holds '$(x)', which CMake passes on as a variable of Make"),
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
    (folder / "link.mlir").symlink_to(tmp_path / "outside.mlir")
    (folder / "$(x).mlir").write_text("")
    (folder / "model.txt").write_text("")
    (folder / "broken.mlir").write_text("func.func @main(")
    (folder / "nodispatch.mlir").write_text("func.func @main(%x: i32) -> i32 { return %x : i32 }")
    result = run_cli("init", model, cwd=folder)
    assert result.code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "benchmarks.yaml").exists()


@pytest.mark.slow
def test_a_manifest_below_the_model_is_told_where_to_go(run_cli: RunCli, models_dir: Path, tmp_path: Path) -> None:
    shutil.copy(models_dir / "mul.mlir", tmp_path)
    result = run_cli("init", "-o", "d/e/f.yaml", "mul.mlir", cwd=tmp_path)
    assert (result.code, result.stderr) == (
        2,
        "error: the model `mul.mlir` lies outside of the manifest's folder\n"
        "  try: a manifest in a folder above all models, e.g. `-o f.yaml`\n",
    )
    assert not (tmp_path / "d").exists()
    assert run_cli("init", "-o", "f.yaml", "mul.mlir", cwd=tmp_path).code == 0


@pytest.mark.slow
def test_the_comment_names_the_models_own_symbol(run_cli: RunCli, models_dir: Path, tmp_path: Path) -> None:
    shutil.copy(models_dir / "mlp.mlir", tmp_path)
    assert run_cli("init", "mlp.mlir", cwd=tmp_path).code == 0
    text = (tmp_path / "benchmarks.yaml").read_text()
    assert "    shapes: {A: 1}  # more sizes as you need: {A: [1, 8]}, or ranges: {auto: 8, A: 1..64}\n" in text


#: Two functions; what they make is as large as the values of their last arguments say, in `@main` without a remainder
#: by 4.
_SIZES_ARE_DATA = """
func.func @main(%x: tensor<4xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %sizes[%c0] : tensor<2xi64>
  %b = tensor.extract %sizes[%c1] : tensor<2xi64>
  %d0 = arith.index_cast %a : i64 to index
  %d1 = arith.index_cast %b : i64 to index
  %c4 = arith.constant 4 : index
  %rest = arith.remui %d0, %c4 : index
  %fits = arith.cmpi eq, %rest, %c0 : index
  cf.assert %fits, "the size must be a multiple of 4"
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %f = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<f32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
    ins(%f : tensor<f32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @second(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_static", [True, False])
def test_inputs_that_hold_sizes_are_written_with_values(is_static: bool, run_cli: RunCli, tmp_path: Path) -> None:
    program = _SIZES_ARE_DATA.split("func.func @second")[0] if is_static else _SIZES_ARE_DATA
    (tmp_path / "m.mlir").write_text(program)
    result = run_cli("init", "m.mlir", cwd=tmp_path)
    assert (result.code, result.stderr) == (0, "")
    text = (tmp_path / "benchmarks.yaml").read_text()
    line = '[4xf32, "2xi64=4 4"]  # input 1 may hold sizes: give it the values of your model\n'
    assert (f"    inputs: {line}" if is_static else f"      main: {line}      second: [Axf32]\n") in text
    locked = run_cli("lock", cwd=tmp_path)
    assert (locked.code, locked.stdout) == (
        0,
        f"m/cpu: {1 if is_static else 2} of {1 if is_static else 2} dispatches\n",
    )


@pytest.mark.slow
def test_a_tensor_without_dims_that_holds_a_size(run_cli: RunCli, tmp_path: Path) -> None:
    """The first argument only is a size."""
    (tmp_path / "m.mlir").write_text("""
func.func @main(%n: tensor<i64>, %x: tensor<i64>) -> tensor<?xi64> {
  %size = tensor.extract %n[] : tensor<i64>
  %d = arith.index_cast %size : i64 to index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rest = arith.remui %d, %c4 : index
  %fits = arith.cmpi eq, %rest, %c0 : index
  cf.assert %fits, "the size must be a multiple of 4"
  %e = tensor.empty(%d) : tensor<?xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<i64>) outs(%e : tensor<?xi64>) {
  ^bb0(%v: i64, %o: i64):
    linalg.yield %v : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}
""")
    assert run_cli("init", "m.mlir", cwd=tmp_path).code == 0
    text = (tmp_path / "benchmarks.yaml").read_text()
    line = '["tensor<i64>=4", "tensor<i64>=1"]  # inputs 0, 1 may hold sizes: give them the values of your model'
    assert text.endswith(f"    inputs: {line}\n")
    assert run_cli("lock", cwd=tmp_path).code == 0


@pytest.mark.slow
def test_a_long_name_of_a_file_is_cut(run_cli: RunCli, models_dir: Path, tmp_path: Path) -> None:
    for letter in "ab":
        shutil.copy(models_dir / "mul.mlir", tmp_path / f"{'1' * 99}{letter}.mlir")
    assert run_cli("init", *(f"{'1' * 99}{letter}.mlir" for letter in "ab"), cwd=tmp_path).code == 0
    assert run_cli("lock", cwd=tmp_path).code == 0


texts = st.text(st.characters(codec="utf-8"), min_size=1)


@settings(max_examples=30, deadline=None)
@given(name=texts, path=texts, flag=texts)
@example(name="<<", path="=", flag="<<")
def test_any_text_is_read_back(name: str, path: str, flag: str) -> None:
    inputs = {name: [flag], f"{name}2": []}
    text = manifest_text([DraftModel(name, Source(path, "mlir"), [flag], inputs, {"B": 1}, False)])
    model = {"source": path, "import_flags": [flag], "inputs": inputs, "shapes": {"B": 1}}
    assert yaml.safe_load(text) == {"version": 1, "models": {name: model}}
