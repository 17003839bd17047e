"""A comparison as JSON."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dispatchgen.comparison.schema import Comparison


def encode(comparison: Comparison) -> str:
    """The file: a line per key, call and row, so that a difference of two is readable."""
    return "{\n" + ",\n".join(_lines(comparison)) + "\n}\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    encoder = msgspec.json.Encoder()
    for name in comparison.__struct_fields__:
        value = getattr(comparison, name)
        text = encoder.encode(value).decode()
        if name in ("calls", "rows") and value:
            text = "[\n    " + ",\n    ".join(encoder.encode(each).decode() for each in value) + "\n  ]"
        yield f'  "{name}": {text}'
