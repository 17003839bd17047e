"""What bindings hold, and what is said of it."""

from __future__ import annotations

import pytest

from dispatchgen.agreement.regions import buffer, regions, zeros
from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, Piece


def binding(length: int, *pieces: tuple[int, str, int | None], written: bool = False) -> CheckedBinding:
    made = tuple(Piece(offset=offset, element=element, bound=bound) for offset, element, bound in pieces)
    return CheckedBinding(length=length, written=written, pieces=made)


def test_regions_are_all_of_a_binding() -> None:
    """Of whole elements; between and behind them lies what is no number."""
    two = binding(71, (4, "f32", None), (30, "i64", None), (80, "i8", None))
    found = [(region.start, region.stop, region.piece and region.piece.element) for region in regions(two)]
    assert found == [(0, 4, None), (4, 28, "f32"), (28, 30, None), (30, 70, "i64"), (70, 71, None)]
    assert len(buffer(two, 0, 16)) == 71 + 32
    assert list(regions(binding(0))) == []


@pytest.mark.parametrize("bound", [1, 3])
def test_a_bound_holds_for_all_elements(bound: int) -> None:
    assert set(buffer(binding(64, (0, "i8", bound)), 0, 0)) == set(range(bound))


def test_equal_bindings_hold_other_numbers() -> None:
    one = binding(64, (0, "f32", None))
    assert buffer(one, 0, 8) == buffer(one, 0, 8) != buffer(one, 1, 8)


def test_what_holds_zeros_is_said_of_what_is_read() -> None:
    kinds = (
        binding(64, (0, "i32", 1)),
        binding(64),
        binding(64, (0, "i1", None)),
        binding(64, (0, "i32", 2), (32, "f32", None)),
        binding(64, (0, "i32", 1), written=True),
        binding(0),
    )
    index, type_ = "as an index whose bounds are not known", "as its type is not known"
    assert list(zeros(CheckedBenchmark(name="b", bindings=kinds))) == [
        f"binding 0 held zeros, {index}: its use was not compared",
        f"binding 1 held zeros, {type_}: its use was not compared",
        f"binding 2 held zeros, {type_}: its use was not compared",
    ]
