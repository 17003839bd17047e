"""Data in files on real Bazel: they lie beside the modules that read them, and an edited one compiles nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bazel_project import COMPILE, EXTRACT, TEST, BazelProject, Spawn
from data_suite import ARCHIVE, INPUT, save, write_suite
from substituted_suite import FIRST, lock_and_generate
from suite_folder import copy_checkout
from support import IreeTools

pytestmark = [pytest.mark.bazel, pytest.mark.slow]

#: The suite is a package below the top.
_PACKAGE = "my/suite"
_SMOKE = f"//{_PACKAGE}:m_host.smoke"
_FOLDER = f"{_PACKAGE}/m/host/dispatches"


@dataclass(frozen=True)
class Built:
    """The suite, and what ran when it was built and tested for the first time."""

    project: BazelProject
    spawns: list[Spawn]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, iree_tools: IreeTools) -> Iterator[Built]:
    """The suite, built and tested. Tests leave it as it was."""
    workspace = tmp_path_factory.mktemp("workspace") / "suite"
    write_suite(workspace / _PACKAGE, iree_tools)
    lock_and_generate(workspace / _PACKAGE, "bazel")
    checkout = copy_checkout(tmp_path_factory.mktemp("checkout"))
    rules = checkout.parent / "genrules" / "bazel"
    with BazelProject(workspace, rules=rules, environment={"PYTHONPATH": str(checkout)}) as project:
        yield Built(project, project.spawns("test", _SMOKE))


def _tests(*names: str) -> set[str]:
    return {f"{TEST} {_PACKAGE}/m_host.local-sync.{name}.smoke" for name in names}


def test_data_lie_beside_what_reads_them(first: Built) -> None:
    folder = first.project.bazel_bin / _FOLDER
    assert {path.name for path in folder.iterdir() if path.suffix in (".irpa", ".bin")} == {ARCHIVE, INPUT}
    assert f"\n--input=4x8xf32=@{_FOLDER}/{INPUT}\n" in (folder / "static.flags").read_text()
    names = {str(spawn) for spawn in first.spawns if spawn.mnemonic == TEST}
    both = (FIRST, "model.static")
    assert _tests(*both, *(f"substitutions.edited.{name}" for name in both)) < names
    assert (
        f"--parameters=data={_FOLDER}/{ARCHIVE}"
        in (first.project.bazel_bin / _PACKAGE / f"m_host.local-sync.{FIRST}.smoke").read_text()
    )


def test_an_edited_file_changes_data_alone(first: Built) -> None:
    folder = first.project.folder / _PACKAGE
    first.project.test(_SMOKE)
    try:
        save(folder, "w", 2)
        tests = _tests(FIRST, f"substitutions.edited.{FIRST}")
        extracted = f"{EXTRACT} {_FOLDER}/index.json"
        assert set(first.project.steps("test", _SMOKE)) == {extracted, *tests}
    finally:
        save(folder, "w", 1)


def test_a_file_that_does_not_fit_ends_the_build(first: Built) -> None:
    folder = first.project.folder / _PACKAGE
    try:
        np.save(folder / "data" / "x.npy", np.zeros((4, 9), np.float32))
        result = first.project.test(_SMOKE, check=False)
        assert result.returncode != 0
        assert "data/x.npy: its shape is 4x9; 4x8 is needed" in result.stdout
    finally:
        save(folder, "x", 1)


def test_sizes_of_a_profile_are_run_with_the_recorded_data_and_without_the_model(first: Built) -> None:
    suite = f"//{_PACKAGE}:profiled_host"
    spawns = first.project.spawns("test", suite, f"{suite}.smoke")
    (compiled,) = (spawn.output for spawn in spawns if spawn.mnemonic == COMPILE)
    (tested,) = (spawn.output for spawn in spawns if spawn.mnemonic == TEST)
    name = Path(compiled).stem
    assert tested == f"{_PACKAGE}/profiled_host.local-sync.{name}.smoke"
    folder = first.project.bazel_bin / _PACKAGE / "profiled" / "host" / "dispatches"
    assert [path.stem for path in folder.glob("*.irpa")] == [name] != ["model"]


def test_what_the_lock_check_reads_is_among_the_sources(first: Built) -> None:
    first.project.test(f"//{_PACKAGE}:iree-dispatch-benchmarks.test")
