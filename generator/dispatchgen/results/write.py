"""Writing result files: a row takes a line, so that version control shows which rows changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from dispatchgen.results.schema import Results


def text_of(results: Results) -> str:
    """The text of a result file: JSON, ending with a newline."""
    return "".join(_pieces(results, "")) + "\n"


def _pieces(value: Any, indent: str) -> Iterator[str]:
    """What holds objects that hold more is broken into lines; anything else is a line."""
    inner = f"{indent} "
    if isinstance(value, BaseModel) and (not indent or any(_is_deep(item) for _, item in value)):
        yield "{"
        for number, (key, item) in enumerate(value):
            yield f'{"," * bool(number)}\n{inner}"{key}": '
            yield from _pieces(item, inner)
        yield f"\n{indent}}}"
    elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        yield "["
        for number, item in enumerate(value):
            yield f"{',' * bool(number)}\n{inner}"
            yield from _pieces(item, inner)
        yield f"\n{indent}]"
    else:
        yield to_json(value).decode()


def _is_deep(value: Any) -> bool:
    """Whether a value holds objects."""
    inner = (item for _, item in value) if isinstance(value, BaseModel) else value if isinstance(value, tuple) else ()
    return any(isinstance(each, BaseModel) for each in inner)
