"""Check modules: what they say of the data that the kernels get."""

from __future__ import annotations

from pathlib import Path

import pytest

import support
from dispatchgen.agreement.spec import CheckSpec, Output, outputs
from dispatchgen.extract.schema import Dispatch
from substituted import Built, build


def check_files(built: Built) -> tuple[str, CheckSpec]:
    """The check module and its spec where the only dispatch is replaced by itself."""
    built.substitute("same", "configuration", built.dump(built.only, "configuration"), built.only, tolerance=0.25)
    folder = built.variant("same") / "dispatches"
    spec = CheckSpec.model_validate_json((folder / f"{built.only}.check.json").read_bytes())
    return (folder / f"{built.only}.check.mlir").read_text(), spec


@pytest.mark.parametrize(
    ("function", "inputs", "bounds"),
    [
        ("gather", ("10x4xf32", "3xi64"), [None, 10, None]),
        ("select", ("8xi1", "8xf32", "8xf32"), [2, None, None, None]),
        ("narrow", ("8xi4", "8xbf16", "8xf8E4M3FN"), [None] * 4),
    ],
)
def test_the_spec_says_what_the_data_is(
    function: str,
    inputs: tuple[str, ...],
    bounds: list[int | None],
    iree_tools: support.IreeTools,
    models_dir: Path,
    tmp_path: Path,
) -> None:
    built = build(iree_tools, tmp_path, models_dir / "elements.mlir", "llvm-cpu", inputs, function=function)
    text, spec = check_files(built)
    (benchmark,) = spec.benchmarks
    assert [piece.bound for binding in benchmark.bindings for piece in binding.pieces] == bounds
    assert [binding.written for binding in benchmark.bindings] == [False] * len(inputs) + [True]
    assert spec.tolerance == 0.25
    assert f"util.func public @{benchmark.name}(" in text


def test_all_benchmarks_are_functions_with_their_own_sizes(mlp: Built) -> None:
    first, _ = mlp.dispatches
    mlp.substitute("itself", "configuration", mlp.dump(first, "configuration"), first, tolerance=0.25)
    folder = mlp.variant("itself") / "dispatches"
    spec = CheckSpec.model_validate_json((folder / f"{first}.check.json").read_bytes())
    dispatch: Dispatch = mlp.dispatches[first]
    assert [benchmark.name for benchmark in spec.benchmarks] == [benchmark.name for benchmark in dispatch.benchmarks]
    for checked, benchmark in zip(spec.benchmarks, dispatch.benchmarks, strict=True):
        assert tuple(binding.length for binding in checked.bindings) == benchmark.bindings
    assert list(outputs(spec.benchmarks[0])) == [
        Output(0, "substitute"),
        Output(1, "substitute"),
        Output(2, "original"),
        Output(2, "substitute"),
    ]
