"""`dispatchgen shapes`: what is printed can be pasted, and gives the same shapes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from support import RunCli

pytestmark = pytest.mark.main_path

#: One model whose sizes are stated, one with a size that is not.
MANIFEST = """version: 1
models:
  torchsym: {source: torchsym.mlir, shapes: {auto: 4, BATCH: 2}}
  multi: {source: multi.mlir, inputs: [BxSx32xf32, BxTx32xf32, Nxf32], shapes: {B: 1, S: 5, T: 2, N: 4}}
"""


@pytest.fixture
def folder(tmp_path: Path, models_dir: Path) -> Path:
    for name in ("torchsym", "multi"):
        shutil.copy(models_dir / f"{name}.mlir", tmp_path)
    (tmp_path / "benchmarks.yaml").write_text(MANIFEST)
    return tmp_path


def test_what_is_printed_is_part_of_a_manifest(folder: Path, run_cli: RunCli) -> None:
    result = run_cli("shapes", "torchsym", "--limit", "3", cwd=folder)
    assert (result.code, "error" in result.stderr) == (0, False)
    for line in (
        "    # BATCH: dim 0 of input 0\n    #   named batch in the source\n",
        "    #   16 to 4096, a multiple of 16 (util.assume.int of dim 1 of input 0)\n",
        "    #   1 to 256 (torch.symbolic_int `s1`)\n",
        "    # tile and vector sizes of the kernels: ",
    ):
        assert line in result.stdout
    (printed,) = yaml.safe_load(result.stdout)["models"].values()
    assert printed["inputs"] == ["BATCHxS1x64xf32", "64x128xf32"]
    assert printed["shapes"][0] == {"BATCH": 2, "S1": 16} and printed["shapes"][-1] == {"BATCH": 2, "S1": 4096}

    source = {"source": "torchsym.mlir"}
    models = {"pasted": {**source, **printed}, "chosen": {**source, "shapes": {"auto": 3, "BATCH": 2}}}
    (folder / "benchmarks.yaml").write_text(yaml.safe_dump({"version": 1, "models": models}))
    assert run_cli("lock", cwd=folder).code == 0
    pasted, chosen = (json.loads((folder / "locks" / f"{name}.json").read_text()) for name in models)
    assert pasted["calls"] == chosen["calls"]
    assert pasted["backends"] == chosen["backends"]


def test_data(folder: Path, run_cli: RunCli) -> None:
    result = run_cli("shapes", "torchsym", "--json", cwd=folder)
    (model,) = json.loads(result.stdout)["models"]
    assert (model["model"], model["inputs"]) == ("torchsym", {"main": ["BATCHxS1x64xf32", "64x128xf32"]})
    assert [symbol["source"] for symbol in model["symbols"]] == ["batch", "s1 * 16"]
    assert model["symbols"][1]["sites"] == [{"function": "main", "input": 0, "dim": 1}]
    assert model["symbols"][1]["stated"][0] == {
        "by": "util.assume.int of dim 1 of input 0",
        "ranges": [{"min": 16, "max": 4096, "step": 16}],
    }
    assert len(model["shapes"]) == 4
    assert model["shapes"][0] == {"label": "BATCH2_S1_16", "symbols": {"BATCH": 2, "S1": 16}}


def test_sizes_that_are_not_stated_are_asked_for(folder: Path, run_cli: RunCli) -> None:
    result = run_cli("shapes", cwd=folder)
    assert result.code == 2
    assert set(yaml.safe_load(result.stdout)["models"]) == {"torchsym", "multi"}, "what is known is printed"
    assert "    # T: dim 1 of input 1\n    #   no range is stated\n" in result.stdout
    assert "error: model multi: no range is stated for the symbol `T` (dim 1 of input 1)" in result.stderr
    assert "Traceback" not in result.stderr
