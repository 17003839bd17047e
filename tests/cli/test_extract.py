"""`dispatchgen extract`, the step that the build calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from configured import Configured
from support import CliResult, IreeTools, RunCli

pytestmark = pytest.mark.main_path

MANIFEST = """
version: 1
models:
  mlp:
    source: mlp.mlir
    inputs: [Bx64xf32, 64x128xf32, 128x32xf32]
    shapes: {B: [1, 42]}
"""


@dataclass
class Suite:
    """A locked suite, and what its compiler makes of a program."""

    folder: Path
    run_cli: RunCli
    configured: Configured

    @property
    def lock(self) -> Path:
        return self.folder / "locks" / "mlp.json"

    @property
    def output(self) -> Path:
        return self.folder / "dispatches"

    def extract(self, program: str, *arguments: str) -> CliResult:
        """Extracts from a program that takes the place of the locked one."""
        source = self.folder / f"{abs(hash(program))}.in.mlir"
        source.write_text(program)
        module = self.configured.module(source)
        return self.extract_module(module, *arguments)

    def extract_module(self, module: Path, *arguments: str) -> CliResult:
        options = ["--lock", str(self.lock), "--backend", "cpu", "--output", str(self.output), *arguments]
        return self.run_cli("extract", module, *options, cwd=self.folder)


@pytest.fixture
def program(models_dir: Path) -> str:
    return (models_dir / "mlp.mlir").read_text()


@pytest.fixture
def suite(program: str, run_cli: RunCli, iree_tools: IreeTools, tmp_path: Path) -> Suite:
    (tmp_path / "mlp.mlir").write_text(program)
    (tmp_path / "benchmarks.yaml").write_text(MANIFEST)
    assert run_cli("lock", cwd=tmp_path).code == 0
    return Suite(tmp_path, run_cli, Configured(iree_tools, tmp_path))


def test_what_is_written(suite: Suite, program: str) -> None:
    result = suite.extract(program)
    assert (result.code, result.stdout, result.stderr) == (0, "", "")
    locked = json.loads(suite.lock.read_text())["backends"]["cpu"]
    names = {dispatch["name"] for dispatch in locked["dispatches"]}
    assert {path.name for path in suite.output.iterdir()} == {
        *(f"{name}.mlir" for name in names),
        *("B1.flags", "B42.flags", "index.json"),
    }
    assert json.loads((suite.output / "index.json").read_text()) == locked
    assert (suite.output / "B42.flags").read_text() == (
        "--function=main\n--input=42x64xf32\n--input=64x128xf32\n--input=128x32xf32\n"
    )


def test_unchanged_files_keep_their_time_and_others_go(suite: Suite, program: str) -> None:
    assert suite.extract(program).code == 0
    times = {path: path.stat().st_mtime_ns for path in suite.output.iterdir()}
    stale = suite.output / "gone.mlir"
    stale.write_text("")
    assert suite.extract(f"// A comment.\n{program}").code == 0
    assert {path: path.stat().st_mtime_ns for path in suite.output.iterdir()} == times


def test_changed_content_is_said_and_used(suite: Suite, program: str) -> None:
    result = suite.extract(program.replace("arith.maximumf %a, %z", "arith.minimumf %a, %z"))
    assert result.code == 0
    assert result.stdout.startswith("note: changed: ")
    assert any("minimumf" in path.read_text() for path in suite.output.glob("*.mlir"))


def test_a_program_of_another_signature_needs_a_new_lock(suite: Suite, program: str) -> None:
    wider = program.replace("128x32", "128x16").replace("?x32", "?x16")
    result = suite.extract(wider)
    assert result.code == 1
    # The inputs of the lock's calls do not fit any more.
    assert result.stderr.startswith("error: model mlp does not take the calls that its lock lists\n")
    assert "input 2 has the shape 128x32; the program expects 128x16" in result.stderr
    assert f"try: dispatchgen lock {suite.folder} --model mlp, then dispatchgen generate" in result.stderr
    assert not suite.output.exists(), "nothing is written from a lock that does not fit"


def test_added_and_removed_dispatches_are_named(suite: Suite, program: str) -> None:
    other = program.replace("return %o :", "return %o2 :").replace(
        "  return",
        """  %e3 = tensor.empty(%d) : tensor<?x32xf32>
  %o2 = linalg.softmax dimension(1) ins(%o : tensor<?x32xf32>) outs(%e3 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return""",
    )
    result = suite.extract(other)
    assert result.code == 1
    assert "the dispatches of mlp on cpu are not those that its lock lists" in result.stderr
    assert "\n  added: " in result.stderr


def test_bad_input(suite: Suite, program: str) -> None:
    broken = suite.folder / "broken.mlir"
    broken.write_text("module {")
    result = suite.extract_module(broken)
    assert (result.code, "the module cannot be parsed" in result.stderr) == (2, True)
    assert suite.extract_module(suite.folder / "none.mlir").code == 2
    result = suite.extract(program, "--backend", "gpu")
    assert (result.code, result.stderr.splitlines()[0]) == (2, "error: the lock has no backend 'gpu'")
    result = suite.extract(program, "--listed", "0" * 64)
    assert result.code == 1
    assert "the build file was generated from another lock" in result.stderr
