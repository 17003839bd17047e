"""The page that documents the data names every key of it, with the description in the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from dispatchgen.results.environment_schema import Environment, Machine, Software
from dispatchgen.results.schema import (
    Agreement,
    BuildFailure,
    BuildStep,
    CallResult,
    Compiled,
    DispatchResult,
    Measuring,
    NotRun,
    Results,
    Settings,
    SubstitutedDispatch,
    SubstitutionResult,
    Timing,
    WholeModel,
)

_MODELS = [
    Results,
    CallResult,
    DispatchResult,
    SubstitutionResult,
    SubstitutedDispatch,
    Agreement,
    Timing,
    NotRun,
    BuildFailure,
    BuildStep,
    Compiled,
    Environment,
    Machine,
    Measuring,
    Settings,
    Software,
    WholeModel,
]


@pytest.mark.parametrize("model", _MODELS)
def test_every_key_is_documented(model: type[BaseModel], repository: Path) -> None:
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
    missing = [
        f"| `{name}` | {field.description} |"
        for name, field in model.model_fields.items()
        if f"| `{name}` | {field.description} |\n" not in page
    ]
    assert missing == []
