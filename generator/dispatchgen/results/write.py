"""Writing result files: a row takes a line, so that version control shows which rows changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dispatchgen.results.schema import Results


def text_of(results: Results) -> str:
    """The text of a result file: JSON, ending with a newline."""
    return "".join(_pieces(results.model_dump(mode="json"), "")) + "\n"


def _pieces(value: Any, indent: str) -> Iterator[str]:
    """What holds objects that hold more is broken into lines; anything else is a line."""
    inner = f"{indent} "
    if isinstance(value, dict) and (not indent or any(map(_is_deep, value.values()))):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' * bool(number)}\n{inner}{json.dumps(key, ensure_ascii=False)}: "
            yield from _pieces(item, inner)
        yield f"\n{indent}}}"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield "["
        for number, item in enumerate(value):
            yield f"{',' * bool(number)}\n{inner}"
            yield from _pieces(item, inner)
        yield f"\n{indent}]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def _is_deep(value: Any) -> bool:
    """Whether a value holds objects."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(each, dict) for each in inner)
