"""Names of dispatches and benchmarks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.extract.names import Known, assign, assign_benchmarks, base_name, operation_of, same_but_for_number

operations = st.sampled_from(["matmul_4x8_f32", "elementwise_D_f32", "conv"])
contents = st.sampled_from(["a", "b", "c", "d", "e", "f"])
#: Programs hold no two dispatches of equal content: IREE merges them.
programs = st.lists(st.tuples(operations, contents), max_size=8, unique_by=lambda d: d[1])


def known(dispatches: list[tuple[str, str]], names: list[str]) -> list[Known]:
    return [Known(name, operation, content) for name, (operation, content) in zip(names, dispatches, strict=True)]


@pytest.mark.parametrize(
    ("export", "operation"),
    [
        ("main_dispatch_3_matmul_4x8_f32", "matmul_4x8_f32"),
        ("main$async_dispatch_12_conv_Dx5_f32", "conv_Dx5_f32"),
        ("_initializer_0_dispatch_0_slow_memcpy", "slow_memcpy"),
        ("main_dispatch_0", "dispatch"),
        ("my_kernel", "my_kernel"),
        ("a dispatch_1", "a dispatch_1"),
    ],
)
def test_operation(export: str, operation: str) -> None:
    assert operation_of(export) == operation


@given(st.text())
def test_base_names_are_identifiers(operation: str) -> None:
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,100}", base_name(operation))
    assert "__" not in base_name(operation)


def test_numbers_what_is_alike() -> None:
    assert assign([("mm", "a"), ("mm", "b"), ("ew", "c"), ("mm", "d")], []) == ["mm", "mm_2", "ew", "mm_3"]


def test_a_dispatch_inserted_in_front_takes_no_name_away() -> None:
    before = [("mm", "a"), ("mm", "b")]
    names = assign(before, [])
    assert assign([("mm", "new"), *before], known(before, names)) == ["mm_3", *names]


def test_changed_content_keeps_names_in_order() -> None:
    """As with a new compiler, which changes the content of all."""
    before = [("mm", "a"), ("mm", "b"), ("ew", "c")]
    assert assign([("mm", "x"), ("mm", "y"), ("ew", "z")], known(before, ["mm", "mm_2", "ew"])) == ["mm", "mm_2", "ew"]


def test_a_free_name_is_not_given_to_another_operation() -> None:
    assert assign([("mm_2", "x")], [Known("mm", "mm", "a"), Known("mm_2", "mm", "b")]) == ["mm_2_2"]


def test_the_name_of_the_whole_model_is_not_taken() -> None:
    assert assign([("model", "a")], []) == ["model_2"]


def test_a_reserved_name_is_not_given_nor_kept() -> None:
    assert assign([("B1", "a")], [], {"B1"}) == ["B1_2"]
    assert assign([("B1", "a")], [Known("B1", "B1", "a")], {"B1"}) == ["B1_2"]


@given(before=programs, after=programs)
def test_properties(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    names = assign(before, [])
    renewed = assign(after, known(before, names))
    assert len(set(renewed)) == len(after)
    old = dict(zip(before, names, strict=True))
    for dispatch, name in zip(after, renewed, strict=True):
        assert name == old.get(dispatch, name), "unchanged content keeps its name"
    assert assign(after, known(after, renewed)) == renewed, "a second renewal changes nothing"


def test_benchmarks_are_named_after_the_first_call_that_is_free() -> None:
    assert assign_benchmarks([["mm__B1", "mm__B2"], ["mm__B2"], ["mm__B1"]], [None] * 3) == [
        "mm__B1",
        "mm__B2",
        "mm__B1_2",
    ]


def test_benchmarks_keep_a_name_that_is_still_true() -> None:
    assert assign_benchmarks([["mm__B4", "mm__B1"]], ["mm__B1"]) == ["mm__B1"]
    assert assign_benchmarks([["mm__B4", "mm__B1"]], ["mm__B1_2"]) == ["mm__B1_2"]
    assert assign_benchmarks([["mm__B4"]], ["mm__B1"]) == ["mm__B4"]
    assert assign_benchmarks([["mm"], ["mm"]], ["mm__2", "mm"]) == ["mm__2", "mm"]


def test_further_sizes_of_a_static_dispatch_do_not_look_like_another_dispatch() -> None:
    assert assign_benchmarks([["mm"], ["mm"]], [None, None]) == ["mm", "mm__2"]


@pytest.mark.parametrize(
    ("symbol", "other", "same"),
    [
        ("main_dispatch_1", "main_dispatch_12", True),
        ("main_dispatch_1_matmul_4x8_f32", "main_dispatch_3_matmul_4x8_f32", True),
        ("main_dispatch_1_matmul_4x8_f32", "main_dispatch_1_matmul_8x8_f32", False),
        ("main_dispatch_1", "main_dispatch_1_matmul", False),
        ("main_dispatch_1", "other_dispatch_1", False),
        ("kernel", "kernel", True),
        ("kernel", "kernel_2", False),
        ("kernel", "other", False),
    ],
)
def test_symbols_that_differ_in_the_number_of_the_dispatch(symbol: str, other: str, same: bool) -> None:
    assert same_but_for_number(symbol, other) == same
    assert same_but_for_number(other, symbol) == same
