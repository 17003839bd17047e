"""What pydantic found wrong with a manifest, in words for people and with its place."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from pydantic_core import ErrorDetails

from dispatchgen.errors import Problem
from dispatchgen.manifest.document import Document
from dispatchgen.manifest.names import did_you_mean, show, show_all
from dispatchgen.manifest.schema import MANIFEST_VERSION, json_schema

DataPath = tuple[str | int, ...]

_EXPECTED = {
    "string_type": "a text",
    "int_type": "an integer",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "finite_number": "a finite number",
    "float_type": "a number",
}
_BOUNDS = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}


def data_path(details: ErrorDetails, data: Any) -> DataPath:
    """Where in `data` the error is: its location without the tags that pydantic adds for branches of unions."""
    path: list[str | int] = []
    for part in details["loc"]:
        is_index = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if is_index or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
    return tuple(path)


#: Numbers that YAML 1.1 takes for texts: it wants a point, and a sign of the exponent.
_EXPONENT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]{1,3}")


def describe(details: ErrorDetails, document: Document) -> Problem:
    """The problem that pydantic reports as `details`."""
    problem = _described(details, document)
    found = details["input"]
    if problem.hint is None and isinstance(found, str) and _EXPONENT.fullmatch(found):
        return replace(problem, hint=_yaml_number(float(found)))
    return problem


def _yaml_number(value: float) -> str | None:
    """How YAML writes a number; None: it cannot."""
    mantissa, e, exponent = repr(value).partition("e")
    if not math.isfinite(value):
        return None
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"


def _described(details: ErrorDetails, document: Document) -> Problem:
    path = data_path(details, document.data)
    kind, found, key = details["type"], details["input"], str(details["loc"][-1]) if details["loc"] else ""
    place = document.place(path)
    if kind == "missing":
        value = MANIFEST_VERSION if key == "version" else "..."
        return Problem(f"the key {show(key)} is missing", place, f"add `{key}: {value}`")
    if kind == "extra_forbidden":
        return Problem(
            f"unknown key {show(key)}",
            document.place(path, at_key=True),
            did_you_mean(key, _keys_at(path[:-1], document.data)),
        )
    if kind == "value_error":
        is_key = isinstance(found, str) and bool(path) and found == path[-1]
        return Problem(str(details["ctx"]["error"]), document.place(path, at_key=is_key))
    if kind == "kind" or kind in _EXPECTED:
        expected = details["msg"] if kind == "kind" else _EXPECTED[kind]
        hint = None
        if expected == "a text" and isinstance(found, int | float):
            hint = f'put it in quotes: "{str(found).lower()}"'
        if expected == "a list" and isinstance(found, str):
            is_one = found.isprintable() and " " not in found and len(found) < 80
            hint = f"[{found}]" if is_one else None
        return Problem(f"{_describe_value(found)}; {expected} is needed here", place, hint)
    if kind == "literal_error":
        return Problem(f"{_describe_value(found)}; allowed are {details['ctx']['expected']}", place)
    if kind == "too_short":
        return Problem("at least one entry is needed here", place, "remove the key to get its default, or fill it in")
    if kind == "string_too_short":
        return Problem("an empty text is not allowed here", place)
    if kind in _BOUNDS:
        bound = details["ctx"][_BOUNDS[kind][0]]
        return Problem(f"{_describe_value(found)}; {_BOUNDS[kind][1]} {bound} is needed here", place)
    return Problem(f"{_describe_value(found)}: {details['msg']}", place)


def _describe_value(value: Any) -> str:
    if isinstance(value, bool):
        return f"found `{str(value).lower()}`"
    if isinstance(value, str):
        return f"found the text {show(value)}"
    if isinstance(value, int | float):
        return f"found the number {show(str(value))}"
    if isinstance(value, list):
        return "found a list"
    if isinstance(value, dict):
        return "found a mapping" + (f" with {show_all(value, 3)}" if value else "")
    return "found nothing"


def _keys_at(path: DataPath, data: Any) -> list[str]:
    """The keys that the schema knows for the mapping at `path`."""
    root = json_schema()
    schema = _branch(root, root, data)
    for part in path:
        data = data[part]
        if isinstance(part, int):
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(part) or schema.get("additionalProperties") or {}
        schema = _branch(schema, root, data)
    return list(schema.get("properties", {}))


def _branch(schema: dict[str, Any], root: dict[str, Any], data: Any) -> dict[str, Any]:
    """`schema` with its reference followed and the branch for this kind of data chosen."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        wanted = "object" if isinstance(data, dict) else "array" if isinstance(data, list) else "string"
        branches = [_branch(branch, root, data) for branch in schema["oneOf"]]
        fitting = [branch for branch in branches if branch.get("type") == wanted]
        # Of several mappings, the one that has a key which it alone needs.
        needed = (branch for branch in fitting if any(key in data for key in branch.get("required", ())))
        return next(needed, fitting[0] if fitting else {})
    return schema
