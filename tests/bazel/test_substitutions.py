"""Substitutions on real Bazel: what is made of them, what an edit of a substitute redoes, and what their tests say."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bazel_project import COMPILE, CONFIGURE, OBJECT, SUBSTITUTE, SUBSTITUTE_MODEL, TEST, BazelProject, Spawn
from substituted_suite import (
    FIRST,
    HEAD,
    KERNEL,
    SECOND,
    TUNING_SPEC,
    dumped_source,
    lock_and_generate,
    write_files,
    write_layers,
)
from suite_folder import copy_checkout
from support import IreeTools

pytestmark = [
    pytest.mark.bazel,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc`"),
]

_CC = "cc -O2 -ffreestanding -fPIC -fno-stack-protector -fvisibility=hidden"
_ODD = "$HOME 'a' \"b\" \\ |& * %s"
#: A flag that both programs know, and one of benchmarks alone.
_RUN_FLAGS = ("--print_statistics=false", "--benchmark_counters_tabular=false")
_WITH_RUN_FLAGS = ("devices: [local-sync]", f"devices: {{local-sync: {{run_flags: [{', '.join(_RUN_FLAGS)}]}}}}")
_MANIFEST = f"""\
{HEAD.replace("[--iree", "[--iree-codegen-tuning-spec-path=specs/./none.mlir, --iree").replace(*_WITH_RUN_FLAGS)}
models:
  m:
    source: models/m.mlir
    run: {{min_time: 1x}}
    substitutions:
      c:
        dispatch: {FIRST}
        object: kernels/matmul.c
        command: [./kernels/cc.sh, kernels/scale.h, {json.dumps(_ODD)}, "{{source}}", "{{output}}"]
        check: {{tolerance: 1.0e-4}}
      edited: {{dispatch: {SECOND}, source: edited.mlir}}
      ready: {{dispatch: {FIRST}, object: kernels/ready.o}}
      same: {{dispatch: {SECOND}, source: same.mlir}}
      tuned: {{dispatch: {FIRST}, tuning_spec: specs/tuned.mlir}}
    combinations:
      both: [c, edited]
"""
_SCRIPT = f"""\
#!/bin/sh
[ "$1" = kernels/scale.h ] && [ -f "$1" ] || {{ echo "no file $1"; exit 1; }}
[ "$2" = {shlex.quote(_ODD)} ] || {{ echo "not as it was written: $2"; exit 1; }}
exec {_CC} -c "$3" -o "$4"
"""
#: The suite is a package below the top: commands of users run in its folder.
_PACKAGE = "my/suite"
_FOLDER = f"{_PACKAGE}/m/host/substitutions"
_MODULES = f"//{_PACKAGE}:m_host"
_TESTS = f"{_MODULES}.local-sync.substitutions"
_SMOKE = f"{_MODULES}.smoke"


@dataclass(frozen=True)
class Built:
    """The suite, and what ran when all of it was built and tested for the first time."""

    project: BazelProject
    spawns: list[Spawn]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> Iterator[Built]:
    """A suite with substitutions of each kind."""
    workspace = tmp_path_factory.mktemp("workspace") / "suite"
    folder = workspace / _PACKAGE
    source = dumped_source(iree_tools, write_layers(folder), SECOND)
    files = {
        "benchmarks.yaml": _MANIFEST,
        "kernels/matmul.c": KERNEL,
        "kernels/ready.c": KERNEL.replace("* SCALE", "").replace('#include "scale.h"\n', ""),
        "kernels/scale.h": "#define SCALE 1.0f\n",
        "kernels/cc.sh": _SCRIPT,
        "edited.mlir": re.sub(r"constant 0\.0\S*", "constant 1.000000e+00", source),
        "same.mlir": source,
        "specs/none.mlir": TUNING_SPEC.format(tile=8).replace("linalg.matmul", "linalg.dot"),
        "specs/tuned.mlir": TUNING_SPEC.format(tile=8),
    }
    write_files(folder, files)
    (folder / "kernels" / "cc.sh").chmod(0o755)
    subprocess.run([*_CC.split(), "-c", "ready.c", "-o", "ready.o"], cwd=folder / "kernels", check=True)
    lock_and_generate(folder, "bazel")
    checkout = copy_checkout(tmp_path_factory.mktemp("checkout"))
    with BazelProject(
        workspace,
        rules=checkout.parent / "genrules" / "bazel",
        environment={"PYTHONPATH": str(checkout)},
        # What a test changed is changed back without work.
        options=[f"--disk_cache={workspace.parent}/cache"],
    ) as project:
        yield Built(project, project.spawns("test", _MODULES, _SMOKE))


@pytest.fixture
def built(first: Built) -> BazelProject:
    """The suite, as some test left it."""
    return first.project


@pytest.fixture
def edit(built: BazelProject) -> Iterator[Path]:
    """The folder of the suite, up to date; what a test changes of the substitutes is undone."""
    folder = built.folder / _PACKAGE
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    for path, content in kept.items():
        if path.read_bytes() != content:
            path.write_bytes(content)
    built.build(_MODULES)


def _folder(test: str) -> str:
    """Where Bazel keeps what a test left, from `bazel-testlogs` on."""
    return test.removeprefix("//").replace(":", "/")


def _printed(project: BazelProject, test: str) -> str:
    return project.test_output(_folder(test))


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _steps(*steps: str) -> list[str]:
    return sorted(step.replace(" ", f" {_FOLDER}/") for step in steps)


def _compiled(*modules: str) -> list[str]:
    return [f"{COMPILE} {module}.vmfb" for module in modules]


def test_all_tests_pass_and_say_what_is_the_same(built: BazelProject) -> None:
    built.test(_SMOKE)
    assert built.steps("test", _SMOKE) == []
    same = {
        test: "note: the same code as the compiler's own\n" in _printed(built, f"{_TESTS}.{test}.smoke")
        for test in (f"c.{FIRST}", "c.model.static", f"same.{SECOND}", "same.model.static", "both.model.static")
    }
    assert [test for test in same if same[test]] == [f"same.{SECOND}", "same.model.static"]
    assert f"{FIRST}: agrees" in _printed(built, f"{_TESTS}.c.{FIRST}.check")
    check = (built.bazel_bin / _folder(f"{_TESTS}.c.{FIRST}.check")).read_text()
    assert " '--' " + " ".join(f"'{flag}'" for flag in _RUN_FLAGS) in check


def test_what_reads_the_manifest_has_all_files_that_it_names(built: BazelProject) -> None:
    built.test(f"//{_PACKAGE}:iree-dispatch-benchmarks.test")


def test_a_source_that_was_not_edited_gives_the_same_bytes(built: BazelProject) -> None:
    modules = built.bazel_bin / _PACKAGE / "m" / "host"
    for name in (SECOND, "model"):
        original = (modules / f"{name}.vmfb").read_bytes()
        assert (modules / "substitutions" / "same" / f"{name}.vmfb").read_bytes() == original
        assert (modules / "substitutions" / "edited" / f"{name}.vmfb").read_bytes() != original


def test_a_timed_test_says_which_substitution_it_is_of(built: BazelProject) -> None:
    for test, measured in (f"ready.{FIRST}", {"dispatch": FIRST}), ("both.model.static", {"call": "static"}):
        built.test(f"{_TESTS}.{test}")
        context = built.undeclared_output(_folder(f"{_TESTS}.{test}"))["context"]
        expected = {"substitution": test.partition(".")[0], **measured}
        assert {key: context[key] for key in expected} == expected


def test_actions_but_the_users_own_read_nothing_that_changes_by_itself(first: Built) -> None:
    spawns = [spawn for spawn in first.spawns if spawn.mnemonic != TEST]
    assert {OBJECT, SUBSTITUTE, SUBSTITUTE_MODEL, COMPILE} <= {spawn.mnemonic for spawn in spawns}
    for spawn in spawns:
        names = {variable["name"] for variable in spawn.entry.get("environmentVariables", ())}
        assert names == ({"PATH"} if spawn.mnemonic == OBJECT else set())
        words = [*spawn.entry["commandArgs"], *(file["path"] for file in spawn.entry["inputs"])]
        assert [word for word in words if word.startswith("/") or str(first.project.folder) in word] == []
    (command,) = [spawn.entry["commandArgs"] for spawn in spawns if spawn.mnemonic == OBJECT]
    assert command[1] == f"{_PACKAGE}/"
    assert command[2] == "kernels/matmul.c"
    assert command[4:8] == ["./kernels/cc.sh", "kernels/scale.h", _ODD, "{source}"]


def test_comment_in_a_kernel_makes_the_object_alone(built: BazelProject, edit: Path) -> None:
    _replace(edit / "kernels" / "matmul.c", "#include", "// A comment.\n#include")
    assert built.steps("build", _MODULES) == _steps(f"{OBJECT} c/c.o")


def test_edited_kernel_compiles_its_modules_and_whole_programs(built: BazelProject, edit: Path) -> None:
    """By an edit of a file that the command names."""
    _replace(edit / "kernels" / "scale.h", "1.0f", "3.0f")
    assert built.steps("build", _MODULES) == _steps(
        f"{OBJECT} c/c.o",
        f"{SUBSTITUTE} c/dispatches/{FIRST}.check.json",
        *(f"{SUBSTITUTE_MODEL} {each}/configured.mlir" for each in ("c", "both")),
        *_compiled(f"c/{FIRST}", f"c/{FIRST}.check", "c/model", "both/model"),
    )
    wrong = f"{_TESTS}.c.{FIRST}.check"
    result = built.test(_SMOKE, options=["--keep_going"], check=False)
    assert re.findall(r"^(//\S+) +FAILED", result.stdout, re.MULTILINE) == [wrong]
    assert "by the compiler's kernel" in _printed(built, wrong)


def test_edited_executable_compiles_its_module_and_whole_programs(built: BazelProject, edit: Path) -> None:
    _replace(edit / "edited.mlir", "constant 1.0", "constant 2.0")
    assert built.steps("build", _MODULES) == _steps(
        f"{SUBSTITUTE} edited/dispatches/{SECOND}.executable.mlir",
        *(f"{SUBSTITUTE_MODEL} {each}/configured.mlir" for each in ("edited", "both")),
        *_compiled(f"edited/{SECOND}", "edited/model", "both/model"),
    )
    path = edit / "edited.mlir"
    path.write_text("// A comment.\n" + path.read_text())
    assert built.steps("build", _MODULES) == _steps(f"{SUBSTITUTE} edited/dispatches/{SECOND}.executable.mlir")


def test_edited_tuning_spec_configures_and_compiles_what_it_changes(built: BazelProject, edit: Path) -> None:
    (edit / "specs" / "tuned.mlir").write_text(TUNING_SPEC.format(tile=16))
    assert built.steps("build", _MODULES) == _steps(
        f"{CONFIGURE} tuned/tuned.mlir",
        f"{SUBSTITUTE} tuned/dispatches/{FIRST}.executable.mlir",
        f"{SUBSTITUTE_MODEL} tuned/configured.mlir",
        *_compiled(f"tuned/{FIRST}", "tuned/model"),
    )


def test_a_file_that_flags_name_configures_and_compiles_what_it_changes(built: BazelProject, edit: Path) -> None:
    path = edit / "specs" / "none.mlir"
    path.write_text("// A comment.\n" + path.read_text())
    steps = built.steps("build", _MODULES)
    assert f"{CONFIGURE} {_PACKAGE}/m/host/configured.mlir" in steps
    assert [step for step in steps if step.startswith((COMPILE, OBJECT, SUBSTITUTE_MODEL))] == []


def test_a_substitute_that_does_not_fit_fails_its_own_tests_and_no_others(built: BazelProject, edit: Path) -> None:
    built.test(_SMOKE)
    (edit / "edited.mlir").write_text("module {}\n")
    result = built.test(_SMOKE, options=["--keep_going"], check=False)
    assert "\nerror: " in result.stdout
    outcomes = dict(re.findall(r"^(//\S+) +(?:\(cached\) )?([A-Z]+)", result.stdout, re.MULTILINE))
    own = {
        *(f"{_TESTS}.edited.{test}.smoke" for test in (SECOND, "model.static")),
        f"{_TESTS}.both.model.static.smoke",
    }
    assert {test for test, outcome in outcomes.items() if outcome != "PASSED"} == own
    assert len(outcomes) == 3 + 5 * 2 + 1 + 1


def test_without_the_dispatch_its_substitution_is_skipped_where_drift_is_allowed(
    built: BazelProject, edit: Path
) -> None:
    program = edit / "models" / "m.mlir"
    text = program.read_text()
    shape = "tensor<4x16xf32>"
    fill = f"%x1 = linalg.fill ins(%zero : f32) outs(%e0 : {shape}) -> {shape}"
    program.write_text(re.sub(r"%x1 = linalg\.matmul.*\n.*", fill, text))
    prefix = f"{_TESTS}.c"
    tests = [f"{prefix}.{FIRST}.smoke", f"{prefix}.{FIRST}.check", f"{prefix}.model.static.smoke"]
    try:
        built.test(*tests, options=["--@dispatchgen//:drift=allow"])
    finally:
        program.write_text(text)
    reason = "dispatchgen: skipped: .*it is no longer among the dispatches of m on host"
    assert [test for test in tests if not re.search(reason, _printed(built, test))] == []


def test_an_absent_device_fails_a_check_unless_it_may_be_skipped(built: BazelProject, edit: Path) -> None:
    build_file = edit / "BUILD.bazel"
    text = build_file.read_text()
    build_file.write_text(text.replace('"local-sync=local-sync"', '"local-sync=cuda://99"'))
    check = f"{_TESTS}.c.{FIRST}.check"
    try:
        output = built.test(check, check=False).stdout
        assert "error: nothing was measured: this machine does not have the device cuda://99\n" in output
        built.test(check, options=["--@dispatchgen//:absent_device=skip"])
        assert "dispatchgen: skipped: no device cuda://99: " in _printed(built, check)
    finally:
        build_file.write_text(text)
