"""Text that users wrote, as strings of Starlark code. Nothing else in dispatchgen quotes for Starlark.

Files are written in what Starlark and Python have in common: bazel_to_cmake executes BUILD files as Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dispatchgen.render.arguments import Value
from dispatchgen.render.text import control_refusal


def starlark_string(text: str) -> str:
    """A string literal of Starlark, and of Python, whose value is `text`. `control_refusal` must accept it."""
    return '"' + re.sub(r'([\\"])', r"\\\1", text) + '"'


def starlark_argument(value: Value, indent: str = "    ") -> str:
    """The literal of a value as buildifier formats it: of lists and dicts one element a line, sorted by key.

    Args:
      value: Of a keyword.
      indent: Of the line that the literal begins in.
    """
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return starlark_string(value)
    inner = indent + "    "
    if isinstance(value, Mapping):
        items = [f"{starlark_string(key)}: {starlark_argument(value[key], inner)}" for key in sorted(value)]
        opening, closing = "{", "}"
    else:
        items = [starlark_string(text) for text in value]
        opening, closing = "[", "]"
    lines = "".join(f"{inner}{item},\n" for item in items)
    return f"{opening}\n{lines}{indent}{closing}" if items else opening + closing


def path_refusal(path: str) -> str | None:
    """Why Bazel cannot have a target for the file of this path, relative to a package; None if it can.

    Tried with Bazel 4.2.3; newer ones document the same ("Target names", bazel.build/concepts/labels).
    """
    found = next((char for char in path if char in ":\\"), None)
    if found is not None:
        return f"it holds {found!r}, which the name of a target cannot have"
    if path.startswith("/"):
        return "it is absolute, and a target lies in its package"
    segments = path.split("/")
    if ".." in segments:
        return "it leaves the suite's folder, and a target lies in its package"
    if "." in segments or "" in segments:
        return "it has an empty segment or '.', which the name of a target cannot have"
    return control_refusal(path)
