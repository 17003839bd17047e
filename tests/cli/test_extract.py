"""`dispatchgen extract`, the step that the build calls."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from configured import Configured
from dispatchgen.extract.schema import BackendDispatches
from dispatchgen.lock.store import read_lock, write_lock
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


@pytest.fixture(scope="module")
def program(models_dir: Path) -> str:
    return (models_dir / "mlp.mlir").read_text()


@pytest.fixture(scope="module")
def locked(program: str, run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a locked suite, to be copied."""
    folder = tmp_path_factory.mktemp("locked")
    (folder / "mlp.mlir").write_text(program)
    (folder / "benchmarks.yaml").write_text(MANIFEST)
    assert run_cli("lock", cwd=folder).code == 0
    return folder


@pytest.fixture
def suite(locked: Path, run_cli: RunCli, iree_tools: IreeTools, tmp_path: Path) -> Suite:
    shutil.copytree(locked, tmp_path, dirs_exist_ok=True)
    return Suite(tmp_path, run_cli, Configured(iree_tools, tmp_path))


def test_what_is_written(suite: Suite, program: str) -> None:
    result = suite.extract(program)
    assert (result.code, result.stdout, result.stderr) == (0, "", "")
    locked = json.loads(suite.lock.read_text())["backends"]["cpu"]
    names = {dispatch["name"] for dispatch in locked["dispatches"]}
    assert {path.name for path in suite.output.iterdir()} == {
        *(f"{name}.mlir" for name in names),
        *("B1.flags", "B42.flags", "index.json", "written.txt"),
    }
    found = BackendDispatches.model_validate_json((suite.output / "index.json").read_text())
    assert found == BackendDispatches.model_validate(locked)
    assert (suite.output / "B42.flags").read_text() == (
        "--function=main\n--input=42x64xf32\n--input=64x128xf32\n--input=128x32xf32\n"
    )


def test_unchanged_files_keep_their_time_and_those_of_an_earlier_run_go(suite: Suite, program: str) -> None:
    assert suite.extract(program).code == 0
    times = {path: path.stat().st_mtime_ns for path in suite.output.iterdir()}
    assert suite.extract(program, "--drift", "error").code == 0
    assert (suite.output / "drift.txt").exists()
    assert suite.extract(f"// A comment.\n{program}").code == 0
    del times[suite.output / "written.txt"]
    after = {path: path.stat().st_mtime_ns for path in suite.output.iterdir() if path.name != "written.txt"}
    assert after == times


def test_files_of_others_are_left_alone(suite: Suite, program: str) -> None:
    """A folder that was named by mistake may hold a user's own programs."""
    suite.output.mkdir()
    mine = [suite.output / name for name in ("mine.mlir", "mine.flags", "drift.txt")] + [suite.folder / "mlp.mlir"]
    for path in mine[:-1]:
        path.write_text("mine")
    for _ in range(2):
        assert suite.extract(program).code == 0
        with (suite.output / "written.txt").open("a") as stream:
            stream.write("../mlp.mlir\n/\n\n")
    assert [path for path in mine if not path.exists()] == []


def test_what_cannot_be_removed_is_an_error(suite: Suite, program: str) -> None:
    assert suite.extract(program, "--drift", "error").code == 0
    report = suite.output / "drift.txt"
    report.unlink()
    report.mkdir()
    result = suite.extract(program)
    assert result.code == 2
    assert result.stderr.startswith("error: cannot remove the file: ") and str(report) in result.stderr
    assert "Traceback" not in result.stderr


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


def _with_softmax(program: str) -> str:
    return program.replace("return %o :", "return %o2 :").replace(
        "  return",
        """  %e3 = tensor.empty(%d) : tensor<?x32xf32>
  %o2 = linalg.softmax dimension(1) ins(%o : tensor<?x32xf32>) outs(%e3 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return""",
    )


@pytest.mark.parametrize("arguments", [(), ("--drift", "error")])
def test_added_and_removed_dispatches_are_named(suite: Suite, program: str, arguments: tuple[str, ...]) -> None:
    result = suite.extract(_with_softmax(program), *arguments)
    assert result.code == 1
    assert "the dispatches of mlp on cpu are not those that its lock lists" in result.stderr
    assert "\n  added: " in result.stderr
    assert not suite.output.exists()


def test_new_dispatches_are_listed_and_counted_where_drift_is_allowed(suite: Suite, program: str) -> None:
    before = {path.name for path in suite.output.iterdir()} if suite.extract(program).code == 0 else set()
    result = suite.extract(_with_softmax(program), "--drift", "allow")
    assert (result.code, result.stderr) == (0, "")
    first, *others = result.stdout.splitlines()
    assert first == "note: the dispatches of mlp on cpu are not those that its lock lists: 1 added"
    assert [line.partition("softmax")[0] for line in others[:-1]] == ["note: added: "]
    assert others[-1].startswith(
        f"note: the lock: {suite.lock}; to renew it: dispatchgen lock {suite.folder} --model mlp"
    )
    report = (suite.output / "drift.txt").read_text()
    assert report == "".join(f"{line.removeprefix('note: ')}\n" for line in result.stdout.splitlines())
    assert {path.name for path in suite.output.iterdir()} == {*before, "drift.txt"}, "only what the build file lists"


def test_missing_dispatches_become_modules_that_say_so(suite: Suite, program: str, iree_tools: IreeTools) -> None:
    (suite.folder / "mlp.mlir").write_text(_with_softmax(program))
    assert suite.run_cli("lock", cwd=suite.folder).code == 0
    result = suite.extract(program, "--drift", "allow")
    assert result.code == 0
    assert "1 of the locked dispatches cannot be measured: their tests are skipped\n" in result.stdout
    (missing,) = suite.output.glob("*softmax*.mlir")
    assert missing.read_text().splitlines()[0] == (
        "// dispatchgen: skipped: it is no longer among the dispatches of mlp on cpu"
    )
    assert f"note: removed: {missing.stem}\n" in result.stdout
    compiled = suite.configured.compiled(missing)
    run = subprocess.run([iree_tools.benchmark_module, f"--module={compiled}"], capture_output=True, text=True)
    assert "Failed to match any benchmarks" in run.stderr, "it cannot be taken for a dispatch"


def test_data_that_no_longer_lie_in_a_file_are_drift(suite: Suite, program: str) -> None:
    lock = read_lock(suite.lock)
    first, *others = lock.backends["cpu"].dispatches
    dispatches = (first.model_copy(update={"archive": True}), *others)
    backends = {"cpu": lock.backends["cpu"].model_copy(update={"dispatches": dispatches})}
    write_lock(suite.lock, lock.model_copy(update={"backends": backends}))
    result = suite.extract(program)
    assert (result.code, f"\n  data now in or no longer in a file: {first.name}\n" in result.stderr) == (1, True)
    assert suite.extract(program, "--drift", "allow").code == 0
    (missing,) = suite.output.glob(f"{first.name}.mlir")
    assert missing.read_text().startswith("// dispatchgen: skipped: its data no longer lie in a file\n")
    assert (suite.output / f"{first.name}.irpa").read_bytes() == b"", "build systems want the file"


def test_no_drift_leaves_an_empty_report(suite: Suite, program: str) -> None:
    for drift in ("allow", "error"):
        result = suite.extract(program, "--drift", drift)
        assert (result.code, result.stdout) == (0, "")
        assert (suite.output / "drift.txt").read_text() == ""
    assert suite.extract(program).code == 0
    assert not (suite.output / "drift.txt").exists()


def test_calls_that_do_not_fit_are_an_error_also_where_drift_is_allowed(suite: Suite, program: str) -> None:
    result = suite.extract(program.replace("128x32", "128x16").replace("?x32", "?x16"), "--drift", "allow")
    assert result.code == 1
    assert result.stderr.startswith("error: model mlp does not take the calls that its lock lists\n")


def test_calls_of_a_function_that_is_gone_are_an_error_that_names_those_there_are(suite: Suite, program: str) -> None:
    """Said once per function, not per call; also where drift is allowed."""
    renamed = program.replace("@main", "@run")
    private = program.replace("@main", "private @main") + _SCALE
    for gone, there in ((renamed, "@run"), (private, "@scale"), ("module {}", "none")):
        for arguments in ((), ("--drift", "error"), ("--drift", "allow")):
            result = suite.extract(gone, *arguments)
            assert (result.code, result.stderr.splitlines()) == (
                1,
                [
                    "error: model mlp does not take the calls that its lock lists",
                    f"  the program has no public function @main; it has {there}",
                    "    at function @main",
                    f"  at {suite.lock}",
                    f"  try: dispatchgen lock {suite.folder} --model mlp, then dispatchgen generate {suite.folder}",
                ],
            )
            assert not suite.output.exists()


#: A second function that dispatches.
_SCALE = """
func.func @scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


@pytest.mark.parametrize("arguments", [(), ("--drift", "error")])
def test_a_new_function_makes_the_lock_unfit(suite: Suite, program: str, arguments: tuple[str, ...]) -> None:
    result = suite.extract(program + _SCALE, *arguments)
    assert result.code == 1
    first, second, *others = result.stderr.splitlines()
    assert first == "error: the dispatches of mlp on cpu are not those that its lock lists"
    assert second == "  added function: scale"
    assert others[-1] == f"  try: dispatchgen lock {suite.folder} --model mlp, then dispatchgen generate {suite.folder}"
    assert not suite.output.exists()


def test_a_new_function_is_listed_and_counted_where_drift_is_allowed(suite: Suite, program: str) -> None:
    result = suite.extract(program + _SCALE, "--drift", "allow")
    assert (result.code, result.stderr) == (0, "")
    first, second, *_ = (suite.output / "drift.txt").read_text().splitlines()
    assert first.startswith("the dispatches of mlp on cpu are not those that its lock lists: 1 added function")
    assert second == "added function: scale"
    assert result.stdout.startswith(f"note: {first}\nnote: {second}\n")


def test_a_function_that_does_not_belong_to_the_suite_is_no_drift(suite: Suite, program: str) -> None:
    """One that dispatches nothing; and any but the entry function that the manifest names."""
    constant = "func.func @three() -> index {\n  %c = arith.constant 3 : index\n  return %c : index\n}\n"
    assert suite.extract(f"{program}\n{constant}").code == 0
    (suite.folder / "benchmarks.yaml").write_text(MANIFEST + "    entry: main\n")
    assert suite.run_cli("lock", cwd=suite.folder).code == 0
    assert json.loads(suite.lock.read_text())["entry"] == "main"
    result = suite.extract(program + _SCALE)
    assert (result.code, result.stderr) == (0, "")
    assert "function" not in result.stdout


def test_benchmarks_that_are_gone_are_counted_where_drift_is_allowed(suite: Suite, program: str) -> None:
    """The program of today looks at one row, of however many: its second layer is there, at one of two sizes."""
    fewer = program.replace("%d = tensor.dim %x,", "%rows = tensor.dim %all,").replace("%x:", "%all:")
    fewer = fewer.replace(
        "  %z = ",
        """  %one = arith.constant 1 : index
  %d = arith.minui %rows, %one : index
  %x = tensor.extract_slice %all[0, 0] [%d, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %z = """,
    )
    assert suite.extract(fewer).code == 1
    result = suite.extract(fewer, "--drift", "allow")
    assert (result.code, result.stderr) == (0, "")
    report = (suite.output / "drift.txt").read_text().splitlines()
    assert [line for line in report if line.startswith("removed")] == ["removed benchmark: matmul_Dx32x128_f32__B42"]
    counted = "1 of the locked benchmarks cannot be measured: the tests of their dispatches run without them"
    assert report[-2] == counted
    module = (suite.output / "matmul_Dx32x128_f32.mlir").read_text()
    assert "@matmul_Dx32x128_f32__B1(" in module
    assert "__B42(" not in module


def test_command_that_renews_is_the_one_given(suite: Suite, program: str) -> None:
    command = "bazel run //bench:iree-dispatch-benchmarks.update"
    result = suite.extract(_with_softmax(program), "--renew", command)
    assert (result.code, result.stderr.splitlines()[-1]) == (1, f"  try: {command}")
    result = suite.extract(program, "--renew", command, "--listed", "0" * 64)
    assert (result.code, result.stderr.splitlines()[-1]) == (1, f"  try: {command}")
    result = suite.extract(_with_softmax(program), "--renew", command, "--drift", "allow")
    assert result.stdout.endswith(f"to renew it: {command}\n")


def test_names_may_be_listed_in_a_file(suite: Suite, program: str) -> None:
    locked = json.loads(suite.lock.read_text())
    names = [dispatch["name"] for dispatch in locked["backends"]["cpu"]["dispatches"]]
    file = suite.folder / "listed.txt"
    for text in ("\n".join([*names, "", "B1", "B42"]), "\n".join([*reversed(names), "", "B42", "B1", ""])):
        file.write_text(text)
        assert suite.extract(program, "--listed-in", str(file)).code == 0
    file.write_text("\n".join([*names, "", "B1"]))
    result = suite.extract(program, "--listed-in", str(file))
    assert (result.code, "the build file was generated from another lock" in result.stderr) == (1, True)
    result = suite.extract(program, "--listed-in", str(suite.folder / "none.txt"))
    assert (result.code, result.stderr.startswith("error: cannot read the names of dispatches")) == (2, True)


def test_compiler_and_bindings_are_named_where_they_differ(suite: Suite, program: str, iree_tools: IreeTools) -> None:
    same = suite.extract(program, "--iree-compile", str(iree_tools.compile))
    assert (same.code, same.stdout) == (0, "")
    other = suite.folder / "iree-compile"
    other.write_text("#!/bin/sh\necho '  IREE compiler version 9.1.0rc20300101 @ 0123abcd'\n")
    other.chmod(0o755)
    result = suite.extract(program, "--iree-compile", str(other))
    assert result.code == 0
    assert result.stdout.startswith("note: iree-compile is 9.1.0rc20300101 @ 0123abcd, the Python bindings are 3.1")
    broken = suite.folder / "broken.mlir"
    broken.write_text("module {")
    result = suite.extract_module(broken, "--iree-compile", str(other))
    assert result.code == 2
    assert "written by iree-compile 9.1.0rc20300101 @ 0123abcd, read with the Python bindings 3.1" in result.stderr


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
