"""Narrowing a suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dispatchgen.errors import ManifestError
from dispatchgen.manifest.select import select
from dispatchgen.manifest.suite import Suite

_TEXT = """
version: 1
backends:
  cpu: {target_device: local, local_backend: llvm-cpu}
  my gpu: {target_device: vulkan, labels: [nightly]}
models:
  a: {source: m.mlir, inputs: [Bxf32], shapes: {B: [1, 8]}}
  the b: {source: m.mlir, inputs: [Bxf32], shapes: {B: [8, 16]}, labels: [large]}
  c: {source: m.mlir, backends: [cpu]}
presets:
  nightly: {labels: [nightly]}
  large: {labels: [large], backends: [cpu]}
"""


@pytest.fixture
def suite(load_text: Callable[[str], Suite]) -> Suite:
    return load_text(_TEXT)


def _pairs(suite: Suite) -> list[tuple[str, str, list[str]]]:
    return [(m.id, backend, [shape.label for shape in m.shapes]) for m in suite.models for backend in m.backends]


def test_nothing_asked_for_is_all(suite: Suite) -> None:
    assert select(suite) == suite


def test_by_name_and_id(suite: Suite) -> None:
    assert _pairs(select(suite, ["the b"], ["my_gpu"])) == [("the_b", "my_gpu", ["B8", "B16"])]
    assert select(suite, ["the_b"], ["my gpu"]) == select(suite, ["the b"], ["my_gpu"])


def test_models_without_the_backend_are_left_out(suite: Suite) -> None:
    narrow = select(suite, backends=["my gpu"])
    assert [model.id for model in narrow.models] == ["a", "the_b"]
    assert [backend.id for backend in narrow.backends] == ["my_gpu"]
    assert [preset.id for preset in narrow.presets] == ["nightly"]
    assert narrow.models[0].compile_flags == {"my_gpu": ()}


def test_by_preset(suite: Suite) -> None:
    assert _pairs(select(suite, preset="nightly")) == [
        ("a", "my_gpu", ["B1", "B8"]),
        ("the_b", "my_gpu", ["B8", "B16"]),
    ]
    assert _pairs(select(suite, preset="large")) == [("the_b", "cpu", ["B8", "B16"])]


def test_by_shape(suite: Suite) -> None:
    assert _pairs(select(suite, backends=["cpu"], shapes=["B1", "B16"])) == [
        ("a", "cpu", ["B1"]),
        ("the_b", "cpu", ["B16"]),
    ]


def test_by_a_shapes_label_as_it_is_written(load_text: Callable[[str], Suite]) -> None:
    suite = load_text(_TEXT.replace("{B: [1, 8]}", "[{B: 1, label: odd one}, {B: 8}]"))
    expected = [("a", "cpu", ["odd_one"])]
    assert _pairs(select(suite, backends=["cpu"], shapes=["odd one"])) == expected
    assert _pairs(select(suite, backends=["cpu"], shapes=["odd_one"])) == expected
    with pytest.raises(ManifestError) as raised:
        select(suite, shapes=["odd two", "odd one"])
    assert [(p.message, p.hint) for p in raised.value.problems] == [
        ("there is no shape `odd two`", "one of `odd_one`, `B8`, `B16`, `static`")
    ]


def test_unknown_names_are_all_said_with_the_nearest(suite: Suite) -> None:
    with pytest.raises(ManifestError) as raised:
        select(suite, ["teh b"], ["gpu", "cqu"], "nigthly", ["B3"])
    assert [(problem.message, problem.hint) for problem in raised.value.problems] == [
        ("there is no model `teh b`", "`the b`"),
        ("there is no backend `gpu`", "`my gpu`"),
        ("there is no backend `cqu`", "`cpu`"),
        ("there is no preset `nigthly`", "`nightly`"),
        ("there is no shape `B3`", "one of `B1`, `B8`, `B16`, `static`"),
    ]


def test_empty_selection(suite: Suite) -> None:
    with pytest.raises(ManifestError, match="the selection is empty"):
        select(suite, ["c"], ["my gpu"])
