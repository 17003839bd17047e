"""Suites as plug-ins of a build that has IREE's targets, options and package rules: a stand-in for IREE's own.

Its iree-compile is built in the same build, and starts that of the wheels.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path

import pytest

from cmake_project import Project
from dispatchgen.manifest.suite import Backend, Device, Preset, Selector, Substitution
from iree_plugin_build import PluginBuild, has_c_compiler, passed, write_plugin
from substituted_suite import FIRST, KERNEL, write_files
from suite_folder import HOST, layers_model
from support import IreeTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not has_c_compiler(), reason="no C compiler"),
]

_DEVICES = (Device("local-sync", "local-sync"), Device("task", "local-task"))
_HOST = dataclasses.replace(HOST, devices=_DEVICES)
_VMVX = Backend("vmvx", "vmvx", "local", "vmvx")
_SOURCE = Path(__file__).parent / "stand_in"
_PACKAGES = ("dispatch_benchmarks/one", "dispatch_benchmarks/two__2_")


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> list[Project]:
    """Two suites with a model of the same id each, in folders of the names `one` and `two (2)`."""
    projects = []
    for name, widths in (("one", (8, 16, 24)), ("two (2)", (8, 16))):
        project = Project(
            tmp_path_factory.mktemp("suite") / name,
            backends=(_HOST, _VMVX),
            models=[layers_model("m", backends=("host", "vmvx"))],
            presets=(Preset("nightly", "nightly", backends=("host",)),),
        )
        project.write_layers("m", widths)
        project.lock()
        write_plugin(project)
        projects.append(project)
    return projects


def _build(folder: Path, suites: list[Project], tools: IreeTools, **definitions: str) -> PluginBuild:
    """A copy of the stand-in, so that its sources may be edited, with the suites as plug-ins."""
    source = folder / "iree"
    source.mkdir()
    for path in _SOURCE.iterdir():
        (source / path.name).write_text(path.read_text())
    programs = {
        "WHEEL_COMPILE": tools.compile,
        "WHEEL_BENCHMARK_MODULE": tools.benchmark_module,
        "WHEEL_RUN_MODULE": tools.run_module,
    }
    plugins = [suite.folder for suite in suites]
    return PluginBuild(
        source, folder / "build", plugins, {"Python3_EXECUTABLE": sys.executable, **programs, **definitions}
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, suites: list[Project], iree_tools: IreeTools) -> PluginBuild:
    """Both suites, built by a compiler of the same build."""
    linker = {"IREE_LLD_BINARY": str(iree_tools.lld)}  # as IREE's build sets it
    build = _build(tmp_path_factory.mktemp("iree"), suites, iree_tools, **linker)
    said = build.configure()
    for program in ("iree-compile", "iree-benchmark-module"):
        assert f"-- dispatchgen: {program}: built in this build\n" in said
    build.build()
    return build


def _tests(build: PluginBuild, folder: str = ".") -> dict[str, set[str]]:
    """The labels of each test."""
    described = json.loads("{" + build.test("--show-only=json-v1", folder=folder).partition("{")[2])
    return {
        test["name"]: {label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]}
        for test in described["tests"]
    }


def test_names_follow_the_package_rules(built: PluginBuild) -> None:
    tests = _tests(built)
    assert {name.split("/m/")[0] for name in tests} == set(_PACKAGES)
    for name, labels in tests.items():
        package, _, rest = name.partition("/m/")
        assert package in labels
        assert rest.startswith("host/"), "vmvx has no device"
    targets = built.targets()
    for package in ("dispatch_benchmarks_one", "dispatch_benchmarks_two__2_"):
        assert {f"{package}_m_host", f"{package}_m_vmvx", f"{package}_m_host.extract"} <= targets
        assert {f"{package}_iree-dispatch-benchmarks{suffix}" for suffix in ("", "-m", "-preset-nightly")} <= targets
    assert {"iree-dispatch-benchmarks", "iree-dispatch-benchmarks-preset-nightly"} <= targets
    assert "iree-dispatch-benchmarks-m" not in targets, "models of several packages may have one name"


def test_tests_pass(built: PluginBuild) -> None:
    log = built.test("-L", "^dispatch_benchmarks/one$", "-j2")
    assert passed(log) == 12, log  # 2 dispatches and 1 call on 2 devices, twice


def test_nothing_joins_all_or_the_test_dependencies(built: PluginBuild) -> None:
    for target in ("all", "iree-test-deps"):
        assert "dispatch_benchmarks" not in built.commands(target)
    assert "dispatch_benchmarks" in built.commands("iree-dispatch-benchmarks")


def test_a_compiler_of_the_build_is_told_where_its_linker_is(built: PluginBuild, iree_tools: IreeTools) -> None:
    flag = f"--iree-llvmcpu-embedded-linker-path={iree_tools.lld}"
    compiles = [line for line in built.commands("iree-dispatch-benchmarks").splitlines() if "--compile-" in line]
    assert compiles
    for line in compiles:
        assert (flag in line) == ("device-backends=llvm-cpu" in line)


def test_a_package_and_a_preset_are_built_alone(built: PluginBuild) -> None:
    assert "two__2_" not in built.commands("dispatch_benchmarks_one_iree-dispatch-benchmarks")
    assert "vmvx" not in built.commands("iree-dispatch-benchmarks-preset-nightly")


def test_nothing_changed_runs_no_command(built: PluginBuild) -> None:
    built.build()
    assert "no work to do" in built.build()


def test_changed_layer_compiles_one_dispatch(built: PluginBuild, suites: list[Project]) -> None:
    built.build()
    suite = suites[0]
    before = suite.dispatches("m")
    suite.write_layers("m", (8, 16, 40))
    suite.lock()
    write_plugin(suite)
    steps = built.steps("dispatch_benchmarks_one_m_host")
    (new,) = suite.dispatches("m").keys() - before.keys()
    place = "dispatch_benchmarks/one/m/host"
    assert steps == [
        f"Compiling {place}/{new}.vmfb",
        f"Compiling {place}/model.vmfb",
        f"Configuring {place}",
        f"Extracting {place}",
    ]


def test_compiler_whose_library_is_linked_anew_compiles_all(built: PluginBuild) -> None:
    built.build()
    time.sleep(0.01)
    library = built.source / "library.c"
    library.write_text(library.read_text().replace("return 0;", "return 1 - 1;"))
    steps = built.steps("dispatch_benchmarks_two__2__m_host")
    place = "dispatch_benchmarks/two__2_/m/host"
    assert [step for step in steps if step.startswith("Configuring")] == [f"Configuring {place}"]
    assert sum(step.startswith("Compiling") for step in steps) == 2
    assert "Extracting" not in " ".join(steps), "the configured module is as it was"
    assert built.steps("dispatch_benchmarks_two__2__m_host") == []


def test_what_the_build_is_not_configured_for_is_left_out_and_said(
    suites: list[Project], iree_tools: IreeTools, tmp_path: Path
) -> None:
    off = {"IREE_TARGET_BACKEND_VMVX": "OFF", "IREE_HAL_DRIVER_LOCAL_TASK": "OFF"}
    build = _build(tmp_path, suites, iree_tools, **off)
    said = build.configure()
    for package in _PACKAGES:
        assert f"dispatchgen: no benchmarks of {package}/m/vmvx: IREE_TARGET_BACKEND_VMVX is off" in said
        assert f"dispatchgen: no tests of {package}/m/host on task: IREE_HAL_DRIVER_LOCAL_TASK is off" in said
    assert "dispatch_benchmarks_one_m_vmvx" not in build.targets()
    assert {name.split("/")[4] for name in _tests(build)} == {"local-sync"}


def test_options_of_programs_that_are_not_built_here_mean_nothing(
    suites: list[Project], iree_tools: IreeTools, tmp_path: Path
) -> None:
    off = {"IREE_TARGET_BACKEND_LLVM_CPU": "OFF", "IREE_HAL_DRIVER_LOCAL_SYNC": "OFF"}
    build = _build(tmp_path, suites[1:], iree_tools, IREE_BUILD_PROGRAMS="OFF", IREE_BUILD_TESTS="OFF", **off)
    said = build.configure()
    assert " is off" not in said
    assert f"iree-compile {iree_tools.version[0]}.{iree_tools.version[1]}" in said
    build.build("dispatch_benchmarks_two__2__m_host")
    # IREE's own tests are off: those of a plug-in are in its folder alone.
    assert _tests(build) == {}
    log = build.test("-L", "test-type=dispatch-smoke", folder=_PACKAGES[1])
    assert passed(log) == 2, log


def test_two_plugins_of_one_package_are_an_error(suites: list[Project], iree_tools: IreeTools, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(suites[1].folder)
    build = _build(tmp_path, suites[:1], iree_tools)
    build.plugins.append(tmp_path / "one")
    said = build.configure(check=False)
    assert "two plug-ins have the package dispatch_benchmarks/one:" in said
    assert str(suites[0].folder) in said and str(tmp_path / "one") in said


def test_substitutions_have_targets_and_tests_of_the_package(tmp_path: Path, iree_tools: IreeTools) -> None:
    command = ("cc", "-O2", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-c", "{source}", "-o", "{output}")
    settings = {"command": command, "selectors": (Selector(FIRST),), "backends": ("host",), "tolerance": 1e-4}
    substitution = Substitution("c", "c", "object", "matmul.c", **settings)  # type: ignore[arg-type]
    suite = Project(
        tmp_path / "three",
        backends=(HOST,),
        models=[layers_model("m", substitutions=(substitution,))],
    )
    suite.write_layers("m", (8, 16))
    write_files(suite.folder, {"matmul.c": KERNEL, "scale.h": "#define SCALE 1.0f\n"})
    suite.lock()
    write_plugin(suite)
    build = _build(tmp_path, [suite], iree_tools, IREE_LLD_BINARY=str(iree_tools.lld))
    build.configure()
    target = "dispatch_benchmarks_three_m_host.substitutions.c"
    of_target = build.commands(target)
    assert of_target.count("-m dispatchgen substitute ") == 1
    assert of_target.count(f"--iree-llvmcpu-embedded-linker-path={iree_tools.lld}") == 7
    suite_target = "dispatch_benchmarks_three_m_host"
    compared = {f"{suite_target}.compile.{name}" for name in (FIRST, "model")}
    assert {f"{target}.{FIRST}", f"{target}.model", suite_target, *compared} <= build.targets()
    assert "three/m/host/model.vmfb" in of_target, "the compiler's own code, which it is compared with"
    assert "dispatch_benchmarks" not in build.commands("all")
    build.build(target)
    log = build.test("-L", "^substitution=c$", "-j2")
    assert passed(log) == 5, log
    assert f"dispatch_benchmarks/three/m/host/local-sync/substitutions/c/{FIRST}/check" in log
