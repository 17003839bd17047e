"""The forms that the `shapes` of a model can have, and its overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import ManifestError
from dispatchgen.manifest.shapes import DEFAULT_LIMIT
from dispatchgen.manifest.size_range import format_range
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
    model = load_model(load_text, f"{inputs}shapes: {{auto: 3, S: 16..512:+16, B: 1 .. 64}}")
    assert model.auto == AutoShapes(3, {}, {"S": range(16, 513, 16), "B": range(1, 65)})
    assert [format_range(sizes) for sizes in (range(16, 513, 16), range(1, 65), range(7, 8, 3))] == [
        "16..512:+16",
        "1..64",
        "7..7",
    ]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1..64:x2", "`1..64:x2` is no range of sizes: 1..64, or 16..512:+16 in steps of 16"),
        ("0..4", "the range `0..4` is not within 1..9223372036854775807"),
        ("1..9223372036854775808", "the range `1..9223372036854775808` is not within 1..9223372036854775807"),
        ("5..4", "the range `5..4` has no sizes"),
        ("1..4:+0", "the range `1..4:+0` has steps of 0"),
        ("[1, 2]", "found a list; a size or a range of sizes (1..64) is needed here"),
    ],
)
def test_ranges_that_make_no_sense(load_text: LoadText, sizes: str, message: str) -> None:
    with pytest.raises(ManifestError) as raised:
        load_model(load_text, f"shapes: {{auto: 3, B: {sizes}}}")
    assert [problem.message for problem in raised.value.problems] == [message]


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
