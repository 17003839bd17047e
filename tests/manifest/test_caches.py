"""Which models have cold benchmarks."""

from __future__ import annotations

import pytest

from dispatchgen.manifest.quantities import parse_memory

from .conftest import LoadText


@pytest.mark.parametrize(
    ("text", "size"), [("1KiB", 1 << 10), ("256MiB", 256 << 20), ("1.5 GiB", 3 << 29), ("1024GiB", 1 << 40)]
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["0KiB", "0.0001KiB", "1025GiB", "256", "256MB", "-1MiB", "1e3MiB", 256, None])
def test_what_is_no_amount_of_memory(text: object) -> None:
    with pytest.raises(ValueError, match="an amount of memory such as `256MiB` or `1GiB` is needed"):
        parse_memory(text)


def test_models_that_are_measured_cold_have_memory_for_it(load_text: LoadText) -> None:
    suite = load_text(
        "version: 1\n"
        "run: {caches: both, cold_memory: 1GiB}\n"
        "models:\n"
        "  inherits: {source: m.mlir}\n"
        "  own: {source: m.mlir, run: {caches: cold, cold_memory: 2KiB}}\n"
        "  warm: {source: m.mlir, run: {caches: warm}}\n"
    )
    assert [(model.run.caches, model.cold_memory) for model in suite.models] == [
        ("both", 1 << 30),
        ("cold", 2 << 10),
        ("warm", None),
    ]


def test_warm_is_the_default(load_text: LoadText) -> None:
    (model,) = load_text("version: 1\nrun: {cold_memory: 1GiB}\nmodels: {m: {source: m.mlir}}\n").models
    assert (model.run.caches, model.cold_memory) == (None, None)


def test_what_a_preset_measures_cold_is_built(load_text: LoadText) -> None:
    suite = load_text(
        "version: 1\n"
        "models:\n"
        "  a: {source: m.mlir, labels: [large]}\n"
        "  b: {source: m.mlir}\n"
        "  c: {source: m.mlir, labels: [large], run: {caches: warm, cold_memory: 1KiB}}\n"
        "presets:\n"
        "  nightly: {labels: [large], run: {caches: both}}\n"
        "  warm: {run: {caches: warm}}\n"
    )
    assert [model.cold_memory for model in suite.models] == [256 << 20, None, 1 << 10]
    assert [model.run.caches for model in suite.models] == [None, None, "warm"]
