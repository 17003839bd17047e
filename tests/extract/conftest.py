"""Fixtures of the tests of extraction."""

from __future__ import annotations

from pathlib import Path

import pytest

from configured import Configured, onnx_model
from support import IreeTools


@pytest.fixture(scope="session")
def configured(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """Makes configured modules of programs."""
    return Configured(iree_tools, tmp_path_factory.mktemp("configured"))


@pytest.fixture(scope="session")
def magika(configured: Configured) -> Path:
    """Magika, imported: a dynamic batch, 13 dispatches."""
    return onnx_model("magika", "models/standard_v3_3/model.onnx", configured.folder / "magika.mlir")


@pytest.fixture(scope="session")
def squeezenet(configured: Configured) -> Path:
    """SqueezeNet, imported: static, 29 executables."""
    path = "backend/test/data/light/light_squeezenet.onnx"
    return onnx_model("onnx", path, configured.folder / "squeezenet.mlir")
