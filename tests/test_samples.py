"""The samples: their locks and build files are current, and each of them is measured completely."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import support

_SAMPLES = sorted(path.parent.name for path in support.REPOSITORY.glob("samples/*/benchmarks.yaml"))

#: The release of IREE that the samples' locks were made with: the default one of the Makefile.
_LOCKED_WITH = (3, 13)

#: How many dispatches each call of a sample runs, by model and call.
_DISPATCHES = {
    "control_flow": {
        ("control_flow", "small"): 3,
        ("control_flow", "large"): 3,
        ("control_flow", "no_steps"): 2,
    },
    "encoder": {("encoder", shape): 2 for shape in ("B1_S16", "B4_S64", "B7_S80", "B8_S128")},
    "magika": {("magika", "N1"): 13, ("magika", "N4"): 13},
    "mlp": {("mlp", "B1"): 2, ("mlp", "B32"): 2, ("mlp", "B128"): 2, ("mlp_static", "static"): 2},
    "squeezenet": {("squeezenet", "static"): 29},
    "substitution": {
        ("mlp", "B1"): 2,
        ("mlp", "B32"): 2,
        ("axpy", "N1000"): 1,
        ("axpy", "N100000"): 1,
        ("axpy_static", "static"): 1,
    },
}

#: The substitutions and combinations of the sample of substitution at each call, by model and backend.
_SUBSTITUTIONS = {
    ("mlp", "cpu"): {"edited", "tiles", "by_hand", "both_layers"},
    ("mlp", "vulkan"): {"shader"},
    ("axpy", "cpu"): {"by_hand"},
    ("axpy_static", "cpu"): {"by_hand"},
}

#: Samples whose whole model a release of IREE cannot run; their dispatches it can. With 3.12 an allocation fails that
#: comes out far too large. The sample calls a function that was not inlined, and the sizes among that function's
#: arguments seem to arrive wrong in the virtual machine: inferred from what works and what does not, not shown.
_WHOLE_MODEL_FAILS = {("control_flow", (3, 12)): "RESOURCE_EXHAUSTED"}


@pytest.fixture
def sample_copy(request: pytest.FixtureRequest, samples_dir: Path, tmp_path: Path) -> Path:
    """A copy of the sample that the test is about."""
    copy = tmp_path / "sample"
    shutil.copytree(samples_dir / request.param, copy, ignore=shutil.ignore_patterns(".dispatchgen", "build"))
    return copy


def test_every_sample_is_expected() -> None:
    assert sorted(_DISPATCHES) == _SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("sample_copy", _SAMPLES, indirect=True)
def test_locks_are_current(sample_copy: Path, run_cli: support.RunCli, iree_tools: support.IreeTools) -> None:
    if iree_tools.version != _LOCKED_WITH:
        pytest.skip(f"the samples are locked with IREE {_LOCKED_WITH}, and this is {iree_tools.version}")
    checked = run_cli("lock", "--check", cwd=sample_copy)
    assert checked.code == 0, checked.stderr


@pytest.mark.parametrize("sample", _SAMPLES)
def test_build_files_are_current(sample: str, samples_dir: Path, run_cli: support.RunCli) -> None:
    checked = run_cli("generate", "--cmake", "--bazel", "--check", cwd=samples_dir / sample)
    assert checked.code == 0, checked.stderr


@pytest.mark.slow
@pytest.mark.main_path
@pytest.mark.parametrize("sample_copy", _SAMPLES, indirect=True)
def test_every_dispatch_is_measured(
    sample_copy: Path, request: pytest.FixtureRequest, run_cli: support.RunCli, iree_tools: support.IreeTools
) -> None:
    sample = request.node.callspec.params["sample_copy"]
    if iree_tools.version != _LOCKED_WITH:
        if sample == "substitution":
            pytest.skip(f"it has executables that IREE {_LOCKED_WITH} dumped, and this is {iree_tools.version}")
        shutil.rmtree(sample_copy / "locks")  # another compiler may form other dispatches
    fault = _WHOLE_MODEL_FAILS.get((sample, iree_tools.version))
    options = _on_this_machine() if sample == "substitution" else []
    done = run_cli("run", *support.ONCE, "--json", "results.json", *options, cwd=sample_copy)
    assert done.code == (1 if fault else 0), done.stderr
    results = json.loads((sample_copy / "results.json").read_text())
    if sample == "substitution":
        _check_substitutions(results)
    coverage = {(call["model"], call["call"]): call["coverage"] for call in results["calls"]}
    assert coverage == {
        call: {"dispatches": count, "measured": count, "skipped": 0, "failed": 0, "left_out": 0}
        for call, count in _DISPATCHES[sample].items()
    }
    for call in results["calls"]:
        assert call["skipped"] == []
        assert all(row["timing"]["seconds"] > 0 for row in call["dispatches"])
        if fault:
            assert fault in call["whole_model"]["failure"]
        else:
            assert call["whole_model"]["timing"]["seconds"] > 0
            assert call["sum_by_model"] == pytest.approx(call["sum_seconds"] / call["whole_model"]["timing"]["seconds"])


def _on_this_machine() -> list[str]:
    """The options of a run that leaves out what this machine has no compilers or no device for."""
    if shutil.which("cc") is None:
        pytest.skip("no cc: install gcc")
    can_run_shaders = support.has_lavapipe() and shutil.which("glslangValidator") is not None
    return [] if can_run_shaders else ["--preset", "cpu"]


def _check_substitutions(results: dict[str, Any]) -> None:
    """Every substitution is measured, differs from the original, and computes the same."""
    for call in results["calls"]:
        found = {each["name"]: each for each in call["substitutions"]}
        assert set(found) == _SUBSTITUTIONS[call["model"], call["backend"]]
        for substitution in found.values():
            assert not substitution["same"]
            assert substitution["ratio"] is not None
            assert substitution["members"] or substitution["dispatches"]
            for dispatch in substitution["dispatches"]:
                assert dispatch["same"] is None
                assert dispatch["ratio"] is not None
                assert dispatch["agreement"]["agrees"]
