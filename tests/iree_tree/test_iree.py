"""Suites as plug-ins of IREE's own build, with its compiler off and the programs of the wheels in its place."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path

import pytest

from cmake_project import Project
from dispatchgen.manifest.suite import Backend, Device
from iree_plugin_build import PluginBuild, has_c_compiler, passed, write_plugin
from suite_folder import HOST, layers_model
from support import IreeTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.iree_source,
    pytest.mark.skipif(not has_c_compiler(), reason="no C compiler"),
]

#: The smallest build of IREE that runs benchmarks on the CPU.
_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "IREE_BUILD_COMPILER": "OFF",
    "IREE_BUILD_SAMPLES": "OFF",
    "IREE_ERROR_ON_MISSING_SUBMODULES": "OFF",
    "IREE_HAL_DRIVER_DEFAULTS": "OFF",
    "IREE_HAL_DRIVER_LOCAL_SYNC": "ON",
    "IREE_HAL_EXECUTABLE_LOADER_DEFAULTS": "OFF",
    "IREE_HAL_EXECUTABLE_LOADER_EMBEDDED_ELF": "ON",
    "IREE_HAL_EXECUTABLE_LOADER_VMVX_MODULE": "ON",
    "IREE_HAL_EXECUTABLE_PLUGIN_DEFAULTS": "OFF",
    "IREE_BUILD_BINDINGS_TFLITE": "OFF",
    "IREE_BUILD_BINDINGS_TFLITE_JAVA": "OFF",
    "IREE_ENABLE_LIBBACKTRACE": "OFF",
}
_DEVICES = (Device("local-sync", "local-sync"), Device("vulkan", "vulkan"))
_BACKENDS = (dataclasses.replace(HOST, devices=_DEVICES), Backend("vulkan", "vulkan", "vulkan"))
_PLACE = "dispatch_benchmarks/one/m/host"


@dataclasses.dataclass
class InIree:
    """A build of IREE with a suite as a plug-in."""

    build: PluginBuild
    suite: Project
    said: str  #: By CMake.
    seconds: dict[str, float]  #: What took how long.


def _host_programs(folder: Path, tools: IreeTools) -> Path:
    """A folder like the one that IREE_HOST_BIN_DIR names, with the native programs of the wheels."""
    folder.mkdir()
    for program in (tools.compile, tools.runtime_dir / "iree-c-embed-data", tools.runtime_dir / "iree-flatcc-cli"):
        (folder / program.name).symlink_to(program)
    return folder


@pytest.fixture(scope="module")
def in_iree(tmp_path_factory: pytest.TempPathFactory, iree_source_dir: Path, iree_tools: IreeTools) -> InIree:
    """A suite of one model, configured and built in IREE's build tree."""
    folder = tmp_path_factory.mktemp("iree")
    suite = Project(folder / "one", backends=_BACKENDS, models=[layers_model("m", backends=("host", "vulkan"))])
    suite.write_layers("m", (8, 16, 24))
    suite.lock()
    write_plugin(suite)
    host_programs = str(_host_programs(folder / "host", iree_tools))
    definitions = {**_OPTIONS, "IREE_HOST_BIN_DIR": host_programs, "Python3_EXECUTABLE": sys.executable}
    build = PluginBuild(iree_source_dir, folder / "build", [suite.folder], definitions)
    seconds: dict[str, float] = {}
    begin = time.monotonic()
    said = build.configure()
    seconds["configure"] = time.monotonic() - begin
    begin = time.monotonic()
    build.build()
    seconds["build of the runtime's tool and the suite"] = time.monotonic() - begin
    return InIree(build, suite, said, seconds)


def test_tools_and_gates_are_those_of_the_build(in_iree: InIree, iree_tools: IreeTools) -> None:
    version = ".".join(map(str, iree_tools.version))
    assert f"-- dispatchgen: iree-compile {version}" in in_iree.said
    assert "-- dispatchgen: iree-benchmark-module: built in this build" in in_iree.said
    assert f"-- dispatchgen: no tests of {_PLACE} on vulkan: IREE_HAL_DRIVER_VULKAN is off" in in_iree.said
    # Of a compiler that is not built here it is not known what it can do.
    assert "IREE_TARGET_BACKEND" not in in_iree.said
    assert (in_iree.build.build_dir / "dispatch_benchmarks/one/m/vulkan/model.vmfb").is_file()


def test_smoke_and_timed_tests_pass(in_iree: InIree) -> None:
    log = in_iree.build.test("-L", "^dispatch_benchmarks/one$")
    assert passed(log) == 6, log
    assert f"{_PLACE}/local-sync/model/static/smoke" in log


def test_nothing_joins_all_or_the_test_dependencies(in_iree: InIree) -> None:
    for target in ("all", "iree-test-deps"):
        assert "/dispatch_benchmarks/" not in in_iree.build.commands(target)


def test_nothing_changed_runs_no_command(in_iree: InIree) -> None:
    in_iree.build.build()
    begin = time.monotonic()
    assert "no work to do" in in_iree.build.build()
    in_iree.seconds["no-op build"] = time.monotonic() - begin


def test_changed_layer_compiles_one_dispatch(in_iree: InIree) -> None:
    suite = in_iree.suite
    in_iree.build.build()
    before = suite.dispatches("m")
    suite.write_layers("m", (8, 16, 40))
    suite.lock()
    write_plugin(suite)
    begin = time.monotonic()
    steps = in_iree.build.steps("dispatch_benchmarks_one_m_host")
    in_iree.seconds["one layer changed, reconfiguring IREE included"] = time.monotonic() - begin
    (new,) = suite.dispatches("m").keys() - before.keys()
    assert steps == [
        f"Compiling {_PLACE}/{new}.vmfb",
        f"Compiling {_PLACE}/model.vmfb",
        f"Configuring {_PLACE}",
        f"Extracting {_PLACE}",
    ]


def test_the_tree_of_iree_is_as_it_was(in_iree: InIree, iree_source_dir: Path) -> None:
    begin = in_iree.build.build_dir.parent.joinpath("host").stat().st_mtime
    newer = [
        Path(folder, name)
        for folder, _, names in os.walk(iree_source_dir)
        for name in names
        if Path(folder, name).lstat().st_mtime > begin
    ]
    assert newer == []


def test_how_long_it_took(in_iree: InIree, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the figures; a time decides nothing."""
    with capsys.disabled():
        for what, seconds in in_iree.seconds.items():
            print(f"\n  {what}: {seconds:.1f} s", end="")
    assert in_iree.seconds
