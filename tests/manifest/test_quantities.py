"""Quantities as people write them."""

from __future__ import annotations

import pytest

from dispatchgen.manifest.quantities import parse_duration, parse_percent


@pytest.mark.parametrize(("text", "part"), [("1%", 0.01), ("0.5 %", 0.005), ("100%", 1.0)])
def test_percentages(text: str, part: float) -> None:
    assert parse_percent(text) == pytest.approx(part)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5 h", 5400)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["0%", "1", "-1%", "1%%", "%", "1e3%", 1, 0.01, None, ""])
def test_what_is_no_percentage(text: object) -> None:
    with pytest.raises(ValueError, match="a percentage above zero such as `1%` is needed"):
        parse_percent(text)


@pytest.mark.parametrize("text", ["0s", "10", "10 min", "-1s", "1d", "s", 10, None, ""])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="a duration above zero such as `90s`, `10m` or `2h` is needed"):
        parse_duration(text)
