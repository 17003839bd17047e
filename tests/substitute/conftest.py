"""Fixtures of the tests of substitution: models on a target, built once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from substituted import Built, build
from support import IreeTools

_DYNAMIC = """\
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.fixture(scope="session")
def product(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The product of two vectors of any length, on the CPU: one dynamic dispatch."""
    folder = tmp_path_factory.mktemp("product")
    source = folder / "product.mlir"
    source.write_text(_DYNAMIC)
    return build(iree_tools, folder, source, "llvm-cpu", ("5xf32", "5xf32"), ("1000xf32", "1000xf32"))


@pytest.fixture(scope="session")
def static_product(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The product of two vectors of five numbers, on the CPU: one static dispatch."""
    folder = tmp_path_factory.mktemp("static_product")
    source = folder / "product.mlir"
    source.write_text(_DYNAMIC.replace("?", "5"))
    return build(iree_tools, folder, source, "llvm-cpu", ("5xf32", "5xf32"))


@pytest.fixture(scope="session")
def mlp(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Two layers with a dynamic batch, on the CPU: two dispatches."""
    calls = [(f"{batch}x64xf32", "64x128xf32", "128x32xf32") for batch in (4, 42)]
    return build(iree_tools, tmp_path_factory.mktemp("mlp"), models_dir / "mlp.mlir", "llvm-cpu", *calls)
