"""Fixtures and markers for all tests; their types are in `support`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings

import support
from substituted import Built, build

# Hypothesis fails an example that takes longer than 0.2 s: a time never decides a test.
settings.register_profile("dispatchgen", deadline=None)
settings.load_profile("dispatchgen")

support.hear_interrupts()

_PRODUCT = """\
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.fixture(scope="session")
def iree_tools() -> support.IreeTools:
    """IREE's native programs."""
    return support.find_iree_tools()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder of the checkout."""
    return support.REPOSITORY


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """`tests/models/`: small programs, each for one thing that host programs do."""
    return support.REPOSITORY / "tests" / "models"


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """`samples/`: suites that work as they stand. Copy what a test changes or builds."""
    return support.REPOSITORY / "samples"


@pytest.fixture(scope="session")
def run_cli() -> support.RunCli:
    """Runs `python -m dispatchgen` in a process of its own."""
    return support.run_cli


@pytest.fixture(scope="session")
def iree_source_dir() -> Path:
    """IREE's source tree, for tests marked `iree_source`."""
    return Path(os.environ["IREE_SOURCE_DIR"])


@pytest.fixture(scope="session")
def product(iree_tools: support.IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The product of two vectors of any length, on the CPU: one dynamic dispatch."""
    folder = tmp_path_factory.mktemp("product")
    source = folder / "product.mlir"
    source.write_text(_PRODUCT)
    return build(iree_tools, folder, source, "llvm-cpu", ("5xf32", "5xf32"), ("1000xf32", "1000xf32"))


@pytest.fixture(scope="session")
def static_product(iree_tools: support.IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The product of two vectors of five numbers, on the CPU: one static dispatch."""
    folder = tmp_path_factory.mktemp("static_product")
    source = folder / "product.mlir"
    source.write_text(_PRODUCT.replace("?", "5"))
    return build(iree_tools, folder, source, "llvm-cpu", ("5xf32", "5xf32"))


@pytest.fixture(scope="session")
def mlp(iree_tools: support.IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Two layers with a dynamic batch, on the CPU: two dispatches."""
    calls = [(f"{batch}x64xf32", "64x128xf32", "128x32xf32") for batch in (4, 42)]
    return build(iree_tools, tmp_path_factory.mktemp("mlp"), models_dir / "mlp.mlir", "llvm-cpu", *calls)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Skips, with the reason, what needs something that is not there."""
    for item in items:
        if item.get_closest_marker("lavapipe") and not support.has_lavapipe():
            item.add_marker(pytest.mark.skip(reason="no lavapipe: install Debian's mesa-vulkan-drivers"))
        if item.get_closest_marker("bazel") and support.find_bazel() is None:
            item.add_marker(pytest.mark.skip(reason="no Bazel: install Debian's bazel-bootstrap, or set BAZEL"))
        if item.get_closest_marker("iree_source") and not support.has_iree_source():
            item.add_marker(pytest.mark.skip(reason="IREE_SOURCE_DIR names no IREE source tree"))
