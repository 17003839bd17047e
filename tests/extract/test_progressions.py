"""Arithmetic with progressions, against sets of all their members."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.extract.progressions import image, intersection, preimage

PROGRESSIONS = st.builds(range, st.integers(0, 40), st.integers(0, 160), st.integers(1, 12))
LARGE = range(1, 1 << 63)


@given(PROGRESSIONS, PROGRESSIONS)
def test_intersection(a: range, b: range) -> None:
    found = intersection(a, b)
    assert list(found) == sorted(set(a) & set(b))


@given(PROGRESSIONS, st.integers(1, 9), st.integers(-20, 20))
def test_preimage(values: range, scale: int, offset: int) -> None:
    expected = [x for x in range(-50, 200) if scale * x + offset in values]
    assert list(preimage(values, scale, offset)) == expected


@given(PROGRESSIONS, st.integers(1, 9), st.integers(-20, 20))
def test_image(values: range, scale: int, offset: int) -> None:
    assert list(image(values, scale, offset)) == [scale * x + offset for x in values]


def test_progressions_without_an_end() -> None:
    assert intersection(LARGE, range(48, 1 << 62, 48)) == range(48, 1 << 62, 48)
    assert intersection(range(16, 4097, 16), range(24, 1 << 63, 24)) == range(48, 4097, 48)
    assert preimage(range(16, 4097, 16), 16, 0)[-1] == 256
