"""run_benchmark.sh: a test passes only when all was measured, and arguments reach the program as they are."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bazel_macros import Package
from support import REPOSITORY, TIMEOUT, IreeTools, started, wait_until

RUNNER = REPOSITORY / "genrules" / "bazel" / "private" / "run_benchmark.sh"
SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]

MEASURED = {"benchmarks": [{"name": "BM_a", "iterations": 1, "real_time": 2.5}]}
ERROR = {"name": "BM_b", "error_occurred": True, "error_message": "INTERNAL", "real_time": 0.0}
#: What iree-benchmark-module printed on machines without the device.
ABSENT = [
    "iree/hal/driver_registry.c:123: NOT_FOUND; no driver 'hip' registered; creating device 'hip'",
    "c/cuda_dynamic_symbols.c:66: UNAVAILABLE; CUDA driver library 'libcuda.so'/'nvcuda.dll' not available",
    "c/vulkan_driver.cc:900: NOT_FOUND; no device 3; creating device 'vulkan://3'",
    "c/hip_driver.c:300: FAILED_PRECONDITION; no devices found",
]


@dataclass(frozen=True)
class Outcome:
    """What a finished test of Bazel left."""

    code: int
    output: str  #: stdout and stderr.
    result: str | None  #: benchmark.json in the undeclared outputs.
    xml: str | None  #: What the runner says of the test; None: that is left to Bazel.
    arguments: list[str] | None  #: Of the program; None: it did not run.


Run = Callable[..., Outcome]


@pytest.fixture(params=SHELLS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Runs the runner in an environment like that of a test of Bazel, with a stand-in for iree-benchmark-module."""
    shell: str = request.param

    def run_with(
        *options: str,
        prints: str = "",
        writes: object = MEASURED,
        ends: str = "exit 0",
        flags: Sequence[str] = ("--x",),
    ) -> Outcome:
        program = _stand_in(tmp_path, prints, writes, ends)
        return _run([shell, str(RUNNER), *options, "--", str(program), *flags], tmp_path)

    return run_with


def _stand_in(folder: Path, prints: str, writes: object, ends: str) -> Path:
    """A program that notes its arguments, prints, writes JSON as the benchmark library does, and ends."""
    (folder / "prints").write_text(prints)
    text = writes if isinstance(writes, str) else json.dumps(writes, indent=2)
    (folder / "writes").write_text(text)
    write = 'case $a in --benchmark_out=*) cat "$d/writes" > "${a#*=}" ;; esac' if writes is not None else ":"
    program = folder / "a program"
    program.write_text(
        f'#!/bin/sh\nd={folder}\nfor a in "$@"; do printf \'%s\\0\' "$a" >> $d/arguments; {write}; done\n'
        f"cat $d/prints\n{ends}\n"
    )
    program.chmod(0o755)
    return program


def _run(command: Sequence[str], folder: Path) -> Outcome:
    outputs, temporary, xml, arguments = (folder / name for name in ("outputs", "tmp", "test.xml", "arguments"))
    outputs.mkdir()
    temporary.mkdir()
    process = subprocess.run(
        command,
        env={
            "PATH": "/usr/bin:/bin",
            "TEST_TARGET": "//a:b<c>",
            "TEST_TMPDIR": str(temporary),
            "TEST_UNDECLARED_OUTPUTS_DIR": str(outputs),
            "XML_OUTPUT_FILE": str(xml),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert list(temporary.iterdir()) == []
    result = outputs / "benchmark.json"
    return Outcome(
        process.returncode,
        process.stdout,
        result.read_text() if result.exists() else None,
        xml.read_text() if xml.exists() else None,
        arguments.read_text().split("\0")[:-1] if arguments.exists() else None,
    )


def _skip_reason(outcome: Outcome) -> str:
    """Why a test was skipped, as its XML says."""
    assert outcome.xml is not None
    suite = ElementTree.fromstring(outcome.xml)[0]
    assert (suite.get("tests"), suite.get("skipped"), suite.get("failures")) == ("1", "1", "0")
    skipped = suite.find("testcase/skipped")
    assert skipped is not None
    return skipped.get("message") or ""


def test_a_timed_test_keeps_what_was_measured(run: Run) -> None:
    outcome = run("--keep-result", prints="BM_a 2.5 ms\n")
    assert (outcome.code, outcome.output, outcome.xml) == (0, "BM_a 2.5 ms\n", None)
    assert outcome.result is not None
    assert json.loads(outcome.result) == MEASURED


def test_a_smoke_test_keeps_nothing(run: Run) -> None:
    outcome = run()
    assert (outcome.code, outcome.result) == (0, None)


def test_flags_reach_the_program_as_they_are(run: Run) -> None:
    flags = ["--a=b c", "--$HOME=`id`", "--'\"\\", "", "*", "--ü=\n;|&"]
    outcome = run(flags=flags)
    assert outcome.arguments is not None
    assert outcome.arguments[:-2] == flags
    assert outcome.arguments[-1] == "--benchmark_out_format=json"


@pytest.mark.parametrize("ends", ["exit 3", "kill -SEGV $$"])
def test_a_program_that_fails(run: Run, ends: str) -> None:
    outcome = run("--keep-result", "--skip-absent-device", prints="it broke\n", ends=ends)
    assert outcome.code == 1
    assert "it broke\n" in outcome.output
    assert "error: iree-benchmark-module failed: " in outcome.output
    assert (outcome.result, outcome.xml) == (None, None)


@pytest.mark.parametrize(
    ("prints", "writes"),
    [
        ("Failed to match any benchmarks against regex: .\n", MEASURED),
        ("", {"benchmarks": []}),
        ("", {"context": {"flag": '"real_time":'}, "benchmarks": []}),
        ("", ""),
        ("", None),
    ],
)
def test_nothing_measured_fails(run: Run, prints: str, writes: object) -> None:
    outcome = run("--keep-result", prints=prints, writes=writes)
    assert (outcome.code, outcome.result) == (1, None)
    assert "error: nothing was measured: iree-benchmark-module ended with exit code 0" in outcome.output


@pytest.mark.parametrize("time", ["Infinity", "-Infinity", "NaN", "inf", "nan"])
def test_a_time_that_is_no_number_fails(run: Run, time: str) -> None:
    """The library writes it so where nothing was run: which way depends on its version."""
    median = {"name": "BM_a_median", "iterations": 2, "real_time": "TIME"}
    text = json.dumps({"benchmarks": [*MEASURED["benchmarks"], median]}, indent=2).replace('"TIME"', time)
    outcome = run("--keep-result", writes=text)
    assert (outcome.code, outcome.result) == (1, None)
    assert "error: nothing was measured: a time is not finite" in outcome.output


@pytest.mark.parametrize(
    ("prints", "writes"),
    [
        ("BM_b ERROR OCCURRED: 'INTERNAL'\n", MEASURED),
        ("", {"benchmarks": [*MEASURED["benchmarks"], ERROR]}),
        ("", {"benchmarks": [*MEASURED["benchmarks"], {**ERROR, "error_occurred": False, "skipped": True}]}),
    ],
)
def test_a_benchmark_that_fails(run: Run, prints: str, writes: object) -> None:
    outcome = run("--keep-result", prints=prints, writes=writes)
    assert (outcome.code, outcome.result) == (1, None)
    assert "error: not all benchmarks were measured" in outcome.output


@pytest.mark.parametrize("text", ABSENT)
def test_an_absent_device_fails(run: Run, text: str) -> None:
    flags = ["--device=hip://3", "--device=of the user"]
    outcome = run("--keep-result", prints=f"{text}\n", ends="exit 1", flags=flags)
    assert (outcome.code, outcome.result, outcome.xml) == (1, None, None)
    assert "error: nothing was measured: this machine does not have the device hip://3\n" in outcome.output
    assert "`dispatchgen doctor`" in outcome.output
    assert "--@dispatchgen//:absent_device=skip" in outcome.output


@pytest.mark.parametrize("text", ABSENT)
def test_an_absent_device_is_skipped_where_that_is_allowed(run: Run, text: str) -> None:
    prints = f"first\n{text}\nlast\n"
    outcome = run("--keep-result", "--skip-absent-device", prints=prints, ends="exit 1", flags=["--device=hip://3"])
    assert (outcome.code, outcome.result) == (0, None)
    assert f"dispatchgen: skipped: no device hip://3: {text}\n" in outcome.output
    assert _skip_reason(outcome) == f"no device hip://3: {text}"


def test_what_is_skipped_is_not_run(run: Run, tmp_path: Path) -> None:
    reason = 'it is <no longer> among the "dispatches" of a & b\'s'
    placeholder = tmp_path / "a.mlir"
    placeholder.write_text(f"// dispatchgen: skipped: {reason}\nmodule {{}}\n")
    outcome = run("--keep-result", "--placeholder", str(placeholder))
    assert (outcome.code, outcome.output) == (0, f"dispatchgen: skipped: {reason}\n")
    assert (outcome.arguments, outcome.result) == (None, None)
    assert _skip_reason(outcome) == reason


def test_a_module_that_is_no_placeholder_is_run(run: Run, tmp_path: Path) -> None:
    module = tmp_path / "a.mlir"
    module.write_text("module {}\n// dispatchgen: skipped: no\n")
    outcome = run("--keep-result", "--placeholder", str(module))
    assert (outcome.code, outcome.xml) == (0, None)
    assert outcome.result is not None


def test_a_missing_module_fails(run: Run) -> None:
    outcome = run("--placeholder", "nowhere.mlir")
    assert (outcome.code, outcome.arguments) == (1, None)
    assert "error: no file nowhere.mlir" in outcome.output


def _modules(folder: Path) -> list[str]:
    """A module, one of the same bytes, and another."""
    paths = [folder / name for name in ("module", "same", "other")]
    for path, content in zip(paths, "aab", strict=True):
        path.write_text(content)
    return [str(path) for path in paths]


def test_a_substitution_that_is_the_compilers_own_code_is_said(run: Run, tmp_path: Path) -> None:
    module, same, _ = _modules(tmp_path)
    outcome = run("--change", module, same, "--original", module, same)
    assert (outcome.code, outcome.output) == (0, "note: the same code as the compiler's own\n")


def test_a_substitution_of_other_code_is_just_run(run: Run, tmp_path: Path) -> None:
    module, same, other = _modules(tmp_path)
    outcome = run("--change", module, other, "--change", module, same, "--original", module, other)
    assert (outcome.code, outcome.output) == (0, "")
    assert outcome.arguments is not None


def test_a_whole_model_without_the_substitution_fails(run: Run, tmp_path: Path) -> None:
    module, same, other = _modules(tmp_path)
    outcome = run("--change", other, module, "--change", module, same, "--original", module, same)
    assert (outcome.code, outcome.arguments) == (1, None)
    assert outcome.output == (
        "error: the substitution did not take place: the whole model is the same code as the compiler's own, "
        f"{other} is not\n"
    )


def test_modules_that_cannot_be_compared_fail(run: Run, tmp_path: Path) -> None:
    module, *_ = _modules(tmp_path)
    outcome = run("--original", module, f"{tmp_path}/none")
    assert (outcome.code, outcome.arguments) == (1, None)
    assert outcome.output == f"error: {module} and {tmp_path}/none were not compared\n"


def test_by_hand_nothing_of_bazel_is_needed(tmp_path: Path) -> None:
    """`bazel run` sets none of the variables of tests."""
    program = _stand_in(tmp_path, "BM_a\n", MEASURED, "exit 0")
    process = subprocess.run(
        ["/bin/sh", RUNNER, "--keep-result", "--", program],
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "BM_a\n", "")


def test_when_interrupted_it_leaves_nothing(tmp_path: Path) -> None:
    program = _stand_in(tmp_path, "", MEASURED, "sleep 600")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(temporary)}
    with started(["/bin/sh", RUNNER, "--", program, "--x"], env=environment) as process:
        wait_until((tmp_path / "arguments").exists, process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(TIMEOUT) != 0
    assert list(temporary.iterdir()) == []


def test_the_real_program_without_the_device(iree_tools: IreeTools, tmp_path: Path) -> None:
    command = ["/bin/sh", str(RUNNER), "--skip-absent-device", "--", str(iree_tools.benchmark_module)]
    outcome = _run([*command, *_call(iree_tools, tmp_path), "--device=cuda://99"], tmp_path)
    assert outcome.code == 0, outcome.output
    assert _skip_reason(outcome).startswith("no device cuda://99: ")


def test_the_real_program_without_benchmarks(iree_tools: IreeTools, tmp_path: Path) -> None:
    module = _compile(iree_tools, tmp_path, "vm.module public @empty {}\n", "--compile-mode=vm")
    command = ["/bin/sh", str(RUNNER), "--keep-result", "--", str(iree_tools.benchmark_module)]
    outcome = _run([*command, f"--module={module}", "--device=local-sync"], tmp_path)
    assert (outcome.code, outcome.result) == (1, None)
    assert "error: nothing was measured" in outcome.output


@pytest.mark.parametrize(("repetitions", "time"), [(1, "of no iteration"), (2, "not finite")])
def test_the_real_program_without_iterations(
    iree_tools: IreeTools, tmp_path: Path, repetitions: int, time: str
) -> None:
    command = ["/bin/sh", str(RUNNER), "--keep-result", "--", str(iree_tools.benchmark_module), "--device=local-sync"]
    flags = ["--benchmark_min_time=0x", f"--benchmark_repetitions={repetitions}"]
    outcome = _run([*command, *_call(iree_tools, tmp_path), *flags], tmp_path)
    assert (outcome.code, outcome.result) == (1, None)
    assert f"error: nothing was measured: a time is {time}\n" in outcome.output


def _call(tools: IreeTools, folder: Path) -> list[str]:
    """Flags that name a function, of a module made for it, and its input."""
    source = "func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {\n"
    source += "  %b = arith.addi %a, %a : tensor<4xi32>\n  return %b : tensor<4xi32>\n}\n"
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]
    return [f"--module={_compile(tools, folder, source, *flags)}", "--function=f", "--input=4xi32"]


def _compile(tools: IreeTools, folder: Path, program: str, *flags: str) -> Path:
    source, module = folder / "a.mlir", folder / "a.vmfb"
    source.write_text(program)
    subprocess.run([tools.compile, *flags, source, "-o", module], check=True, timeout=TIMEOUT)
    return module


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=30))
def test_quoted_text_is_one_word_of_the_shell(texts: list[str]) -> None:
    module = Package().module(":launcher.bzl")
    words = [str(module.call("quote", text)) for text in texts]
    script = "printf '%s\\0' " + " ".join(words)
    output = subprocess.run(["/bin/sh", "-c", script], capture_output=True, timeout=TIMEOUT, check=True).stdout
    assert output.decode().split("\0")[:-1] == texts
