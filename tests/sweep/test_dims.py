"""The sizes of a sweep: their syntax, and which symbols they are of."""

from __future__ import annotations

import pytest

from dispatchgen.errors import ManifestError, Place
from dispatchgen.manifest.suite import Input, Model, Shape, Source
from dispatchgen.sweep.dims import Dim, grid_of, parse_dims

PLACE = Place("benchmarks.yaml", 3)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("B=1..16:x2", (1, 2, 4, 8, 16)),
        ("B=1..20:x2", (1, 2, 4, 8, 16)),
        ("B=3..100:x5", (3, 15, 75)),
        ("B=16..64:+16", (16, 32, 48, 64)),
        ("B=16..70:+16", (16, 32, 48, 64)),
        ("B=0..2", (0, 1, 2)),
        ("B=7..7:x2", (7,)),
        ("B=64,128,200", (64, 128, 200)),
        ("B=5,3,5", (5, 3)),
        (" B = 1, 2 ", (1, 2)),
    ],
)
def test_sizes(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_dims([text]) == (Dim("B", sizes),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B", "a symbol and its sizes are needed"),
        ("=4", "a symbol and its sizes are needed"),
        ("B=", "is neither a range nor a list"),
        ("B=-4", "is neither a range nor a list"),
        ("B=1..8:*2", "is neither a range nor a list"),
        ("B=8..1", "the range is empty: 8 is above 1"),
        ("B=0..8:x2", "never end"),
        ("B=1..8:x1", "never end"),
        ("B=1..8:+0", "never end"),
        ("B=1..9999", "more than 1000 sizes"),
        ("B=9223372036854775808", "above the largest size"),
        ("B=1..9223372036854775808:x2", "above the largest size"),
    ],
)
def test_wrong_sizes(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as error:
        parse_dims([text])
    assert message in error.value.problems[0].message
    assert text.strip() in error.value.problems[0].message


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ManifestError) as error:
        parse_dims(["B", "S=8..1", "T=1", "T=2"])
    assert len(error.value.problems) == 3


def test_too_many_points() -> None:
    with pytest.raises(ManifestError, match="1600 points"):
        parse_dims(["B=1..40", "S=1..40"])


def model(**settings: object) -> Model:
    values = {"shapes": (Shape("small", {"B": 4, "S": 8, "I": 2}), Shape("large", {"B": 40, "S": 80, "I": 2}))}
    inputs = (Input("f32", ("B", "S")), Input("index", None, ("I",)))
    return Model(name="m", id="m", source=Source("m.mlir", "mlir"), inputs={None: inputs}, **{**values, **settings})  # type: ignore[arg-type]


def test_symbols_without_sizes_keep_those_of_the_first_shape() -> None:
    grid = grid_of(model(), parse_dims(["S=16,32", "B=1,2"]), PLACE)
    assert grid.fixed == {"I": 2}
    assert [shape.symbols for shape in grid.shapes] == [
        {"I": 2, "S": 16, "B": 1},
        {"I": 2, "S": 16, "B": 2},
        {"I": 2, "S": 32, "B": 1},
        {"I": 2, "S": 32, "B": 2},
    ]
    assert [shape.label for shape in grid.shapes] == ["S16_B1", "S16_B2", "S32_B1", "S32_B2"]


def test_symbols_that_only_overrides_name() -> None:
    grid = grid_of(model(overrides={"reduction": "K"}), parse_dims(["K=1,2"]), PLACE)
    assert grid.fixed == {"B": 4, "S": 8, "I": 2}


def test_symbols_that_are_not_the_models_and_symbols_without_a_size() -> None:
    with pytest.raises(ManifestError) as error:
        grid_of(model(shapes=()), parse_dims(["B=1", "T=2"]), PLACE)
    unknown, missing = error.value.problems
    assert unknown.message == "model `m` has no symbol `T`"
    assert missing.message == "model `m` has no shape that says how large `S`, `I` is"
    assert missing.hint == "--dims S=SIZES"
