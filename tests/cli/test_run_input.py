"""`dispatchgen run` with input that is wrong: the message, and exit code 2. None of it gets as far as a build."""

from __future__ import annotations

from pathlib import Path

import pytest

import support

MANIFEST = """
version: 1
models:
  mlp: {source: mlp.mlir, inputs: [Bx64xf32, 64x128xf32, 128x32xf32], shapes: {B: 2}}
presets: {nightly: {models: [mlp]}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks.yaml").write_text(MANIFEST)
    (tmp_path / "mlp.mlir").write_text("func.func @main() {\n  return\n}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "mpl"), "error: there is no model `mpl`\n  at benchmarks.yaml\n  try: `mlp`\n"),
        (("--backend", "gpu"), "error: there is no backend `gpu`\n"),
        (("--preset", "nighty"), "error: there is no preset `nighty`\n  at benchmarks.yaml\n  try: `nightly`\n"),
        (("--shape", "B3"), "error: there is no shape `B3`\n"),
        (("--device", "local-sink"), "error: there is no device `local-sink` among those selected\n"),
        (("--device", "local-sink"), "try: `local-sync`\n"),
        (("--min-time", "0s"), "Invalid value for --min-time: a time in seconds such as `0.5s`"),
        (("--repetitions", "0"), "--repetitions"),
        (("--timeout", "0"), "--timeout"),
        (("--iree-host-bin-dir", "nowhere"), "iree-compile was not found"),
        (("elsewhere.yaml",), "there is no manifest"),
        (("--json", "."), "Invalid value for '--json': File '.' is a directory."),
        (("--json", "none/results.json"), "Invalid value for '--json': there is no folder 'none'."),
        (("--json", "/dev/full"), "'/dev/full' is not a file; `-` stands for standard output."),
    ],
)
def test_bad_input_is_said(suite: Path, arguments: tuple[str, ...], message: str) -> None:
    result = support.run_cli("run", *arguments, cwd=suite)
    assert message in result.stderr
    assert result.code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["lock", "run"])
def test_bindings_of_another_build_than_the_compiler_are_said(suite: Path, command: str) -> None:
    compiler = suite / "bin" / "iree-compile"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n[ $1 = --version ] && echo '  IREE compiler version 9.1.0rc20300101 @ 0123abcd'\n")
    compiler.chmod(0o755)
    result = support.run_cli(command, "--iree-host-bin-dir", "bin", cwd=suite)
    assert "note: iree-compile is 9.1.0rc20300101 @ 0123abcd, the Python bindings are 3.1" in result.stderr
    assert result.code == 2


def test_several_wrong_names_are_said_at_once(suite: Path) -> None:
    result = support.run_cli("run", "--model", "x", "--shape", "y", "--preset", "z", cwd=suite)
    assert result.code == 2
    assert result.stderr.count("error: ") == 3


def test_missing_cmake_and_ninja_are_said_with_what_mends_it(suite: Path) -> None:
    """An empty PATH, and modules named cmake and ninja that hold no program."""
    modules = suite / "modules"
    modules.mkdir()
    (modules / "cmake.py").touch()
    (modules / "ninja.py").touch()
    path = [str(support.REPOSITORY / "generator"), str(modules)]
    result = support.run_cli("run", cwd=suite, env={"PATH": "", "PYTHONPATH": ":".join(reversed(path))})
    assert result.code == 2
    assert "error: cmake 3.25 or newer is needed" in result.stderr
    assert "error: ninja 1.11 or newer is needed" in result.stderr
    assert result.stderr.count("try: pip install dispatchgen[build]") == 2


def test_a_folder_of_other_files_is_not_built_in(suite: Path) -> None:
    before = {path.name: path.read_bytes() for path in suite.iterdir()}
    for build_dir in (".", "mlp.mlir"):
        result = support.run_cli("run", "--build-dir", build_dir, cwd=suite)
        assert result.code == 2
        assert "  try: --build-dir with a new or an empty folder\n" in result.stderr
        assert "Traceback" not in result.stderr
    assert {path.name: path.read_bytes() for path in suite.iterdir()} == before


@pytest.mark.slow
def test_a_folder_that_cmake_cannot_work_in_is_refused(tmp_path: Path, models_dir: Path) -> None:
    suite = tmp_path / "a;b"
    suite.mkdir()
    (suite / "benchmarks.yaml").write_text(MANIFEST)
    (suite / "mlp.mlir").write_bytes((models_dir / "mlp.mlir").read_bytes())
    result = support.run_cli("run", cwd=suite)
    assert result.code == 2
    assert "CMake cannot build where a path holds `;`" in result.stderr
    assert not (suite / ".dispatchgen").exists()
