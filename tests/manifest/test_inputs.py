"""The notation of inputs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.manifest.inputs import (
    ELEMENT_TYPES,
    data_problem,
    format_input,
    make_input,
    parse_input,
    symbols_of,
    why_not_a_symbol,
)
from dispatchgen.manifest.suite import Input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bx64xf32", Input("f32", ("B", 64))),
        ("64x128xf32", Input("f32", (64, 128))),
        ("0x64xf32", Input("f32", (0, 64))),
        ("  4xbf16 ", Input("bf16", (4,))),
        ("BATCH_1xf8E4M3FNUZ", Input("f8E4M3FNUZ", ("BATCH_1",))),
        ("i32", Input("i32", None)),
        ("index=N", Input("index", None, ("N",))),
        ("index=-3", Input("index", None, (-3,))),
        ("f32=1e-3", Input("f32", None, (1e-3,))),
        ("f32=-inf", Input("f32", None, (-math.inf,))),
        ("i1=true", Input("i1", None, (1,))),
        ("tensor<f32>", Input("f32", ())),
        ("tensor<f32>=2.5", Input("f32", (), (2.5,))),
        ("tensor<Bx64xf32>", Input("f32", ("B", 64))),
        ("2xi64=B 16", Input("i64", (2,), ("B", 16))),
        ("2xi64=[B, 16]", Input("i64", (2,), ("B", 16))),
        ("2x2xi32=[[1 2][3 4]]", Input("i32", (2, 2), (1, 2, 3, 4))),
        ("64x64xf32=1", Input("f32", (64, 64), (1.0,))),
        ("Bxi8=255", Input("i8", ("B",), (255,))),
        ("xf32", None),
    ],
)
def test_parse(text: str, expected: Input | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="an empty dim"):
            parse_input(text)
    else:
        assert parse_input(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maxlenxf33", "unknown element type `f33`"),
        ("?xf32", "a dim without a name"),
        ("Bx64", "unknown element type `64`"),
        ("complex<f32>", "unknown element type"),
        ("Bxindex", "no tensor of `index`"),
        ("tensor<index>", "no tensor of `index`"),
        ("labelxf32", "`label` is a key of shapes"),
        ("i32xf32", "`i32` is an element type"),
        ("i64=1 2", "has 2 values; 1 value"),
        ("2xui8=-1 0", "-1 does not fit ui8: 0 to 255"),
        ("2xi32=1_0 2", "neither a value nor a symbol"),
        ("99999999999999999999xf32", "is too large"),
        ("\u0663xf32", "cannot be a symbol"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        parse_input(text)


def test_symbols_come_in_the_order_of_their_appearance() -> None:
    assert symbols_of([parse_input("SxBxf32"), parse_input("2xi64=N B")]) == ["S", "B", "N"]


def test_number_of_values_is_checked_at_a_shape() -> None:
    value = parse_input("Bxi64=1 2")
    assert data_problem(value, {"B": 2}) is None
    assert data_problem(value, {"B": 3}) == "`Bxi64=1 2` has 2 values; 3 values, or 1 for all elements, can be given"


def test_huge_integer_as_float_is_refused() -> None:
    with pytest.raises(ValueError, match="too large for f64"):
        make_input("f64", [10**400])


_SYMBOLS = st.from_regex(r"[A-Za-wyz_][A-Za-wyz0-9_]{0,8}", fullmatch=True).filter(
    lambda s: why_not_a_symbol(s) is None
)
_FLOATS = st.floats(allow_nan=False)


@st.composite
def _inputs(draw: st.DrawFn) -> Input:
    element = draw(st.sampled_from(ELEMENT_TYPES))
    sizes = st.one_of(st.integers(0, 2**63 - 1), _SYMBOLS)
    dims = None if element == "index" else draw(st.none() | st.lists(sizes, max_size=4).map(tuple))
    if (element == "i1" and dims is not None) or draw(st.booleans()):
        return Input(element, dims)
    words = _SYMBOLS.filter(lambda word: word not in ("inf", "nan", "true", "false"))
    is_float = element.startswith(("f", "bf"))
    values: st.SearchStrategy[float | str] = st.one_of(_FLOATS if is_float else st.integers(0, 1), words)
    is_dynamic = any(isinstance(dim, str) for dim in dims or ())
    data = draw(st.lists(values, min_size=1, max_size=4 if is_dynamic else 1).map(tuple))
    return Input(element, dims, data)


@given(_inputs())
def test_round_trip(value: Input) -> None:
    assert parse_input(format_input(value)) == value


@given(st.text() | st.from_regex(r"[A-Bx0-9?<>tensorif=\[\], .+e-]{0,20}", fullmatch=True))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse_input(text)
    except ValueError as error:
        assert str(error).isprintable()
    else:
        assert parse_input(format_input(value)) == value or "nan" in text
