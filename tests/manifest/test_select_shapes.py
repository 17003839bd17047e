"""Which shapes a command line asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from dispatchgen.errors import ManifestError
from dispatchgen.manifest.select import select
from dispatchgen.manifest.select_shapes import settle
from dispatchgen.manifest.suite import Model, Shape, Suite

_TEXT = """
version: 1
backends: {cpu: {target_device: local, local_backend: llvm-cpu}}
models:
  one: {source: m.mlir, inputs: [Bxf32], shapes: {B: [1, 8]}}
  two: {source: m.mlir, inputs: [BxSxf32], shapes: [{B: 1, S: 2, label: odd}]}
  static: {source: m.mlir}
  chosen: {source: m.mlir, shapes: auto}
"""


@pytest.fixture
def suite(load_text: Callable[[str], Suite]) -> Suite:
    return load_text(_TEXT)


def asked(suite: Suite) -> dict[str, tuple[set[str] | None, list[tuple[str, Mapping[str, int]]]]]:
    """Labels and sizes that are asked for, by the model's name."""

    def of(model: Model) -> tuple[set[str] | None, list[tuple[str, Mapping[str, int]]]]:
        labels = None if model.wanted is None else set(model.wanted)
        return labels, [(shape.label, shape.symbols) for shape in model.sizes]

    return {model.name: of(model) for model in suite.models}


def locked(**shapes: Sequence[Shape]) -> Mapping[str, Sequence[Shape]]:
    """What the locks of the models have; a model has the shapes of the manifest where nothing else is said."""
    return {
        "one": [Shape("B1", {"B": 1}), Shape("B8", {"B": 8})],
        "two": [Shape("odd", {"B": 1, "S": 2})],
        "static": [Shape("static")],
        "chosen": [Shape("N4", {"N": 4}), Shape("N16", {"N": 16})],
        **shapes,
    }


def test_everything_is_asked_for_where_nothing_is(suite: Suite) -> None:
    assert settle(select(suite), locked()) == suite


def test_sizes_are_of_the_models_with_these_symbols(suite: Suite) -> None:
    named = ["one", "two", "static"]
    assert asked(select(suite, named, shapes=["B=77"])) == {"one": (set(), [("B77", {"B": 77})])}
    both = asked(select(suite, named, shapes=["S=3, B=77", "B=2"]))
    assert both == {"one": (set(), [("B2", {"B": 2})]), "two": (set(), [("S3_B77", {"S": 3, "B": 77})])}


def test_sizes_of_a_listed_shape_are_its_label(suite: Suite) -> None:
    assert asked(select(suite, ["two"], shapes=["S=2,B=1"])) == {"two": ({"odd"}, [])}


def test_labels_that_locks_alone_know(suite: Suite) -> None:
    narrow = select(suite, shapes=["N4", "B8"])
    assert asked(settle(narrow, locked())) == {"one": ({"B8"}, []), "chosen": ({"N4"}, [])}
    with pytest.raises(ManifestError, match="there is no shape `N5`"):
        settle(select(suite, shapes=["N5"]), locked())
    # A model that could not be locked may have it.
    assert asked(settle(select(suite, shapes=["N5", "B1"]), locked(), all_known=False)) == {"one": ({"B1"}, [])}


def test_sizes_of_models_whose_symbols_locks_alone_know(suite: Suite) -> None:
    narrow = select(suite, shapes=["N=16", "N=5"])
    assert asked(settle(narrow, locked())) == {"chosen": ({"N16"}, [("N5", {"N": 5})])}
    with pytest.raises(ManifestError, match="no model has the shapes that are asked for"):
        settle(select(suite, shapes=["M=5"]), locked())


def test_a_label_that_is_taken_is_numbered(suite: Suite) -> None:
    narrow = select(suite, ["one"], shapes=["B=77"])
    shapes = [Shape("B77", {"B": 1}), Shape("B77_2", {"B": 8})]
    assert asked(settle(narrow, {"one": shapes})) == {"one": (set(), [("B77_3", {"B": 77})])}


_FORM = "SYMBOL=SIZE, with a comma between several"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("C=3", "no model has just the symbols of `C=3`", "one has B; two has B, S; static has none"),
        ("B=3,C=3", "no model has just the symbols of `B=3,C=3`", "one has B; two has B, S; static has none"),
        ("B=x", "`B=x` is no symbol with a size of 1 or more", _FORM),
        ("B=0", "`B=0` is no symbol with a size of 1 or more", _FORM),
        ("B=1,S", "`S` in `B=1,S` is no symbol with a size of 1 or more", _FORM),
        ("B=1,B=2", "`B` has two sizes in `B=1,B=2`", _FORM),
        (
            f"B={1 << 63}",
            f"`B={1 << 63}` is no symbol with a size of 1 or more",
            "SYMBOL=SIZE, with a comma between several",
        ),
    ],
)
def test_sizes_that_make_no_sense(suite: Suite, text: str, message: str, hint: str) -> None:
    with pytest.raises(ManifestError) as raised:
        select(suite, ["one", "two", "static"], shapes=[text])
    assert [(problem.message, problem.hint) for problem in raised.value.problems] == [(message, hint)]


def test_sizes_of_a_model_of_profiles_alone(load_text: Callable[[str], Suite]) -> None:
    suite = load_text(_TEXT + "  seen: {source: m.mlir, inputs: [Bxf32], shapes: {from: p.json}}\n")
    with pytest.raises(ManifestError) as raised:
        settle(select(suite, ["seen"], shapes=["B=77"]), locked(seen=[Shape("p")]))
    (problem,) = raised.value.problems
    assert problem.message.startswith(
        "model seen: its shapes are profiles alone, so none of its modules has a function"
    )
    assert problem.hint == "add `{B: 77}` to `shapes`, or larger sizes"
