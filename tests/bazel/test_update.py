"""The targets that renew a suite's lock files and build files, and that test whether they are current."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bazel_project import BazelProject
from suite_folder import write_onnx
from support import REPOSITORY, run_cli

pytestmark = [pytest.mark.slow, pytest.mark.bazel]

_TEST = "iree-dispatch-benchmarks.test"
_UPDATE = "iree-dispatch-benchmarks.update"
#: Those of @iree_tools, as a project names its own.
_TOOLS = """
load("@dispatchgen//:defs.bzl", "iree_dispatch_tools")

iree_dispatch_tools(
    name = "tools",
    benchmark_data = [],
    benchmark_tool = "@iree_tools//:bin/iree-benchmark-module",
    compile_data = ["@iree_tools//:compile_files"],
    compile_tool = "@iree_tools//:bin/iree-compile",
    dispatchgen_data = ["@iree_tools//:dispatchgen_files"],
    dispatchgen_tool = "@iree_tools//:dispatchgen",
    import_data = ["@iree_tools//:import_files"],
    import_tool = "@iree_tools//:import_onnx",
    linker_tool = "@iree_tools//:bin/iree-lld",
    visibility = ["//visibility:public"],
)
"""
_IGNORED = shutil.ignore_patterns(".dispatchgen", "build", "BUILD.bazel")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BazelProject]:
    """A workspace in which the sample `mlp` is the package `suites/mlp`, its source `my model.mlir`."""
    folder = tmp_path_factory.mktemp("update") / "workspace"
    suite = folder / "suites" / "mlp"
    shutil.copytree(REPOSITORY / "samples" / "mlp", suite, ignore=_IGNORED)
    (suite / "mlp.mlir").rename(suite / "my model.mlir")
    manifest = suite / "benchmarks.yaml"
    manifest.write_text(manifest.read_text().replace("mlp.mlir", "my model.mlir"))
    (suite / "CMakeLists.txt").unlink()
    with BazelProject(folder) as project:
        project.write_workspace()
        yield project


@pytest.fixture
def suite(project: BazelProject) -> Iterator[Path]:
    """The package, current; a test may change what is in it."""
    folder = project.folder / "suites" / "mlp"
    assert run_cli("generate", "--bazel", cwd=folder).code == 0
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    for path in folder.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)


def _check(project: BazelProject) -> subprocess.CompletedProcess[str]:
    return project.test(f"//suites/mlp:{_TEST}", check=False)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _other_flag(suite: Path) -> None:
    _replace(suite / "benchmarks.yaml", "my model.mlir\n", "my model.mlir\n    bindings: fused\n")


def _other_label(suite: Path) -> None:
    _replace(suite / "benchmarks.yaml", "\nmodels:", "\nrun: {min_time: 7x}\nmodels:")


def _other_source(suite: Path) -> None:
    path = suite / "my model.mlir"
    path.write_text(f"// A comment.\n{path.read_text()}")


def _other_lock(suite: Path) -> None:
    _replace(suite / "locks" / "mlp.json", "matmul_Dx10x512_f32", "matmul_Dx11x512_f32")


def _other_build_file(suite: Path) -> None:
    _replace(suite / "BUILD.bazel", '        "matmul_Dx10x512_f32",\n', "")


def _broken_manifest(suite: Path) -> None:
    _replace(suite / "benchmarks.yaml", "source:", "sauce:")


def test_the_test_reads_what_bazel_gives_it(project: BazelProject, suite: Path) -> None:
    outcome = _check(project)
    assert outcome.returncode == 0, outcome.stdout
    _other_source(suite)
    outcome = _check(project)
    assert outcome.returncode == 3, outcome.stdout
    assert f"  try: bazel run //suites/mlp:{_UPDATE}\n" in outcome.stdout


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_other_flag, "model mlp: its lock is stale: the manifest says something else of the model on backend cpu\n"),
        (_other_label, '+    min_time = "7x",\n'),
        (_other_source, "model mlp: its lock is stale: the source file changed\n"),
        (_other_lock, "the lock file was edited by hand"),
        (_other_build_file, '+        "matmul_Dx10x512_f32",\n'),
        (_broken_manifest, "unknown key `sauce`"),
    ],
    ids=["flag", "label", "source", "lock", "build file", "manifest"],
)
def test_what_is_stale_fails_with_the_command(
    project: BazelProject, suite: Path, tmp_path: Path, change: Callable[[Path], None], says: str
) -> None:
    """The test is started as Bazel starts it, on links to the files as they are."""
    project.build(f"//suites/mlp:{_TEST}")
    program = project.bazel_bin / "suites" / "mlp" / _TEST
    change(suite)
    environment = {"PATH": "/usr/bin:/bin", "TEST_TMPDIR": str(tmp_path)}
    outcome = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert says in outcome.stderr
    assert outcome.stderr.endswith(f"  try: bazel run //suites/mlp:{_UPDATE}\n")
    assert "Traceback" not in outcome.stderr


def test_a_generated_cmakelists_is_checked_too(project: BazelProject, suite: Path) -> None:
    (suite / "CMakeLists.txt").write_text("# Mine.\n")
    assert _check(project).returncode == 0
    assert run_cli("generate", "--cmake", "--force", cwd=suite).code == 0
    _replace(suite / "CMakeLists.txt", "B128", "B129")
    outcome = _check(project)
    assert outcome.returncode == 3
    assert "  at suites/mlp/CMakeLists.txt\n" in outcome.stdout


def test_update_renews_lock_and_build_files(project: BazelProject, suite: Path) -> None:
    assert run_cli("generate", "--cmake", cwd=suite).code == 0
    for name in ("my model.mlir", "benchmarks.yaml"):
        _replace(suite / name, "512", "256")
    outcome = project.bazel("run", f"//suites/mlp:{_UPDATE}", check=False)
    assert outcome.returncode == 0, outcome.stdout
    for name in ("locks/mlp.json", "BUILD.bazel", "CMakeLists.txt"):
        assert "matmul_Dx256x784_f32" in (suite / name).read_text()
        assert f"wrote suites/mlp/{name}\n" in outcome.stdout
    outcome = _check(project)
    assert outcome.returncode == 0, outcome.stdout


def test_update_does_not_need_the_files_that_the_build_file_names(project: BazelProject, suite: Path) -> None:
    (suite / "my model.mlir").rename(suite / "renamed.mlir")
    _replace(suite / "benchmarks.yaml", "my model.mlir", "renamed.mlir")
    outcome = project.bazel("run", f"//suites/mlp:{_UPDATE}", check=False)
    assert outcome.returncode == 0, outcome.stdout
    assert '"renamed.mlir"' in (suite / "BUILD.bazel").read_text()


@pytest.mark.usefixtures("suite")
def test_flags_of_the_user_reach_the_command_that_locks(project: BazelProject) -> None:
    outcome = project.bazel("run", f"//suites/mlp:{_UPDATE}", "--", "--model", "no such model", check=False)
    assert outcome.returncode == 2
    assert "no such model" in outcome.stdout.rpartition("Running command line")[2]


@pytest.mark.usefixtures("suite")
def test_update_is_started_by_bazel_run(project: BazelProject) -> None:
    project.build(f"//suites/mlp:{_UPDATE}")
    program = project.bazel_bin / "suites" / "mlp" / _UPDATE
    outcome = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "'bazel run'" in outcome.stderr


def test_a_model_that_a_package_ships_which_the_importer_needs_too(tmp_path: Path) -> None:
    suite = tmp_path / "workspace"
    suite.mkdir()
    source = "source: {package: onnx, path: backend/test/data/simple/test_single_relu_model/model.onnx}"
    (suite / "benchmarks.yaml").write_text(f"version: 1\nmodels:\n  m:\n    {source}\n")
    assert run_cli("lock", cwd=suite).code == 0
    assert run_cli("generate", "--bazel", cwd=suite).code == 0
    with BazelProject(suite, packages=["onnx"]) as project:
        _replace(suite / "benchmarks.yaml", "source:", "bindings: fused\n    source:")
        outcome = project.test(f"//:{_TEST}", check=False)
        assert "the manifest says something else of the model on backend cpu" in outcome.stdout
        assert f"  try: bazel run //:{_UPDATE}\n" in outcome.stdout
        outcome = project.bazel("run", f"//:{_UPDATE}", check=False)
        assert outcome.returncode == 0, outcome.stdout
        assert "optimize-bindings" not in (suite / "BUILD.bazel").read_text()
        project.test(f"//:{_TEST}")


def test_tools_of_the_workspace_renew_what_is_imported(tmp_path: Path) -> None:
    """With every attribute of a target of tools, as the documentation has them."""
    suite = tmp_path / "workspace"
    write_onnx(suite / "m.onnx")
    (suite / "benchmarks.yaml").write_text("version: 1\nmodels: {m: {source: m.onnx}}\n")
    (suite / "tools").mkdir()
    (suite / "tools" / "BUILD.bazel").write_text(_TOOLS)
    assert run_cli("lock", cwd=suite).code == 0
    assert run_cli("generate", "--bazel", cwd=suite).code == 0
    with BazelProject(suite, options=["--@dispatchgen//:tools=//tools"]) as project:
        _replace(suite / "benchmarks.yaml", "m.onnx", "m.onnx, bindings: fused")
        outcome = project.bazel("run", f"//:{_UPDATE}", check=False)
        assert outcome.returncode == 0, outcome.stdout
        assert "wrote locks/m.json\n" in outcome.stdout
        project.test(f"//:{_TEST}", "//:iree-dispatch-benchmarks.smoke")
