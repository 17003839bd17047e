"""The page that documents comparisons names every key of the data, and every condition."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dispatchgen.comparison.conditions import FORMS
from dispatchgen.comparison.schema import (
    VERDICTS,
    CallEffect,
    Comparison,
    Criteria,
    Differences,
    GeometricMean,
    Row,
    Run,
)


@pytest.mark.parametrize("struct", [Comparison, Run, Criteria, Differences, GeometricMean, CallEffect, Row])
def test_every_key_is_documented(struct: type[msgspec.Struct], repository: Path) -> None:
    page = (repository / "docs" / "comparison.md").read_text(encoding="utf-8")
    data = page[page.index("## The data") :]
    assert [name for name in struct.__struct_fields__ if f"`{name}`" not in data] == []


def test_every_verdict_and_condition_is_documented(repository: Path) -> None:
    page = (repository / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert [verdict for verdict in VERDICTS if f"`{verdict}`" not in page] == []
    assert [form for form in FORMS.split(", ") if f"{form}`" not in page] == []
