"""Building with the real Ninja, from build files written by hand."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import support
from dispatchgen.buildtree.build import BuildReport, build, configure, reason_of, up_to_date, write_sources
from dispatchgen.buildtree.layout import BuildTree, Step
from dispatchgen.buildtree.ninja import Progress
from dispatchgen.buildtree.programs import BuildPrograms, find_build_programs
from dispatchgen.buildtree.state import state_after
from dispatchgen.errors import OutputError, ToolError
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom

#: `configured.mlir` fails where `broken` is its source's content; a module fails where `bad` is in its source.
_RULES = """
rule extract
  command = grep -q broken $in && echo "error: $in is broken" && exit 1 || cp $in $out
rule compile
  command = grep -q bad $in && echo "$in is bad" && exit 1 || cp $in $out
build m/cpu/dispatches.stamp: extract m.source
build m/cpu/a.vmfb: compile a.source || m/cpu/dispatches.stamp
build m/cpu/b.vmfb: compile b.source || m/cpu/dispatches.stamp
build m/cpu/model.vmfb: compile model.source || m/cpu/dispatches.stamp
build all: phony m/cpu/a.vmfb m/cpu/b.vmfb m/cpu/model.vmfb
"""


@pytest.fixture(scope="module")
def programs() -> BuildPrograms:
    return find_build_programs()


@pytest.fixture
def tree(tmp_path: Path) -> BuildTree:
    (tmp_path / "build.ninja").write_text(_RULES)
    for name in ("m", "a", "b", "model"):
        (tmp_path / f"{name}.source").write_text("good\n")
    (tmp_path / "m" / "cpu").mkdir(parents=True)
    return BuildTree(tmp_path)


def run(programs: BuildPrograms, tree: BuildTree, timeout: float | None = None) -> tuple[BuildReport, list[Progress]]:
    seen: list[Progress] = []
    report = build(programs, tree, ["all"], jobs=1, timeout=timeout, on_progress=seen.append)
    return report, seen


def lock() -> Lock:
    dispatches = tuple(
        Dispatch(name=name, operation="", executable=name, variant="", export="", content="", written=(), benchmarks=())
        for name in ("a", "b")
    )
    made_from = MadeFrom(source="", settings={}, compiler="")
    return Lock(
        model="m",
        made_from=made_from,
        entry=None,
        calls=(Call(name="B1", function="main", shape="B1", symbols={}, inputs=()),),
        backends={"cpu": BackendDispatches(backend="cpu", dispatches=dispatches)},
    )


def edit(path: Path, text: str) -> None:
    """Changes a file, at a time that Ninja sees as a later one."""
    time.sleep(0.02)
    path.write_text(text)


def test_a_build_without_failure_is_complete(programs: BuildPrograms, tree: BuildTree) -> None:
    report, seen = run(programs, tree)
    assert report == BuildReport()
    assert [(event.finished, event.total) for event in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert run(programs, tree) == (BuildReport(), [])
    state = state_after(programs, tree, report, {"m": lock()}, {})
    assert (state.models, state.modules) == ({}, {})


def test_a_failing_command_is_reported_and_the_others_are_run(programs: BuildPrograms, tree: BuildTree) -> None:
    run(programs, tree)
    edit(tree.binary_dir / "a.source", "bad")
    edit(tree.binary_dir / "b.source", "better")
    report, _ = run(programs, tree)
    assert not report.complete
    (failure,) = report.failures
    assert (failure.step, failure.reason) == (Step("compile", "m", "cpu", "a"), "a.source is bad")
    # What an earlier build left of `a` is there, and not to be used.
    assert (tree.binary_dir / "m/cpu/a.vmfb").read_text() == "good\n"
    state = state_after(programs, tree, report, {"m": lock()}, {})
    assert state.models == {}
    assert state.modules == {("m", "cpu", "a"): "compile: a.source is bad"}


def test_output_without_a_line_end_is_not_mixed_with_ninjas(programs: BuildPrograms, tree: BuildTree) -> None:
    """And nothing that a terminal acts on is passed on."""
    fails = r"printf 'no \033[31mred\033[0m\007\000'; exit 1"
    rules = _RULES.replace('echo "$in is bad" && exit 1', f"{{ {fails}; }}").replace("|| cp", "|| printf $in && cp")
    (tree.binary_dir / "build.ninja").write_text(rules)
    for name in ("a", "b"):
        (tree.binary_dir / f"{name}.source").write_text("bad")
    report, seen = run(programs, tree)
    assert [(event.finished, event.total) for event in seen] == [(n, 4) for n in range(1, 5)]
    modules = [tree.step_of(f"m/cpu/{name}.vmfb") for name in ("a", "b")]
    assert [(failure.step, failure.reason) for failure in report.failures] == [
        (module, r"no red\x07\x00") for module in modules
    ]


def test_a_failure_that_all_depend_on_leaves_nothing_of_the_model(programs: BuildPrograms, tree: BuildTree) -> None:
    run(programs, tree)
    edit(tree.binary_dir / "m.source", "broken")
    report, _ = run(programs, tree)
    state = state_after(programs, tree, report, {"m": lock()}, {})
    assert state.models == {("m", "cpu"): "extract: m.source is broken"}


def test_what_a_stopped_build_did_not_reach_is_out_of_date(programs: BuildPrograms, tree: BuildTree) -> None:
    run(programs, tree)
    (tree.binary_dir / "build.ninja").write_text(_RULES.replace("cp $in $out", "sleep 600", 1))
    report, _ = run(programs, tree, timeout=1)
    assert not report.complete
    assert "no command ended within 1 s" in report.failures[0].reason
    outputs = [tree.dispatch_module("m", "cpu", name) for name in ("a", "b")]
    assert up_to_date(programs, tree, outputs) == frozenset()
    state = state_after(programs, tree, report, {"m": lock()}, {})
    assert set(state.modules) == {("m", "cpu", "a"), ("m", "cpu", "b"), ("m", "cpu", None)}
    assert all("no command ended within 1 s" in reason for reason in state.modules.values())


def test_ninjas_own_failure_is_reported(programs: BuildPrograms, tmp_path: Path) -> None:
    report, _ = run(programs, BuildTree(tmp_path))
    assert not report.complete
    assert report.failures[0].step == Step("build")
    assert "build.ninja" in report.failures[0].reason


def test_ctrl_c_ends_the_build_with_all_its_processes(tree: BuildTree) -> None:
    """Ninja starts each command in a process group of its own: killing Ninja's group would not do."""
    stubborn = "trap '' INT TERM; echo $$$$ > pid; while :; do sleep 1; done"
    (tree.binary_dir / "build.ninja").write_text(f"rule r\n  command = {stubborn}\nbuild all: r\n")
    code = f"""
from pathlib import Path
from dispatchgen.buildtree.build import build
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.programs import find_build_programs
tree = BuildTree(Path({str(tree.binary_dir)!r}))
build(find_build_programs(), tree, ["all"], jobs=1, timeout=None, on_progress=print)
"""
    pid_file = tree.binary_dir / "pid"
    with support.started([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        support.wait_until(lambda: pid_file.exists() and pid_file.read_text().strip(), process)
        pid = int(pid_file.read_text())
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=support.TIMEOUT)
            assert support.is_gone(pid), "the command outlived the build"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # the build is in a session of its own


def test_configuring_forgets_an_earlier_cache(programs: BuildPrograms, tmp_path: Path) -> None:
    project = "cmake_minimum_required(VERSION 3.25)\nproject(p NONE)\n"
    write_sources(tmp_path, project + 'file(WRITE "${CMAKE_BINARY_DIR}/seen" "${X}")\n')
    tree = BuildTree(tmp_path / "build")
    configure(programs, tmp_path, tree, ["X=a;b c"], timeout=60)
    assert (tree.binary_dir / "seen").read_text() == "a;b c"
    configure(programs, tmp_path, tree, [], timeout=60)
    assert (tree.binary_dir / "seen").read_text() == ""
    assert (tmp_path / ".gitignore").read_text() == "*\n"


_OURS = "# GENERATED by `dispatchgen generate --cmake` from benchmarks.yaml and the lock files. Do not edit.\n"


@pytest.mark.parametrize(
    "files",
    [
        {"CMakeLists.txt": "project(mine)\n", ".gitignore": "*\n"},
        {"CMakeLists.txt": _OURS, ".gitignore": "*\n!keep\n"},
        {"CMakeLists.txt": _OURS, "benchmarks.yaml": "version: 1\n"},
        {"notes.txt": "mine"},
    ],
)
def test_a_folder_of_somebody_else_is_left_as_it_is(tmp_path: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(OutputError, match=r"dispatchgen did not write\n  at .*\n  try: --build-dir with"):
        write_sources(tmp_path, _OURS)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("present", [{}, {".lock": ""}, {".gitignore": "*\n", "CMakeLists.txt": _OURS, "build": ""}])
def test_an_empty_folder_and_one_of_an_earlier_run_are_written_in(tmp_path: Path, present: Mapping[str, str]) -> None:
    for name, text in present.items():
        (tmp_path / name).write_text(text)
    write_sources(tmp_path, _OURS + "# new\n")
    assert (tmp_path / "CMakeLists.txt").read_text() == _OURS + "# new\n"
    write_sources(tmp_path / "new", _OURS)
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"


def test_a_configure_error_is_repeated(programs: BuildPrograms, tmp_path: Path) -> None:
    write_sources(tmp_path, 'cmake_minimum_required(VERSION 3.25)\nproject(p NONE)\nmessage(FATAL_ERROR "no luck")\n')
    with pytest.raises(ToolError, match="no luck"):
        configure(programs, tmp_path, BuildTree(tmp_path / "build"), [], timeout=60)


def test_a_reason_is_the_first_errors_or_all_that_was_printed() -> None:
    warning = "x.mlir:1:1: warning: " + "w" * 5000
    assert reason_of(f"{warning}\nx.mlir:2:3: error: no\nx.mlir:2:3: note: see operation") == "x.mlir:2:3: no"
    assert reason_of("Segmentation fault\n") == "Segmentation fault"
    assert reason_of("") == "it failed without a message"
    assert len(reason_of("y\n" * 5000)) < 1200


def test_a_failure_of_dispatchgen_is_told_whole() -> None:
    """No problem is cut out, and none is taken for all."""
    problems = [f"error: k.mlir:3:{n}: error: {'long ' * 100}\n  at k.mlir:{n}" for n in range(20)]
    output = "\n".join(problems) + "\n"
    assert reason_of(output, is_own=True) == output.strip().removeprefix("error: ")
    assert reason_of("", is_own=True) == "it failed without a message"
