"""Checks data against a JSON schema, as far as the schemas of dispatchgen go: an unknown keyword is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
#: What says nothing of the data.
_WORDS = {"$schema", "$defs", "title", "description", "default", "type"}


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    """What of a value does not fit a schema, with its place."""
    return list(_problems(schema, schema, value, "$"))


def _problems(root: dict[str, Any], schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
    kind = schema.get("type")
    is_flag = isinstance(value, bool)  # Python's are integers
    if kind is not None and not (isinstance(value, _TYPES[kind]) and is_flag <= (kind == "boolean")):
        yield f"{at}: {value!r} is no {kind}"
        return
    for keyword, rule in schema.items():
        if keyword not in _WORDS:
            yield from _of_keyword(root, schema, keyword, rule, value, at)


def _of_keyword(
    root: dict[str, Any], schema: dict[str, Any], keyword: str, rule: Any, value: Any, at: str
) -> Iterator[str]:
    match keyword:
        case "$ref":
            yield from _problems(root, root["$defs"][rule.removeprefix("#/$defs/")], value, at)
        case "anyOf":
            found = [list(_problems(root, each, value, at)) for each in rule]
            if all(found):
                yield from max(found)
        case "enum" | "const":
            if value not in (rule if keyword == "enum" else [rule]):
                yield f"{at}: {value!r} is not {rule}"
        case "properties":
            for name in rule.keys() & value.keys():
                yield from _problems(root, rule[name], value[name], f"{at}.{name}")
        case "required":
            yield from (f"{at}: has no {name}" for name in rule if name not in value)
        case "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                if rule is False:
                    yield f"{at}: has {name}"
                else:
                    yield from _problems(root, rule, value[name], f"{at}.{name}")
        case "prefixItems":
            for index, (each, part) in enumerate(zip(rule, value, strict=False)):
                yield from _problems(root, each, part, f"{at}[{index}]")
        case "items":
            for index, part in enumerate(value):
                yield from _problems(root, rule, part, f"{at}[{index}]")
        case "minItems" | "maxItems":
            if (len(value) < rule) if keyword == "minItems" else (len(value) > rule):
                yield f"{at}: has {len(value)} elements"
        case _:
            raise AssertionError(f"unknown keyword {keyword}")
