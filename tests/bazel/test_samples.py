"""The samples and other whole programs on real Bazel with IREE's programs: they build, run, and are measured."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bazel_project import TEST, BazelProject
from cmake_project import Project
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.suite import Source
from suite_folder import copy_checkout, layers_model, write_onnx
from support import TIMEOUT, run_cli

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

_SAMPLES = ("control_flow", "encoder", "magika", "mlp", "squeezenet", "substitution")
#: Samples of which one suite is tested: tests/bazel/test_substitutions.py has the rest.
_PARTS = {"substitution": "axpy_cpu"}
#: A preset that is measured as a whole. No time decides.
_QUICK = """
presets:
  quick:
    models: [mlp_static]
    budget: 10m
    baseline: main
    fail_on: [failed, gone]
    run: {rounds: 3, precision: 90%, min_time: 1x, repetitions: 1, batch_size: 1}
"""
_PRESET = "iree-dispatch-benchmarks-preset-quick"
#: What only measuring reads.
_OF_MEASURING = (
    "measure-site-packages",
    *(f"dispatchgen/{name}/" for name in ("results", "comparison", "report", "job")),
)


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
    if sample == "substitution" and shutil.which("cc") is None:
        pytest.skip("no cc: install gcc")
    part = _PARTS.get(sample, "")
    names = [name for name in _expected_tests(samples.folder / sample) if name.startswith(part)]
    expected = sorted(f"{sample}/{name}.smoke" for name in names)
    assert expected
    spawns = samples.spawns("test", f"//{sample}:{part or 'iree-dispatch-benchmarks'}.smoke")
    outputs = sorted(spawn.output for spawn in spawns if spawn.mnemonic == TEST)
    assert [output for output in outputs if ".substitutions." not in output] == expected
    checks = [output for output in outputs if output.endswith(".check")]
    assert len(checks) == (1 if sample == "substitution" else 0)


def test_every_sample_is_tested(samples_dir: Path) -> None:
    assert sorted(path.parent.name for path in samples_dir.glob("*/BUILD.bazel")) == sorted(_SAMPLES)


def test_locks_and_build_files_are_current(samples: BazelProject) -> None:
    samples.test("//magika:iree-dispatch-benchmarks.test", "//mlp:iree-dispatch-benchmarks.test")


def test_what_later_bazels_do_not_allow_is_not_used(samples: BazelProject) -> None:
    """Each flag is a change that a later Bazel makes for good."""
    flags = sorted(set(re.findall(r"--\[no\](incompatible_\w+)", samples.bazel("help", "build", "--long").stdout)))
    assert flags
    targets = [f"//mlp:iree-dispatch-benchmarks{suffix}" for suffix in ("", ".smoke", ".drift", ".test", ".update")]
    samples.build(*targets, options=[f"--{flag}" for flag in flags])


def test_timed_test_leaves_its_results(samples: BazelProject) -> None:
    target = "mlp_cpu.local-sync.matmul_Dx10x512_f32"
    samples.test(f"//mlp:{target}")
    result = samples.undeclared_output(f"mlp/{target}")
    names = {benchmark["name"].split("/")[0] for benchmark in result["benchmarks"]}
    lock = read_lock(samples.folder / "mlp" / "locks" / "mlp.json")
    (dispatch,) = [d for d in lock.backends["cpu"].dispatches if d.name == "matmul_Dx10x512_f32"]
    assert {name.removeprefix("BM_") for name in names} == {benchmark.name for benchmark in dispatch.benchmarks}
    assert result["context"]["model"] == "mlp"


@pytest.fixture
def quick(samples: BazelProject) -> Iterator[BazelProject]:
    """The samples, with a preset of `mlp` that is measured as a whole."""
    suite = samples.folder / "mlp"
    names = ("benchmarks.yaml", "BUILD.bazel", "mlp_static.mlir")
    kept = {path: path.read_text() for path in (suite / name for name in names)}
    manifest = suite / "benchmarks.yaml"
    manifest.write_text(kept[manifest] + _QUICK)
    assert run_cli("generate", "--bazel", suite).code == 0
    yield samples
    for path, text in kept.items():
        path.write_text(text)
    shutil.rmtree(suite / "baselines", ignore_errors=True)


def test_a_preset_is_measured_and_its_baseline_saved(quick: BazelProject, tmp_path: Path) -> None:
    suite = quick.folder / "mlp"
    first = quick.test(f"//mlp:{_PRESET}.nightly", check=False)
    assert first.returncode == 3, first.stdout
    assert re.search(r"^(\d+) of \1 dispatches", first.stdout, re.MULTILINE), first.stdout
    assert "error: there is no baseline `main`" in first.stdout
    assert f"  try: bazel run //mlp:{_PRESET}.baseline_save\n" in first.stdout
    calls = quick.undeclared_output(f"mlp/{_PRESET}.nightly", "results.json")["calls"]
    assert {call["model"] for call in calls} == {"mlp_static"}

    saved = quick.bazel("run", f"//mlp:{_PRESET}.baseline_save", "--", "--force").stdout
    (baseline,) = suite.glob("baselines/main/*.json")
    assert f"wrote {baseline}" in saved
    quick.build(f"//mlp:{_PRESET}.nightly")
    program = quick.bazel_bin / "mlp" / f"{_PRESET}.nightly"
    assert f"'mlp/baselines/main/{baseline.name}'" in program.read_text(), "it is where the next night looks for it"

    # Started as Bazel starts it, on links to the files as they are.
    source = suite / "mlp_static.mlir"
    source.write_text(f"{source.read_text()}// edited\n")
    environment = {"PATH": "/usr/bin:/bin", "TEST_TMPDIR": str(tmp_path)}
    stale = subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert stale.returncode == 1
    assert "error: model mlp_static: its lock is stale: the source file changed" in stale.stderr
    assert "  try: bazel run //mlp:iree-dispatch-benchmarks.update\n" in stale.stderr


def test_no_step_of_the_build_reads_what_only_measuring_needs(samples: BazelProject) -> None:
    def files(target: str) -> list[str]:
        return samples.bazel("query", f"deps(@iree_tools//:{target})").stdout.splitlines()

    assert [name for name in files("dispatchgen_files") if any(part in name for part in _OF_MEASURING)] == []
    assert any("measure-site-packages/scipy/" in name for name in files("measure_files"))


def _modules(folder: Path) -> dict[str, bytes]:
    """The compiled modules below a folder of build outputs."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("m*/host/*.vmfb")}


def test_names_of_importers_build_and_run_in_both_build_systems(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    functions = {"m1": "Model from X.", "m2": "Modell für $X"}
    models = []
    for name, function in functions.items():
        path = f"my models/{name} $HOME ü.onnx"
        write_onnx(folder / path, function)
        models.append(dataclasses.replace(layers_model(name), source=Source(path, "onnx")))

    with BazelProject(folder, models=models) as bazel:
        bazel.lock()
        for name, lock in bazel.locks().items():
            assert [call.function for call in lock.calls] == [functions[name]]
            (dispatch,) = lock.backends["host"].dispatches
            assert dispatch.export.startswith(f"{functions[name]}$async_dispatch_0")
        bazel.generate()
        bazel.build()
        bazel.test("//:iree-dispatch-benchmarks.smoke", "//:iree-dispatch-benchmarks.benchmarks")
        built = _modules(bazel.bazel_bin)

    cmake = Project(folder, models=models)
    cmake.generate()
    cmake.configure()
    cmake.build()
    outcome = cmake.test()
    assert outcome.returncode == 0, outcome.stdout
    tests = 4 * len(models)  # a dispatch and the model, once and timed
    assert outcome.stdout.count("   Passed ") == tests, outcome.stdout
    assert len(built) == 2 * len(models)
    assert _modules(cmake.build_dir) == built
