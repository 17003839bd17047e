"""IREE's bazel_to_cmake makes of a generated BUILD.bazel the calls that the generated CMakeLists.txt has."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bazel_macros import Package
from cmake_project import find_program
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import (
    Backend,
    Combination,
    Device,
    Model,
    Preset,
    RunSettings,
    Selector,
    Source,
    Substitution,
    Suite,
)
from dispatchgen.render.bazel import render_bazel
from dispatchgen.render.cmake import render_cmake
from dispatchgen.render.quote import KEYWORDS, cmake_argument
from support import REPOSITORY, cli_environment

_CFG = REPOSITORY / "genrules" / "bazel" / "bazel_to_cmake_cfg.py"

#: Texts that mean something to Starlark, Python, CMake or a shell.
_HOSTILE = (
    *("--x=\"q\" 'q'", "--x=$HOME ${HOME} $ENV{HOME} $", "--x=a\\b\\\\c\\n", "--x=é漢\U0001f600", "--x=a;b;;c"),
    *("--x=$<SEMICOLON>$<1:y>$$<", "--x=#[[1]] %d {0} {{y}}", "--x=@", '--x="""', "--x= two  spaces"),
)
_CPU = Backend(
    *("cpu", "cpu", "local", "llvm-cpu", _HOSTILE),
    devices=(Device("sync.1", "local-sync", _HOSTILE, ("a b", "$x")), Device("task", "local-task")),
    labels=("driver=cpu",),
)
_MODEL = Model(
    *("Model A", "model_a", Source("my models/a $HOME é.mlir", "mlir")),
    parameters=("scope=weights $x.irpa",),
    backends=("cpu",),
    labels=("large",),
    run=RunSettings(min_time="0.5s", repetitions=3, batch_size=10),
    drift="allow",
    flag_files={"cpu": ("spec $x.mlir",)},
    substitutions=(
        Substitution(
            *("fast", "fast", "object", "kernels/a $HOME é.c"),
            selectors=(Selector("matmul_1", "any"),),
            backends=("cpu",),
            command=("cc", *_HOSTILE, "{source}", "-o", "{output}"),
            inputs=("kernels/a $x.h",),
            workgroups="(d0) -> (d0 ceildiv 64, 1, 1)",
            tolerance=0.001,
        ),
        Substitution(
            *("tuned", "tuned", "tuning_spec", "spec $x.mlir"),
            selectors=(Selector("softmax_*", "any"),),
            backends=("cpu",),
            other_target=True,
        ),
    ),
    combinations=(Combination("all", "all", ("fast", "tuned"), ("cpu",)),),
)
_IMPORTED = Model(
    *("b", "b", Source("data/b.onnx", "onnx", package="onnx"), ("--opset-version=19",)),
    backends=("vulkan", "cpu"),
)
_SUITE = Suite(
    Path("benchmarks.yaml"),
    (_CPU, Backend("vulkan", "vulkan", "vulkan")),
    (_MODEL, _IMPORTED),
    (
        Preset("nightly", "nightly", models=("b",), budget=600.0, baseline="main"),
        Preset("empty", "empty", labels=("none",)),
        Preset("all", "all", budget=60.0),
    ),
)
_PLAIN = replace(_SUITE, models=(replace(_MODEL, labels=(), parameters=(), drift="error"),), presets=())


def _lock(model: Model) -> Lock:
    dispatches = tuple(
        Dispatch(name=n, operation=n, executable=n, variant="v", export="x", content="", written=(), benchmarks=())
        for n in ("matmul_1", "softmax_2")
    )
    calls = (Call(name="B1", function="main$async", shape="B1", symbols={}, inputs=()),)
    backends = {name: BackendDispatches(backend=name, dispatches=dispatches) for name in model.backends}
    return Lock(
        model=model.id,
        made_from=MadeFrom(source="", settings={}, compiler=""),
        entry=None,
        calls=calls,
        backends=backends,
    )


def _texts(suite: Suite) -> tuple[str, str]:
    """The BUILD.bazel and the CMakeLists.txt of a suite."""
    locks = {model.id: _lock(model) for model in suite.models}
    return render_bazel(suite, locks), render_cmake(suite, locks)


def _calls(cmake: str) -> str:
    """The calls of the rules in a CMakeLists.txt, which are the end of it, without blank lines."""
    lines = cmake[cmake.index("iree_dispatch_benchmark_setup(") :].splitlines()
    return "\n".join(line for line in lines if line and "BAZEL_TO_CMAKE" not in line)


def _load_cfg() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dispatchgen_cfg", _CFG)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class _Converter:
    body: str = ""


class _Functions(_load_cfg().DispatchBenchmarkFunctions):  # type: ignore[misc]
    """The handlers, in place of a converter that only collects what they write."""

    def __init__(self) -> None:
        self._converter = _Converter()

    def load(self, *args: str) -> None:
        """As in the converter, nothing is loaded."""

    def convert(self, text: str) -> str:
        """What the calls in a BUILD file become."""
        exec(text, {name: getattr(self, name) for name in dir(self) if not name.startswith("_")})
        return self._converter.body


@pytest.mark.parametrize("suite", [_SUITE, _PLAIN])
def test_a_generated_build_file_becomes_the_generated_calls(suite: Suite) -> None:
    bazel, cmake = _texts(suite)
    assert _calls(_Functions().convert(bazel)) == _calls(cmake)


@given(st.text())
def test_texts_are_quoted_as_in_generated_files(text: str) -> None:
    assert _load_cfg()._quote(text) == cmake_argument(text)


def test_keywords_are_those_of_the_cmake_rules() -> None:
    of_setup = {"PACKAGES", "MANIFEST", "NIGHTLY", "BASELINES"}
    assert {*_load_cfg()._KEYWORDS, *of_setup} == KEYWORDS


def test_attributes_of_bazel_are_left_out_and_tags_are_labels() -> None:
    call = (
        'iree_dispatch_benchmark_suite(name = "x", visibility = ["//:a"], tools = ":t", labels = ["a"], tags = ["b"])'
    )
    assert _Functions().convert(call) == (
        'iree_dispatch_benchmark_suite(\n  NAME\n    "x"\n  LABELS\n    "a"\n    "b"\n)\n\n'
    )
    assert _Functions().convert('iree_dispatch_benchmark_suite(name = "x", tags = ["skip-bazel_to_cmake"])') == ""


def test_attributes_that_say_nothing_to_cmake_are_those_of_the_macros_but_one() -> None:
    check = Package().module(":check.bzl")
    attributes = {*_load_cfg()._BAZEL_ONLY, "target_compatible_with"} - {"tools"}
    assert check.call("check_attributes", dict.fromkeys(attributes)) == []
    assert check.call("check_attributes", {**dict.fromkeys(attributes), "size": None}) == ["unknown argument: size"]
    # Not built on some platforms: that means something to CMake.
    with pytest.raises(NotImplementedError, match="target_compatible_with"):
        _Functions().convert('iree_dispatch_benchmark_suite(name = "x", target_compatible_with = ["//a"])')


@pytest.mark.parametrize("call", ["suite(name = 'x', dispatchs = [])", "setup(name = 'x', devices = [])"])
def test_what_the_rules_do_not_know_is_refused(call: str) -> None:
    with pytest.raises(NotImplementedError, match="unknown keywords: d"):
        _Functions().convert(f"iree_dispatch_benchmark_{call}")


_CONFIGURATIONS = {
    "a project's": """\
import bazel_to_cmake_converter

class CustomBuildFileFunctions(
    dispatchgen_cfg.DispatchBenchmarkFunctions,
    bazel_to_cmake_converter.BuildFileFunctions,
):
    pass
""",
    "IREE's": """\
iree = importlib.util.spec_from_file_location("iree_cfg", "{iree}/.bazel_to_cmake.cfg.py")
iree_cfg = importlib.util.module_from_spec(iree)
iree.loader.exec_module(iree_cfg)
CustomTargetConverter = iree_cfg.CustomTargetConverter
CustomBuildFileFunctions = dispatchgen_cfg.with_dispatch_benchmarks(iree_cfg.CustomBuildFileFunctions)
""",
}
_LOAD = """\
import importlib.util

spec = importlib.util.spec_from_file_location("dispatchgen_cfg", "{cfg}")
dispatchgen_cfg = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dispatchgen_cfg)
"""


@pytest.fixture(params=_CONFIGURATIONS)
def project(request: pytest.FixtureRequest, tmp_path: Path, iree_source_dir: Path) -> Path:
    """A project that IREE's converter works in; `suite` is its only package."""
    (tmp_path / "suite").mkdir()
    configuration = (_LOAD + _CONFIGURATIONS[request.param]).format(cfg=_CFG, iree=iree_source_dir)
    (tmp_path / ".bazel_to_cmake.cfg.py").write_text(configuration)
    (tmp_path / "suite" / "BUILD.bazel").write_text(_texts(_SUITE)[0], encoding="utf-8")
    return tmp_path


def _convert(project: Path, iree: Path) -> str:
    """Runs the converter; returns what it says. Python is one without dispatchgen."""
    converter = iree / "build_tools" / "bazel_to_cmake" / "bazel_to_cmake.py"
    command = [sys.executable, "-S", "-B", str(converter), "suite"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.iree_source
def test_the_converter_makes_the_generated_calls_and_changes_nothing_then(project: Path, iree_source_dir: Path) -> None:
    assert "1 CMakeLists.txt files were updated" in _convert(project, iree_source_dir)
    path = project / "suite" / "CMakeLists.txt"
    first = path.read_bytes()
    assert _calls(first.decode()) == _calls(_texts(_SUITE)[1])
    assert "1 required no change" in _convert(project, iree_source_dir)
    assert path.read_bytes() == first


@pytest.mark.slow
@pytest.mark.iree_source
@pytest.mark.parametrize("project", ["a project's"], indirect=True)
def test_the_converted_file_has_the_tests_of_the_generated_one(project: Path, iree_source_dir: Path) -> None:
    _convert(project, iree_source_dir)
    programs = project / "bin"
    programs.mkdir()
    for name in ("iree-compile", "iree-benchmark-module"):
        (programs / name).write_text("#!/bin/sh\necho IREE compiler version 99.0\n")
        (programs / name).chmod(0o755)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(p LANGUAGES NONE)\n"
        "enable_testing()\n"
        "function(iree_add_all_subdirs)\n"
        "endfunction()\n"
        f'include("{REPOSITORY}/genrules/cmake/iree_dispatch_benchmark_suite.cmake")\n'
        "add_subdirectory(suite)\n"
    )
    converted = list(_tests(project, programs))
    (project / "suite" / "CMakeLists.txt").write_text(_texts(_SUITE)[1], encoding="utf-8")
    assert converted == list(_tests(project, programs))
    # Of two suites on CPUs: what they run, on each device, smoke and timed; and one that tells of drift. A substitution
    # has that of a dispatch and of a call, the combination that of a call; one compares outputs.
    # Two presets are measured as a whole, of which one has a baseline.
    assert len(converted) == 2 * 3 * 2 * 2 + 1 + 2 * ((2 + 2 + 1) * 2 + 1) + 3


def _tests(project: Path, programs: Path) -> Iterator[dict[str, Any]]:
    """All that CTest knows of the tests of a project, but where they were defined."""
    build = project / "build"
    definitions = [f"-DIREE_HOST_BIN_DIR={programs}", f"-DPython3_EXECUTABLE={sys.executable}"]
    commands: tuple[list[str], ...] = (
        [find_program("cmake"), "--fresh", "-S", str(project), "-B", str(build), "-G", "Ninja", *definitions],
        [find_program("ctest"), "--test-dir", str(build), "--show-only=json-v1"],
    )
    for command in commands:
        done = subprocess.run(command, env=cli_environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for test in json.loads(done.stdout)["tests"]:
        yield {key: value for key, value in test.items() if key != "backtrace"}
