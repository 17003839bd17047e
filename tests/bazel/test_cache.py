"""Actions are hermetic: Bazel's caches and remote executors serve them, and they run in a sandbox without network."""

from __future__ import annotations

import os
import shutil
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bazel_project import COMPILE, CONFIGURE, EXTRACT, IMPORT, TEST, BazelProject, Spawn
from dispatchgen.manifest.suite import Source
from reapi_server import cache_server, can_isolate, executor, has_buildgrid
from suite_folder import copy_checkout, layers_model, write_onnx
from support import REPOSITORY

pytestmark = [pytest.mark.bazel, pytest.mark.slow]
needs_buildgrid = pytest.mark.skipif(not has_buildgrid(), reason="no BuildGrid: `make buildgrid`, with Python >= 3.11")

MODULES = "//:iree-dispatch-benchmarks"
ALL = (MODULES, f"{MODULES}.smoke")
#: What building and smoke testing the suite takes: two models, of which one is imported.
STEPS = {IMPORT: 1, CONFIGURE: 2, EXTRACT: 2}
#: Bazel hands a test the PATH of its user; of another user the result would be another one's.
SAME_PATH = "--incompatible_strict_action_env"
SANDBOX = ("--spawn_strategy=sandboxed,local", "--sandbox_default_allow_network=false")

IMPORTED = Source("models/imported.onnx", "onnx")

#: Tells what an action can reach: a file of the workspace that it did not declare, and a server on loopback.
CANARY = """#!/bin/bash
{
  cat canary/undeclared.txt
  if exec 3<> /dev/tcp/127.0.0.1/$1; then echo network; fi
} 2> /dev/null > "$2"
exit 0
"""
CANARY_RULE = """
def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.run(
        executable = ctx.executable.program,
        arguments = [ctx.attr.port, out.path],
        outputs = [out],
        execution_requirements = {"no-sandbox": "1"} if ctx.attr.loose else {},
        mnemonic = "Canary",
    )
    return [DefaultInfo(files = depset([out]))]

canary = rule(
    implementation = _impl,
    attrs = {
        "loose": attr.bool(),
        "port": attr.string(),
        "program": attr.label(executable = True, cfg = "exec", allow_files = True),
    },
)
"""


@pytest.fixture(scope="module")
def remote_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | None]:
    """The option of Bazel that names a remote cache, if there is one."""
    if not has_buildgrid():
        yield None
        return
    with cache_server(tmp_path_factory.mktemp("remote") / "cache") as address:
        yield f"--remote_cache=grpc://{address}"


@pytest.fixture(scope="module")
def disk_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The option of Bazel that names a disk cache."""
    return f"--disk_cache={tmp_path_factory.mktemp('disk')}"


@pytest.fixture(scope="module")
def first(
    tmp_path_factory: pytest.TempPathFactory, disk_cache: str, remote_cache: str | None
) -> Iterator[BazelProject]:
    """A suite, whose products go into both caches."""
    folder = tmp_path_factory.mktemp("first")
    generator = copy_checkout(folder)
    project = BazelProject(
        folder / "suite",
        rules=folder / "genrules" / "bazel",
        environment={"PYTHONPATH": str(generator)},
        models=[layers_model("layers"), replace(layers_model("imported"), source=IMPORTED)],
        options=list(filter(None, [SAME_PATH, disk_cache, remote_cache])),
    )
    project.write_layers("layers", [8, 16, 24])
    write_onnx(project.folder / "models" / "imported.onnx")
    project.lock()
    project.generate()
    with project:
        yield project


@pytest.fixture(scope="module")
def first_spawns(first: BazelProject) -> Sequence[Spawn]:
    """What ran for the first build and test."""
    spawns = first.spawns("test", *ALL)
    assert not any(spawn.cached for spawn in spawns)
    return spawns


def clone(project: BazelProject, folder: Path, *options: str) -> BazelProject:
    """The same suite and dispatchgen in other folders, with another PATH and nothing of what was built."""
    deep = folder / "deep" / "down"
    for name in ("suite", "generator", "genrules"):
        shutil.copytree(
            project.folder.parent / name, deep / name, ignore=shutil.ignore_patterns("bazel-*", "__pycache__")
        )
    (deep / "suite" / "WORKSPACE").unlink()  # names the folder of the rules
    return BazelProject(
        deep / "suite",
        rules=deep / "genrules" / "bazel",
        environment={"PYTHONPATH": str(deep / "generator"), "PATH": f"{os.environ['PATH']}:{deep}"},
        models=project.models,
        options=[SAME_PATH, *options],
    )


def counts(spawns: Sequence[Spawn]) -> Counter[str]:
    """How many spawns of each mnemonic."""
    return Counter(spawn.mnemonic for spawn in spawns)


def products(project: BazelProject) -> dict[str, bytes]:
    """What the actions of the rules made, launchers of tests included, by the path from bazel-bin on."""
    folder = project.bazel_bin.resolve()
    links = (".runfiles/", ".runfiles_manifest")  # Bazel's own, on this machine only
    files = ((str(path.relative_to(folder)), path) for path in folder.rglob("*") if path.is_file())
    return {name: path.read_bytes() for name, path in files if not any(link in name for link in links)}


def test_steps_of_the_first_build(first: BazelProject, first_spawns: Sequence[Spawn]) -> None:
    modules = len(first.dispatches("layers")) + len(first.dispatches("imported")) + len(first.models)
    found = counts(first_spawns)
    assert found.pop(TEST) >= modules
    assert found == {**STEPS, COMPILE: modules}


@pytest.mark.parametrize("cache", ["disk_cache", pytest.param("remote_cache", marks=needs_buildgrid)])
def test_cache_answers_a_clone_in_another_folder(
    cache: str, first: BazelProject, first_spawns: Sequence[Spawn], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with clone(first, tmp_path, request.getfixturevalue(cache)) as second:
        spawns = second.spawns("test", *ALL)
        assert [str(spawn) for spawn in spawns if not spawn.cached] == []
        assert counts(spawns) == counts(first_spawns)
        assert products(second) == products(first)


def test_command_lines_name_no_place_of_this_machine(first_spawns: Sequence[Spawn]) -> None:
    for spawn in first_spawns:
        if spawn.mnemonic != TEST:
            assert spawn.entry["environmentVariables"] == [], spawn
            assert [word for word in spawn.entry["commandArgs"] if word.startswith("/") or "=/" in word] == []
            assert [file["path"] for file in spawn.entry["inputs"] if file["path"].startswith("/")] == []


def test_products_name_no_place_of_this_machine(first: BazelProject, first_spawns: Sequence[Spawn]) -> None:
    assert first_spawns
    found = products(first)
    assert {"layers/host/configured.mlir", "layers/host/model.vmfb", "imported/imported.mlir"} <= found.keys()
    assert f"layers_host.local-sync.{next(iter(first.dispatches('layers')))}.smoke" in found  # a launcher
    for place in (first.folder.parent, REPOSITORY, Path.home()):
        assert [name for name, content in found.items() if f"{place}/".encode() in content] == []


def test_sandbox_without_network(first: BazelProject, first_spawns: Sequence[Spawn], tmp_path: Path) -> None:
    with clone(first, tmp_path, *SANDBOX) as second, socket.create_server(("127.0.0.1", 0)) as server:
        write_canary(second.folder, server.getsockname()[1])
        reached, spawns = run_canaries(second)
        assert reached["loose"] == ["undeclared", "network"]  # or what the other canary says would mean nothing
        if runners(spawns) != {"local", "linux-sandbox"}:
            pytest.skip(f"Bazel has no sandbox with a network of its own here, but {runners(spawns)}")
        assert reached["sandboxed"] == []
        spawns = second.spawns("build", MODULES)
        assert runners(spawns) == {"linux-sandbox"}
        assert not any(spawn.cached for spawn in spawns)
        # Made anew in another folder, and the same bytes.
        modules = {name: content for name, content in products(second).items() if not name.startswith("canary/")}
        assert modules == {name: content for name, content in products(first).items() if name in modules}
        assert len([name for name in modules if name.endswith(".vmfb")]) == counts(first_spawns)[COMPILE]


def write_canary(folder: Path, port: int) -> None:
    """A package of two actions that tell what they reach; one is not sandboxed."""
    package = folder / "canary"
    package.mkdir()
    (package / "undeclared.txt").write_text("undeclared\n")
    (package / "canary.sh").write_text(CANARY)
    (package / "canary.sh").chmod(0o755)
    (package / "canary.bzl").write_text(CANARY_RULE)
    (package / "BUILD.bazel").write_text(
        'load(":canary.bzl", "canary")\n'
        f'canary(name = "sandboxed", port = "{port}", program = "canary.sh")\n'
        f'canary(name = "loose", loose = True, port = "{port}", program = "canary.sh")\n'
    )


def run_canaries(project: BazelProject) -> tuple[dict[str, list[str]], Sequence[Spawn]]:
    """What each canary reached, and the spawns."""
    spawns = project.spawns("build", "//canary:sandboxed", "//canary:loose")
    texts = {name: (project.bazel_bin / "canary" / f"{name}.txt").read_text() for name in ("sandboxed", "loose")}
    return {name: text.split() for name, text in texts.items()}, spawns


def runners(spawns: Sequence[Spawn]) -> set[str]:
    """What ran the spawns: `linux-sandbox`, `local`, `remote`, ..."""
    return {spawn.entry["runner"] for spawn in spawns}


@needs_buildgrid
@pytest.mark.skipif(not can_isolate(), reason="this user may not make namespaces, in which the executor runs actions")
def test_remote_execution_with_nothing_but_the_declared_inputs(
    first: BazelProject, first_spawns: Sequence[Spawn], tmp_path: Path
) -> None:
    folder = tmp_path / "executor"
    with cache_server(tmp_path / "server") as cache, executor(folder, cache) as address:
        options = [f"--remote_cache=grpc://{cache}", f"--remote_executor=grpc://{address}"]
        with clone(first, tmp_path, *options, "--spawn_strategy=remote,local") as second:
            spawns = second.spawns("test", *ALL)
            assert runners([spawn for spawn in spawns if spawn.mnemonic != TEST]) == {"remote"}
            assert runners([spawn for spawn in spawns if spawn.mnemonic == TEST]) == {"local"}  # where the device is
            assert counts(spawns) == counts(first_spawns)
            assert products(second) == products(first)
            executed = (folder / "log.txt").read_text().count("executed 0 ")
            assert executed == len([spawn for spawn in spawns if spawn.mnemonic != TEST])
            timed = second.spawns("test", "//:layers_host.benchmarks")
            assert runners(timed) == {"local"}
            assert not any(spawn.cached for spawn in timed)
