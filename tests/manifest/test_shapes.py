"""The forms that the `shapes` of a model can have, and its overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.manifest.shapes import DEFAULT_LIMIT
from dispatchgen.manifest.suite import AutoShapes, Model, ProfileShapes, Shape, Suite
from manifest.conftest import LoadText


def load_model(load_text: LoadText, text: str) -> Model:
    suite: Suite = load_text(f"version: 1\nmodels:\n  m: {{source: m.mlir, {text}}}\n")
    return suite.models[0]


@pytest.mark.parametrize("inputs", ["", "inputs: [BxSxf32], "])
def test_chosen_shapes(load_text: LoadText, inputs: str) -> None:
    model = load_model(load_text, f"{inputs}shapes: auto")
    assert (model.shapes, model.auto) == ((), AutoShapes(DEFAULT_LIMIT))
    model = load_model(load_text, f"{inputs}shapes: {{auto: 3, S: 16}}")
    assert (model.shapes, model.auto) == ((), AutoShapes(3, {"S": 16}))


def test_chosen_shapes_beside_others(load_text: LoadText) -> None:
    model = load_model(load_text, "inputs: [BxSxf32], shapes: [{B: 1, S: 7, label: odd}, auto]")
    assert (model.shapes, model.auto) == ((Shape("odd", {"B": 1, "S": 7}),), AutoShapes(DEFAULT_LIMIT))


def test_profiles(load_text: LoadText, tmp_path: Path) -> None:
    (tmp_path / "two runs.json").touch()
    model = load_model(load_text, "inputs: [Bxf32], shapes: {from: sub/../two runs.json}")
    assert (model.shapes, model.profiles) == ((), (ProfileShapes("two runs.json", "two_runs"),))
    model = load_model(load_text, "shapes: [{from: two runs.json, top: 3, label: day}, {from: two runs.json}]")
    assert model.profiles == (ProfileShapes("two runs.json", "day", 3), ProfileShapes("two runs.json", "two_runs"))


def test_a_symbol_may_be_in_an_override_alone(load_text: LoadText) -> None:
    model = load_model(
        load_text, "inputs: [Nxf32], shapes: {N: 130, K: [1, 65]}, overrides: {reduction_D_f32xi64: K, other: 4}"
    )
    assert model.overrides == {"reduction_D_f32xi64": "K", "other": 4}
    assert model.shapes == (Shape("N130_K1", {"N": 130, "K": 1}), Shape("N130_K65", {"N": 130, "K": 65}))
