"""IREE's texts, taken from its real programs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import support
from dispatchgen.iree import messages


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_filter_that_matches_nothing(iree_tools: support.IreeTools, models_dir: Path, tmp_path: Path) -> None:
    module = tmp_path / "mlp.vmfb"
    target = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    subprocess.run(
        [iree_tools.compile, models_dir / "mlp.mlir", "-o", module, *target], check=True, capture_output=True
    )
    benchmark: list[str | Path] = [iree_tools.benchmark_module, f"--module={module}", "--device=local-sync"]
    nothing = run(*benchmark, "--benchmark_filter=no_such_benchmark")
    assert nothing.returncode == 0, "this is why the text must be known"
    assert messages.matched_no_benchmark(nothing.stdout + nothing.stderr)
    something = run(*benchmark, "--function=main", "--input=1x64xf32=0", "--benchmark_min_time=1x")
    assert not messages.matched_no_benchmark(something.stdout + something.stderr)


def test_a_driver_that_was_not_built_in(iree_tools: support.IreeTools) -> None:
    result = run(iree_tools.benchmark_module, "--list_devices=nonesuch")
    text = result.stderr + result.stdout
    assert messages.device_is_absent(text)
    assert messages.status_message(text) == "no driver 'nonesuch' registered (NOT_FOUND)"


def test_the_runners_of_the_build_systems_know_the_same_texts(repository: Path) -> None:
    expected = [pattern.replace(r"[^\n]*", ".*") for pattern in messages.ABSENT_DEVICE]
    scripts = ("test_functions.sh", "run_benchmark.sh")
    shell = "".join((repository / "genrules/bazel/private" / script).read_text() for script in scripts)
    match = re.search(r'^absent_device="(.*)"$', shell, re.MULTILINE)
    assert match is not None and match[1].split("|") == expected
    cmake = (repository / "genrules/cmake/private/tests.cmake").read_text()
    match = re.search(r"^set\(_IREE_DISPATCH_ABSENT_DEVICE\n(.*?)^\)", cmake, re.MULTILINE | re.DOTALL)
    assert match is not None
    assert re.findall(r'^ *"(.*)"$', match[1].replace(r"[^\n]*", ".*"), re.MULTILINE) == expected
    for text in (shell, cmake):
        assert messages.NO_BENCHMARK in text


def test_drivers_are_listed(iree_tools: support.IreeTools) -> None:
    names = messages.driver_names(run(iree_tools.benchmark_module, "--list_drivers").stdout)
    assert {"local-sync", "local-task"} <= set(names)
    assert all(" " not in name for name in names)


def test_an_error_of_another_kind_is_no_absent_device(iree_tools: support.IreeTools, tmp_path: Path) -> None:
    result = run(iree_tools.benchmark_module, f"--module={tmp_path / 'none.vmfb'}", "--device=local-sync")
    assert result.returncode != 0
    text = result.stderr + result.stdout  # the one since 3.13, the other before
    assert not messages.device_is_absent(text)
    assert "(NOT_FOUND)" in (messages.status_message(text) or "")


def test_what_ended_a_python_program() -> None:
    failing = run(sys.executable, "-c", "import json; json.loads('{')")
    assert "Expecting property name" in (messages.python_error(failing.stderr) or "")
    assert messages.missing_python_module(failing.stderr) is None
    missing = run(sys.executable, "-c", "import no_such_module.sub")
    assert messages.missing_python_module(missing.stderr) == "no_such_module"
    assert messages.missing_python_module(run(sys.executable, "-m", "no_such_module.sub").stderr) == "no_such_module"
    assert messages.python_error("warning: nothing wrong") is None


def test_the_cmake_rules_know_the_same_texts_of_absent_devices() -> None:
    rules = (support.REPOSITORY / "genrules" / "cmake" / "private" / "tests.cmake").read_text()
    (block,) = re.findall(r"^set\(_IREE_DISPATCH_ABSENT_DEVICE\n(.*?)^\)", rules, re.MULTILINE | re.DOTALL)
    assert tuple(re.findall(r'^  "(.*)"$', block, re.MULTILINE)) == messages.ABSENT_DEVICE
