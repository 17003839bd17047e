"""What the manifest's sections are made of: their base, texts and flags, and unions by the kind of a YAML value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field

from dispatchgen.manifest.flags import compile_flag_problem, import_flag_problem, run_flag_problem

_T = TypeVar("_T")
_NOT_TEXT = re.compile("[;\x00-\x1f\x7f-\x9f\u2028\u2029]")


def require(problem_of: Callable[[str], str | None]) -> AfterValidator:
    """A check that raises what `problem_of` finds wrong with a text."""

    def check(text: str) -> str:
        if problem := problem_of(text):
            raise ValueError(problem)
        return text

    return AfterValidator(check)


def _text_problem(text: str) -> str | None:
    # CMake's lists are separated by `;`, and flag files and CTest's labels by line ends.
    if not text:
        return "an empty text is not allowed here"
    if _NOT_TEXT.search(text):
        return "neither `;` nor line ends nor control characters are allowed here"
    return None


def by_kind(**kinds: str) -> Discriminator:
    """Chooses a branch of a union by the kind of YAML value: text, number, list or mapping, each tagged by its kind."""

    def kind(value: object) -> str | None:
        if isinstance(value, str):
            return "text"
        if isinstance(value, list):
            return "list"
        if isinstance(value, dict | BaseModel):
            return "mapping"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return "number"
        return None

    def chosen(value: object) -> str | None:
        found = kind(value)
        return found if found in kinds else None

    expected = " or ".join(kinds.values())
    return Discriminator(chosen, custom_error_type="kind", custom_error_message=expected)


Text = Annotated[str, Field(min_length=1), require(_text_problem)]
CompileFlag = Annotated[Text, require(compile_flag_problem)]
RunFlag = Annotated[Text, require(run_flag_problem)]
ImportFlag = Annotated[Text, require(import_flag_problem)]
NotEmpty = Annotated[list[_T], Field(min_length=1)]


class Section(BaseModel):
    """Base of the manifest's mappings: unknown keys are errors, and texts are no numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
