"""Fixtures for tests of the manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatchgen.manifest import load_suite
from dispatchgen.manifest.suite import Suite

LoadText = Callable[[str], Suite]


@pytest.fixture
def load_text(tmp_path: Path) -> LoadText:
    """Loads a manifest from text, in a folder that holds `m.mlir`, `m.onnx`, `w.irpa` and `sub/n.mlirbc`."""
    for name in ("m.mlir", "m.onnx", "w.irpa", "sub/n.mlirbc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def load(text: str) -> Suite:
        (tmp_path / "benchmarks.yaml").write_text(text, encoding="utf-8")
        return load_suite(tmp_path)

    return load
