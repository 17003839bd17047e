"""The text of CMakeLists.txt."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cmake_project import find_program
from dispatchgen.errors import LockError, ManifestError
from dispatchgen.manifest.suite import Preset, Source
from dispatchgen.ownership import BUILD_FILE_HEADER
from dispatchgen.render.cmake import render_cmake
from rendered import GPU, HOST, LOCKS, MODEL_A, MODEL_B, SUITE, lock_of


def _call(text: str, name: str) -> dict[str, list[str]]:
    """The arguments of a call, read from the text."""
    body = text.split(f'  NAME\n    "{name}"\n')[1].split("\n)")[0]
    arguments: dict[str, list[str]] = {}
    for line in body.splitlines():
        if line.startswith("    "):
            arguments[list(arguments)[-1]].append(line.strip().strip('"'))
        else:
            arguments[line.strip()] = []
    return arguments


def test_a_call_carries_all_that_the_rule_needs() -> None:
    call = _call(render_cmake(SUITE, LOCKS), "model_a_host")
    assert call["SRC"] == ["a.mlir"]
    assert call["LOCK"] == ["locks/model_a.json"]
    assert call["COMPILE_FLAGS"][:2] == [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
    ]
    assert call["COMPILE_FLAGS"][-1] == "--iree-llvmcpu-target-cpu=generic"
    assert call["DISPATCHES"] == ["a_1", "z_2"]
    assert call["CALLS"] == ["B1", "B8"], "no call of a profile"
    assert (call["DATA"], call["ARCHIVES"]) == (["d/x.npy", "seen.json"], ["z_2"])
    assert call["CALL_INPUTS"] == ["B8.input0.bin"]
    assert call["PARAMETERS"] == ["scope=weights.irpa"]
    assert call["DEVICES"] == ["sync=local-sync", "task=local-task"]
    assert call["RUN_FLAGS"] == ["sync=--x=\\$y"]
    assert call["DEVICE_LABELS"] == ["sync=a", "sync=z"]
    assert call["LABELS"] == ["cpu", "large"]
    assert call["PRESETS"] == ["night_ly"]
    assert (call["MIN_TIME"], call["REPETITIONS"], call["BATCH_SIZE"]) == (["0.5s"], ["3"], ["10"])


def test_what_is_not_used_is_left_out() -> None:
    call = _call(render_cmake(SUITE, LOCKS), "model_a_gpu")
    assert call["COMPILE_FLAGS"][-1] == "--of-a"
    assert not call.keys() & {"DEVICES", "RUN_FLAGS", "DEVICE_LABELS", "IMPORT_FLAGS"}


def test_imported_source_of_a_package() -> None:
    text = render_cmake(SUITE, LOCKS)
    call = _call(text, "b_gpu")
    assert call["SRC"] == ["package:pkg.sub/test data/b.onnx"]
    assert call["IMPORT_FLAGS"][-1] == "--opset-version=19"
    assert '  PACKAGES\n    "pkg.sub"\n  PRESETS\n    "night_ly"\n' in text


def test_presets_that_are_measured_as_a_whole() -> None:
    presets = (*SUITE.presets, Preset("b", "b", budget=60.0), Preset("a", "a", baseline="main"))
    text = render_cmake(replace(SUITE, presets=presets), LOCKS)
    assert '  NIGHTLY\n    "a"\n    "b"\n  BASELINES\n    "a=main"\n)' in text
    assert '  MANIFEST\n    "benchmarks.yaml"\n' in text
    assert "MANIFEST" not in render_cmake(SUITE, LOCKS), "nothing else reads it"


def test_the_name_of_a_manifest_that_cmake_cannot_carry() -> None:
    suite = replace(SUITE, manifest=Path("a[.yaml"))
    render_cmake(suite, LOCKS)
    with pytest.raises(ManifestError, match="square bracket without its match"):
        render_cmake(replace(suite, presets=(Preset("a", "a", baseline="main"),)), LOCKS)


def test_calls_are_sorted_and_the_text_depends_on_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = render_cmake(SUITE, LOCKS)
    positions = [text.index(f'"{name}"') for name in ("b_gpu", "model_a_gpu", "model_a_host")]
    assert positions == sorted(positions)
    monkeypatch.chdir(tmp_path)
    moved = replace(SUITE, manifest=tmp_path / "benchmarks.yaml", models=(MODEL_A, MODEL_B), backends=(GPU, HOST))
    assert render_cmake(moved, dict(reversed(LOCKS.items()))) == text
    assert str(tmp_path) not in text


def test_the_file_is_known_as_a_generated_one() -> None:
    assert render_cmake(SUITE, LOCKS).encode().startswith(BUILD_FILE_HEADER)


def test_a_path_that_looks_like_a_package_is_a_path() -> None:
    source = Source("package:x/a.mlir", "mlir")
    with pytest.raises(ManifestError, match="build systems cannot have"):
        render_cmake(replace(SUITE, models=(replace(MODEL_A, source=source),)), LOCKS)


def test_folder_of_the_suite_relative_to_the_file() -> None:
    text = render_cmake(SUITE, LOCKS, package_dir="../su;ite")
    assert 'set(DISPATCHGEN_PACKAGE_DIR "../su;ite")' in text
    assert "DISPATCHGEN_PACKAGE_DIR" not in render_cmake(SUITE, LOCKS)


def test_a_file_for_a_project_of_its_own_is_no_part_of_another(tmp_path: Path) -> None:
    """The build folder of `dispatchgen run` lies in the suite's folder, which iree_add_all_subdirs() adds whole."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "CMakeLists.txt").write_text(render_cmake(SUITE, LOCKS, is_top=True))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\nadd_subdirectory(run)\n"
    )
    command = [find_program("cmake"), "-S", str(tmp_path), "-B", str(tmp_path / "build"), "-G", "Ninja"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "dispatchgen" not in done.stdout


def test_all_missing_locks_are_named_with_the_command() -> None:
    with pytest.raises(LockError) as caught:
        render_cmake(SUITE, {"model_a": lock_of("model_a", "gpu")})
    assert str(caught.value).splitlines() == [
        "error: model 'b' has no lock file",
        "  at somewhere/locks/b.json",
        "  try: dispatchgen lock somewhere/benchmarks.yaml --model b",
        "error: the lock of model 'Model A' lists nothing for backend 'Host CPU'",
        "  at somewhere/locks/model_a.json",
        "  try: dispatchgen lock somewhere/benchmarks.yaml --model model_a",
    ]


def test_all_strings_that_cmake_cannot_carry_are_named() -> None:
    model = replace(MODEL_A, labels=("NAME", "a[b"), compile_flags={"gpu": ("--x\ny",)}, line=7)
    locks = {"model_a": LOCKS["model_a"].model_copy(update={"files": ("a:b.npy",)})}
    with pytest.raises(ManifestError) as caught:
        render_cmake(replace(SUITE, models=(model,)), locks)
    problems = [str(problem) for problem in caught.value.problems]
    assert len(problems) == 4
    assert "CMake cannot carry 'a:b.npy' of model 'Model A' on backend 'gpu': it holds ':'" in problems[0]
    assert all("at somewhere/benchmarks.yaml:7" in problem for problem in problems)
    assert "CMake cannot carry '--x\\ny' of model 'Model A' on backend 'gpu'" in problems[1]
