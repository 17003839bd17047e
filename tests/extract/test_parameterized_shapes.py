"""The page that documents what modules tell names every key of it, with the description in the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from dispatchgen.extract.parameterized_shapes import ListedFunction, ModuleShapes, SizedFunction


@pytest.mark.parametrize("model", [ModuleShapes, ListedFunction, SizedFunction])
def test_every_key_is_documented(model: type[BaseModel], repository: Path) -> None:
    page = (repository / "docs" / "any-size.md").read_text(encoding="utf-8")
    missing = [
        f"| `{name}` | {field.description} |"
        for name, field in model.model_fields.items()
        if f"| `{name}` | {field.description} |\n" not in page
    ]
    assert missing == []
