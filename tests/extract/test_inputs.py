"""Inputs as `--input=` takes them."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.errors import ModelError
from dispatchgen.extract.inputs import ConcreteInput, bind, buffer_view, parse
from dispatchgen.manifest.suite import Input, Shape

numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
tensors = st.builds(
    ConcreteInput,
    st.sampled_from(["f32", "i64", "bf16", "f8E4M3FN", "i1"]),
    st.lists(st.integers(0, 4096), max_size=4).map(tuple),
    st.one_of(st.none(), st.lists(numbers, min_size=1, max_size=5).map(tuple)),
)


@given(tensors)
def test_round_trip(value: ConcreteInput) -> None:
    is_bare = value.dims == () and value.data is None  # which IREE's tools refuse
    assert parse(str(value)) == (replace(value, data=(0,)) if is_bare else value)


@given(numbers)
def test_scalar_round_trip(value: int | float) -> None:
    assert parse(str(ConcreteInput("i64", None, (value,))), "i64").data == (value,)


@pytest.mark.parametrize("text", ["", "4y4xf32", "4xf32=one", "-xf32", "4.5xf32"])
def test_what_is_no_input_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        parse(text)
    with pytest.raises(ModelError, match="cannot be read"):
        parse(text, "i32")


def test_bind() -> None:
    shape = Shape("B2", {"B": 2, "N": 7})
    assert str(bind(Input("f32", ("B", 64)), shape)) == "2x64xf32"
    assert str(bind(Input("i64", (2,), ("B", 16)), shape)) == "2xi64=2 16"
    assert str(bind(Input("index", None, ("N",)), shape)) == "7"
    assert str(bind(Input("f32", ()), shape)) == "f32=0", "IREE's tools refuse `f32`"


def test_contents() -> None:
    assert buffer_view(0, parse("2xi64=4 16")).contents == struct.pack("<qq", 4, 16)
    assert buffer_view(0, parse("1000xi32=-1")).contents == struct.pack("<i", -1), "one element stands for all"
    assert buffer_view(0, parse("1000xi32")).contents is None
    assert buffer_view(0, parse("2xf8E4M3FN=1 2")).contents is None


def test_values_that_a_type_cannot_hold() -> None:
    assert buffer_view(0, parse("1xbf16=1e39")).contents == bytes.fromhex("807f"), "infinity"
    assert buffer_view(0, parse("1xi32=inf")).contents is None


def test_a_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(ModelError, match="input 0 has 3 elements, but 2 values"):
        buffer_view(0, parse("3xi32=1 2"))


def test_the_bytes_of_an_input_may_be_in_a_file() -> None:
    value = ConcreteInput("i64", (4, 2), file="B4.input1.bin")
    assert str(value) == "4x2xi64=@B4.input1.bin"
    assert parse(str(value)) == value
    assert buffer_view(3, value).contents is None
    assert buffer_view(3, value).index == 3
