"""Work done after a change, counted from Bazel's execution log."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bazel_project import COMPILE, CONFIGURE, EXTRACT, TEST, BazelProject
from suite_folder import copy_checkout, layers_model
from support import IreeTools

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

_WIDTHS = (8, 16, 24)
_NAMES = ("m0", "m1", "m2", "m3")
_SMOKE = "//:iree-dispatch-benchmarks.smoke"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> Path:
    """A folder of IREE's programs that tests may replace."""
    folder = tmp_path_factory.mktemp("tools")
    sources = [iree_tools.compile, iree_tools.lld, iree_tools.compiler_dir / "libIREECompiler.so"]
    for source in (*sources, iree_tools.benchmark_module):
        shutil.copy(source, folder / source.name)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, tools: Path) -> Iterator[BazelProject]:
    """Four models, built and tested. Each test brings it up to date first, so their order does not matter."""
    checkout = copy_checkout(tmp_path_factory.mktemp("checkout"))
    environment: dict[str, str | None] = {"PYTHONPATH": str(checkout), "IREE_TOOLS_DIR": str(tools)}
    folder = tmp_path_factory.mktemp("workspace") / "suite"
    rules = checkout.parent / "genrules" / "bazel"
    with BazelProject(folder, rules=rules, environment=environment) as project:
        for name in _NAMES:
            project.write_layers(name, _WIDTHS)
            project.models.append(layers_model(name))
        project.lock()
        project.generate()
        yield project


def _replace(path: Path) -> None:
    """Replaces a program or a library by one that does the same, as an installation in place does."""
    new = path.with_suffix(".new")
    shutil.copy(path, new)
    with new.open("ab") as stream:
        stream.write(b"\0")  # behind what the loader reads
    new.replace(path)


def _checkout(project: BazelProject) -> Path:
    """The package in the checkout that the project uses."""
    return Path(project.environment["PYTHONPATH"] or "", "dispatchgen")


def _tests(model: str, *names: str) -> list[str]:
    """What the log says of the smoke tests of a model's dispatches, and of its call."""
    return sorted(f"{TEST} {model}_host.local-sync.{name}.smoke" for name in (*names, "model.static"))


def _steps(model: str, *compiled: str) -> list[str]:
    """What the log says of configuring and extracting a model, and compiling it as a whole and these dispatches."""
    return sorted(
        [
            f"{CONFIGURE} {model}/host/configured.mlir",
            f"{EXTRACT} {model}/host/dispatches/index.json",
            *(f"{COMPILE} {model}/host/{name}.vmfb" for name in (*compiled, "model")),
        ]
    )


def _mnemonics(steps: list[str]) -> dict[str, int]:
    names = [step.split(" ")[0] for step in steps]
    return {name: names.count(name) for name in names}


def test_nothing_changed_runs_nothing(built: BazelProject) -> None:
    built.test()
    assert built.steps() == []
    assert built.steps("test", _SMOKE) == []


def test_touched_files_run_nothing(built: BazelProject) -> None:
    built.test()
    for path in (*built.folder.glob("models/*"), *built.folder.glob("locks/*"), built.folder / "BUILD.bazel"):
        os.utime(path)
    for path in _checkout(built).rglob("*.py"):
        os.utime(path)
    assert built.steps("test", _SMOKE) == []


def test_comment_configures_and_nothing_else(built: BazelProject) -> None:
    built.test()
    path = built.folder / "models" / "m1.mlir"
    path.write_text("// A comment.\n" + path.read_text())
    assert built.steps("test", _SMOKE) == [f"{CONFIGURE} m1/host/configured.mlir"]


def test_changed_layer_compiles_and_tests_one_dispatch(built: BazelProject) -> None:
    built.test()
    before = built.dispatches("m0")
    built.write_layers("m0", (*_WIDTHS[:-1], 40))
    built.lock("m0")
    built.generate()
    (new,) = built.dispatches("m0").keys() - before.keys()
    assert built.steps("test", _SMOKE) == sorted([*_steps("m0", new), *_tests("m0", new)])


def test_layer_in_front_compiles_and_tests_the_new_one(built: BazelProject) -> None:
    built.test()
    before = built.dispatches("m2")
    built.write_layers("m2", (48, *_WIDTHS))
    built.lock("m2")
    built.generate()
    (new,) = built.dispatches("m2").keys() - before.keys()
    assert built.steps("test", _SMOKE) == sorted([*_steps("m2", new), *_tests("m2", new)])


def test_manifest_entry_of_another_model_does_nothing_here(built: BazelProject) -> None:
    built.test()
    models = list(built.models)
    try:
        built.models[3] = dataclasses.replace(models[3], labels=("new",))
        built.generate()
        assert built.steps() == []  # labels are of tests alone
        assert built.steps("test", "//:iree-dispatch-benchmarks-m0.smoke") == []
        built.models[3] = dataclasses.replace(models[3], compile_flags={"host": ("--iree-opt-level=O2",)})
        built.lock("m3")
        built.generate()
        steps = built.steps("test", _SMOKE)
        assert _mnemonics(steps)[COMPILE] == len(built.dispatches("m3")) + 1
        assert [step for step in steps if " m3" not in step] == []
    finally:
        built.models[:] = models
        built.lock("m3")
        built.generate()


def test_replaced_compiler_library_compiles_all_and_tests_nothing(built: BazelProject, tools: Path) -> None:
    built.test()
    _replace(tools / "libIREECompiler.so")
    dispatches = sum(len(built.dispatches(name)) for name in _NAMES)
    # The modules come out the same: no test has anything new to run.
    steps = _mnemonics(built.steps("test", _SMOKE))
    assert steps == {CONFIGURE: len(_NAMES), EXTRACT: len(_NAMES), COMPILE: dispatches + len(_NAMES)}
    assert built.steps("test", _SMOKE) == []


def test_replaced_benchmark_tool_runs_tests_only(built: BazelProject, tools: Path) -> None:
    built.test()
    _replace(tools / "iree-benchmark-module")
    dispatches = sum(len(built.dispatches(name)) for name in _NAMES)
    assert _mnemonics(built.steps("test", _SMOKE)) == {TEST: dispatches + len(_NAMES)}


def test_changed_code_of_dispatchgen_extracts_and_compiles_nothing(built: BazelProject) -> None:
    built.test()
    extractions = sorted(f"{EXTRACT} {name}/host/dispatches/index.json" for name in _NAMES)
    code = _checkout(built) / "extract" / "emit.py"
    code.write_text(code.read_text() + "# A comment.\n")
    assert built.steps("test", _SMOKE) == extractions
    # A module that is new: in a checkout, or by an upgrade that replaces the folder.
    (_checkout(built) / "new_module.py").write_text("NAME = 'new'\n")
    code.write_text(code.read_text() + "import dispatchgen.new_module\n")
    assert built.steps("build", "//:m0_host") == extractions[:1]
    package = _checkout(built)
    package.rename(package.with_name("old"))
    shutil.copytree(package.with_name("old"), package)
    (package / "new_module.py").write_text("NAME = 'newer'\n")
    assert built.steps("build", "//:m0_host") == extractions[:1]


def test_package_that_was_not_there_is_an_error_with_what_mends_it(built: BazelProject) -> None:
    built.build("//:m0_host")
    code = _checkout(built) / "extract" / "emit.py"
    text = code.read_text()
    code.write_text(text + "import no_such_package\n")
    try:
        output = built.build("//:m0_host", check=False).stdout
        assert "error: No module named 'no_such_package'\n  try: bazel sync --configure" in output
    finally:
        code.write_text(text)


def test_timed_tests_are_never_answered_from_a_cache(built: BazelProject, tmp_path: Path) -> None:
    (dispatch, *_) = built.dispatches("m1")
    timed = f"m1_host.local-sync.{dispatch}"
    built.build("//:m1_host")  # into no cache
    cache = [f"--disk_cache={tmp_path}/cache"]
    for _ in range(2):
        assert built.steps("test", f"//:{timed}", options=cache) == [f"{TEST} {timed}"]
    result = built.undeclared_output(timed)
    assert {entry["run_type"] for entry in result["benchmarks"]} == {"iteration"}
    assert not [spawn for spawn in built.spawns("test", f"//:{timed}.smoke", options=cache) if spawn.cached]
    assert built.steps("test", f"//:{timed}.smoke", options=cache) == []  # from the action cache of the output base
    # Without what was built here, as on another machine.
    built.bazel("clean")
    assert built.steps("test", f"//:{timed}.smoke", options=cache)  # the modules were not in the cache
    built.bazel("clean")
    assert built.steps("test", f"//:{timed}.smoke", options=cache) == []
    assert built.steps("test", f"//:{timed}", options=cache) == [f"{TEST} {timed}"]


def test_lock_without_generate_fails_the_build_and_says_so(built: BazelProject) -> None:
    built.build()
    built.write_layers("m3", (*_WIDTHS, 48))
    try:
        output = built.build("//:m3_host", check=False).stdout
        assert "error: model m3 does not take the calls that its lock lists" in output
        assert "try: bazel run //:iree-dispatch-benchmarks.update" in output
        built.lock("m3")
        output = built.build("//:m3_host", check=False).stdout
        assert "the build file was generated from another lock: it lists other dispatches, calls or files" in output
        assert "try: bazel run //:iree-dispatch-benchmarks.update" in output
        built.build("//:m0_host")  # others are not touched by it
        built.generate()
        built.build("//:m3_host")
    finally:
        built.write_layers("m3", _WIDTHS)
        built.lock("m3")
        built.generate()


def test_missing_source_is_an_error(built: BazelProject) -> None:
    source = built.folder / "models" / "m3.mlir"
    text = source.read_text()
    source.unlink()
    try:
        output = built.build("//:m3_host", check=False).stdout
        assert "models/m3.mlir" in output
        built.build("//:m0_host")
    finally:
        source.write_text(text)
