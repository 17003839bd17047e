"""The samples and other whole programs on real Bazel with IREE's programs: they build, run, and are measured."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from bazel_project import TEST, BazelProject
from cmake_project import Project
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.suite import Source
from suite_folder import copy_checkout, layers_model

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

_SAMPLES = ("control_flow", "magika", "mlp", "squeezenet")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, samples_dir: Path) -> Iterator[BazelProject]:
    """The samples' own workspace, beside the rules as in the repository."""
    folder = tmp_path_factory.mktemp("checkout")
    package = copy_checkout(folder)
    ignore = shutil.ignore_patterns(".dispatchgen", "build", "bazel-*")
    shutil.copytree(samples_dir, folder / "samples", ignore=ignore)
    with BazelProject(folder / "samples", environment={"PYTHONPATH": str(package)}) as project:
        yield project


def _expected_tests(folder: Path) -> list[str]:
    """A name for each dispatch and each call of the whole model that the locks of a suite list."""
    names = []
    for path in folder.glob("locks/*.json"):
        lock = read_lock(path)
        for backend in lock.backends.values():
            names += [f"{lock.model}_{backend.backend}.local-sync.{dispatch.name}" for dispatch in backend.dispatches]
            names += [f"{lock.model}_{backend.backend}.local-sync.model.{call.name}" for call in lock.calls]
    return names


@pytest.mark.parametrize("sample", _SAMPLES)
def test_sample_builds_and_its_smoke_tests_pass(samples: BazelProject, sample: str) -> None:
    expected = sorted(f"{sample}/{name}.smoke" for name in _expected_tests(samples.folder / sample))
    assert expected
    spawns = samples.spawns("test", f"//{sample}:iree-dispatch-benchmarks.smoke")
    assert sorted(spawn.output for spawn in spawns if spawn.mnemonic == TEST) == expected
    samples.test(f"//{sample}:iree-dispatch-benchmarks.test")  # locks and build files are current


def test_every_sample_is_tested(samples_dir: Path) -> None:
    assert sorted(path.parent.name for path in samples_dir.glob("*/BUILD.bazel")) == sorted(_SAMPLES)


def test_timed_test_leaves_its_results(samples: BazelProject) -> None:
    target = "mlp_cpu.local-sync.matmul_Dx10x512_f32"
    samples.test(f"//mlp:{target}")
    result = samples.undeclared_output(f"mlp/{target}")
    names = {benchmark["name"].split("/")[0] for benchmark in result["benchmarks"]}
    lock = read_lock(samples.folder / "mlp" / "locks" / "mlp.json")
    (dispatch,) = [d for d in lock.backends["cpu"].dispatches if d.name == "matmul_Dx10x512_f32"]
    assert {name.removeprefix("BM_") for name in names} == {benchmark.name for benchmark in dispatch.benchmarks}
    assert result["context"]["model"] == "mlp"


def test_names_of_importers_build_and_run_in_both_build_systems(tmp_path: Path) -> None:
    path = "my models/$HOME ü.onnx"
    weights = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [8, 16], [0.5] * 128)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "Model from X.",  # the importer makes a function of this name
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 8])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4, 16])],
        [weights],
    )
    opset = onnx.helper.make_opsetid("", 17)
    folder = tmp_path / "suite"
    (folder / "my models").mkdir(parents=True)
    model = dataclasses.replace(layers_model("m"), source=Source(path, "onnx"))
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10), folder / path)

    with BazelProject(folder, models=[model], state=tmp_path / "state") as bazel:
        bazel.lock()
        (call,) = bazel.locks()["m"].calls
        assert call.function == "Model from X."
        (dispatch,) = bazel.locks()["m"].backends["host"].dispatches
        assert dispatch.export.startswith("Model from X.$async_dispatch_0")
        bazel.generate()
        bazel.build()
        bazel.test("//:iree-dispatch-benchmarks.smoke", "//:iree-dispatch-benchmarks.benchmarks")
        built = {path.name: path.read_bytes() for path in (bazel.bazel_bin / "m" / "host").rglob("*.vmfb")}

    cmake = Project(folder, models=[model])
    cmake.generate()
    cmake.configure()
    cmake.build()
    outcome = cmake.test()
    assert outcome.returncode == 0, outcome.stdout
    assert outcome.stdout.count("   Passed ") == 4, outcome.stdout  # the dispatch and the model, once and timed
    same = {path.name: path.read_bytes() for path in (cmake.build_dir / "m" / "host").rglob("*.vmfb")}
    assert same == built and built.keys() == {"model.vmfb", f"{dispatch.name}.vmfb"}
