"""What agrees and what differs, of buffers made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dispatchgen.agreement.compare import Comparison, compare, errors
from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, Output, Piece


@pytest.mark.parametrize(
    ("expected", "found", "error"),
    [
        (1.0, 1.5, 0.5),
        (100.0, 150.0, 0.5),
        (0.0, 1e-9, 1e-9),
        (math.nan, math.nan, 0.0),
        (math.nan, 1.0, math.inf),
        (1.0, math.nan, math.inf),
        (math.inf, math.inf, 0.0),
        (math.inf, -math.inf, math.inf),
        (math.inf, 1.0, math.inf),
        (1.0, math.inf, math.inf),
    ],
)
def test_floats_differ_relatively_above_one(expected: float, found: float, error: float) -> None:
    assert errors(np.array([expected]), np.array([found]))[0] == error


def test_integers_differ_by_their_difference() -> None:
    large = 1 << 62
    found = errors(np.array([100, large, 3]), np.array([90, large + 1, 3]))
    assert list(found) == [10, 1, 0]


def test_small_floats_differ_by_the_size_of_the_largest() -> None:
    expected = np.array([1e-4, -5e-5, 0.0, math.nan, math.inf])
    assert list(errors(expected, expected)) == [0.0] * 5
    assert list(errors(expected, np.array([0.0, 0.0, 1e-7, math.nan, math.inf]))) == pytest.approx([1, 0.5, 1e-3, 0, 0])
    assert list(errors(np.array([1e-4, 3.0]), np.zeros(2))) == pytest.approx([1e-4, 1]), "small beside what is not"


def test_zeros_differ_by_the_difference() -> None:
    """There is no size to compare with."""
    assert list(errors(np.zeros(2), np.array([0.0, 1e-9]))) == [0, 1e-9]
    assert list(errors(np.array([]), np.array([]))) == []


def compared(element: str, before: bytes, ours: bytes, theirs: bytes, tolerance: float = 0) -> Comparison:
    """A binding that is written, without guards."""
    pieces = (Piece(offset=0, element=element, bound=None),)
    benchmark = CheckedBenchmark(name="b", bindings=(CheckedBinding(length=len(before), written=True, pieces=pieces),))
    after = {Output(0, "original"): ours, Output(0, "substitute"): theirs}
    return compare(benchmark, [before], after, 0, tolerance)


def test_integers_are_shown_with_all_digits() -> None:
    before, ours, theirs = (number.to_bytes(8, "little") for number in (0, (1 << 62) + 1, (1 << 62) + 2))
    found = compared("i64", before, ours, theirs)
    assert found.differences == (
        "binding 0, element 0 (i64): 4611686018427387905 by the compiler's kernel, 4611686018427387906 by the "
        "substitute; 1 of 1 elements differ",
    )
    assert found.worst == 1
    assert compared("i64", before, ours, theirs, tolerance=1).differences == ()


def test_bytes_of_an_unknown_type_are_compared() -> None:
    found = compared("i1", bytes(4), b"\1\0\0\0", b"\1\0\1\0")
    assert found == Comparison(None, ("binding 0: bytes 0 to 4 differ; their type is not known",), changed=True)
    assert compared("i1", bytes(4), bytes(4), bytes(4)) == Comparison()
