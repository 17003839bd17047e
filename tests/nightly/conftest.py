"""A small suite with a nightly preset, built and measured once."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.iree.tools import find_tools
from nightly_suite import MANIFEST, Place
from stand_in_benchmark import StandIn
from suite_folder import layers_program
from support import run_cli


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The suite, built and measured by one night that no test changes."""
    folder = tmp_path_factory.mktemp("nightly")
    program = StandIn(folder / "program").install()
    place = Place(folder / "suite", replace(find_tools(), iree_benchmark_module=program.program), program)
    place.folder.mkdir()
    (place.folder / "m.mlir").write_text(layers_program((8, 16, 24)))
    (place.folder / "n.mlir").write_text(layers_program((8, 32)))
    place.manifest.write_text(MANIFEST)
    outcome = run_cli("lock", place.manifest)
    assert outcome.code == 0, outcome.stderr
    outcome = run_cli(*place.cli())
    assert outcome.code == 1, outcome.stderr
    assert "error: there is no baseline `main`" in outcome.stderr
    return place


@pytest.fixture
def place(whole: Place, tmp_path: Path) -> Place:
    """A copy of the suite, with its build and a program of its own."""
    program = StandIn(tmp_path / "program").install()
    shutil.copytree(whole.folder, tmp_path / "suite", symlinks=True)
    return Place(tmp_path / "suite", replace(whole.tools, iree_benchmark_module=program.program), program)
