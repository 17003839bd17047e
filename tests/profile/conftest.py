"""A program with control flow and a gather, with recordings of their calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from profiled import Recorded, recorded
from support import IreeTools


@pytest.fixture(scope="session")
def ctrl(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A function called at several sizes, and a loop."""
    yield from recorded(iree_tools, models_dir / "ctrl.mlir", tmp_path_factory.mktemp("ctrl"))


@pytest.fixture(scope="session")
def embed(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A gather."""
    yield from recorded(iree_tools, models_dir / "embed.mlir", tmp_path_factory.mktemp("embed"))


@pytest.fixture(scope="session")
def ctrl_recording(ctrl: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A call that runs one dispatch with two sizes, and one three times."""
    path = tmp_path_factory.mktemp("recording") / "ctrl.ireereplay"
    ctrl.record(path, ["5x64xf32", "9x64xf32", "3"])
    return path


@pytest.fixture(scope="session")
def embed_recording(embed: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A call whose positions are all 7."""
    path = tmp_path_factory.mktemp("recording") / "embed.ireereplay"
    embed.record(path, ["3x17xi64=7", "1000x256xf32=2"])
    return path


@pytest.fixture(scope="session")
def loading(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """A dispatch that runs when the module is loaded, and one that runs in calls."""
    yield from recorded(iree_tools, models_dir / "initializer.mlir", tmp_path_factory.mktemp("initializer"))
