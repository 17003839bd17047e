"""Suites, result files and baselines for tests: no run gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import made_up_results as made_up
from dispatchgen.baseline.make import Given
from dispatchgen.manifest.load import load_suite
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.load import load
from dispatchgen.results.schema import CallResult, DispatchResult, Results, WholeModel

MANIFEST = """\
version: 1
models:
  model: {source: model.mlir}
"""


def suite_in(folder: Path, thresholds: str = "") -> Suite:
    """A suite with one model, `model`, on `cpu`; nothing of it is locked."""
    (folder / "model.mlir").write_text("func.func @main() { return }\n")
    (folder / "benchmarks.yaml").write_text(MANIFEST + thresholds)
    return load_suite(folder)


def written(folder: Path, results: Results) -> Path:
    """The result file of results."""
    path = folder / f"{results.id}.json"
    path.write_text(results.model_dump_json())
    return path


def given(folder: Path, *results: Results) -> list[Given]:
    """Results as commands read them."""
    return [(path, load(path)) for path in (written(folder, each) for each in results)]


def call(
    found: Sequence[DispatchResult], *, model: str = "model", symbols: Mapping[str, int] | None = None
) -> CallResult:
    """A call that runs these dispatches; the whole model always takes a millisecond."""
    whole = WholeModel(timing=made_up.timing(made_up.rounds_of(1e-3, noise=0.003)))
    return made_up.call(found, model=model, symbols=symbols, whole_model=whole)


def dispatches(factor: float = 1.0, *, seed: object = 0, names: Sequence[str] | None = None) -> list[DispatchResult]:
    """Dispatches of 10 us to 29 us, each `factor` as slow."""
    chosen = [f"matmul_{index}" for index in range(20)] if names is None else names
    return [
        made_up.dispatch(name, made_up.rounds_of((10 + index) * 1e-6 * factor, noise=0.003, seed=(seed, name)))
        for index, name in enumerate(chosen)
    ]
