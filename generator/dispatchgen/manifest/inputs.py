"""Inputs of entry functions as text: `Bx64xf32`, `tensor<2xi64>=B 16`, `index=N`.

The notation is that of IREE's `--input=`, with symbols for dims and values. As there, `x` separates dims, so a symbol
cannot contain a small `x`. A bare element type is a scalar; `tensor<f32>` is a tensor without dims.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from dispatchgen.manifest.names import show
from dispatchgen.manifest.suite import Input

#: Largest size of a dim: sizes are 64-bit signed integers in IREE.
MAX_SIZE = 2**63 - 1

#: Integer element types with the least and the largest value that `--input=` takes. Signless ones take both readings.
_INTEGERS = {
    "i1": (0, 1),
    **{f"i{bits}": (-(2 ** (bits - 1)), 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"si{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "index": (-(2**63), 2**63 - 1),
}
_FLOATS = ("f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E8M0FNU")

#: What `--input=` of IREE's tools can parse (tried with the releases 3.12 and 3.13).
ELEMENT_TYPES = (*_INTEGERS, *_FLOATS)

#: Keys of a shape that are not symbols.
RESERVED_SYMBOLS = ("auto", "from", "label", "zip")

#: What `data` may be besides numbers and symbols.
FILL_WORDS = ("zeros", "random", "recorded")

_SYMBOL = re.compile(r"[A-Za-wyz_][A-Za-wyz0-9_]*")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|nan)")
_SEPARATORS = re.compile(r"[\s,\[\]]+")
_BOOLEANS = {"false": 0, "true": 1}


def why_not_a_symbol(text: str) -> str | None:
    """Why `text` cannot be the name of a symbol; None where it can."""
    if text in RESERVED_SYMBOLS:
        return f"{show(text)} is a key of shapes and cannot be a symbol"
    if text in FILL_WORDS:
        return f"{show(text)} says what data holds and cannot be a symbol"
    if text in ELEMENT_TYPES:
        return f"{show(text)} is an element type and cannot be a symbol"
    if _SYMBOL.fullmatch(text):
        return None
    if "x" in text and _SYMBOL.fullmatch(text.replace("x", "X")):
        return f"{show(text)} cannot be a symbol: `x` separates dims"
    return f"{show(text)} cannot be a symbol: letters without `x`, digits and `_`, not a digit first"


def parse_input(text: str) -> Input:
    """The input that `text` describes. Raises ValueError with a message for people."""
    if not text.strip():
        raise ValueError("an empty input; a type such as `Bx64xf32` is needed")
    type_text, equals, values = text.partition("=")
    tokens = [token for token in _SEPARATORS.split(values) if token]
    if equals and not tokens:
        raise ValueError(f"no values after `=` in {show(text)}")
    return make_input(type_text, tokens if equals else None)


def make_input(type_text: str, values: Sequence[str | int | float] | None) -> Input:
    """An input of that type, with these values (None: zeros). Raises ValueError with a message for people."""
    element, dims = _parse_type(type_text.strip())
    if values is None:
        return Input(element, dims)
    if element == "i1" and dims is not None:
        raise ValueError("`--input=` of IREE's tools takes no values for tensors of i1: leave them out (zeros)")
    result = Input(element, dims, tuple(_parse_value(value, element) for value in values))
    if not any(isinstance(dim, str) for dim in dims or ()) and (problem := data_problem(result, {})):
        raise ValueError(problem)
    return result


def format_input(value: Input) -> str:
    """The text that `parse_input` reads as `value`."""
    if value.dims is None:
        text = value.element
    else:
        text = "x".join([*map(str, value.dims), value.element])
        text = text if value.dims else f"tensor<{text}>"
    return text if value.data is None else f"{text}={' '.join(map(str, value.data))}"


def symbols_of(inputs: Sequence[Input]) -> list[str]:
    """The symbols in `inputs`, in the order of their first appearance."""
    found: dict[str, None] = {}
    for value in inputs:
        for part in (*(value.dims or ()), *(value.data or ())):
            if isinstance(part, str):
                found.setdefault(part)
    return list(found)


def data_problem(value: Input, symbols: Mapping[str, int]) -> str | None:
    """What is wrong with the input's values at these sizes: their number, or one that the element type cannot hold."""
    if value.data is None:
        return None
    sizes = [symbols[dim] if isinstance(dim, str) else dim for dim in value.dims or ()]
    needed = math.prod(sizes)
    if len(value.data) != needed and not (len(value.data) == 1 and value.dims is not None):
        allowed = "1 value" if value.dims is None or needed == 1 else f"{needed} values, or 1 for all elements,"
        return f"{show(format_input(value))} has {len(value.data)} values; {allowed} can be given"
    for item in value.data:
        if isinstance(item, str) and (problem := range_problem(symbols.get(item, 0), value.element)):
            return problem
    return None


def _parse_type(text: str) -> tuple[str, tuple[int | str, ...] | None]:
    is_tensor = text.startswith("tensor<") and text.endswith(">")
    inner = text[len("tensor<") : -1].strip() if is_tensor else text
    if inner == "index" and not is_tensor:
        return "index", None
    if inner.endswith("xindex") or inner == "index":
        raise ValueError(f"no tensor of `index` in {show(text)}: `--input=` takes i64 or i32 there")
    *dims, element = inner.split("x")
    if element not in ELEMENT_TYPES:
        raise ValueError(
            f"unknown element type {show(element)} in {show(text)}; element types are {', '.join(ELEMENT_TYPES)}"
        )
    if not dims and not is_tensor:
        return element, None
    return element, tuple(_parse_dim(dim, text) for dim in dims)


def _parse_dim(dim: str, text: str) -> int | str:
    if dim.isascii() and dim.isdigit():
        if len(dim) > 19 or int(dim) > MAX_SIZE:
            raise ValueError(f"the dim {show(dim)} in {show(text)} is too large")
        return int(dim)
    if dim == "?":
        raise ValueError(f"a dim without a name in {show(text)}: write a symbol for each `?`, e.g. `Bx64xf32`")
    if not dim:
        raise ValueError(f"an empty dim in {show(text)}: `x` separates dims, and the element type comes last")
    if problem := why_not_a_symbol(dim):
        raise ValueError(f"{problem} (in {show(text)})")
    return dim


def _parse_value(value: str | int | float, element: str) -> int | float | str:
    is_float = element in _FLOATS
    if isinstance(value, str):
        number = _parse_token(value, is_float)
        if isinstance(number, str):
            return number
    else:
        number = value
    if is_float:
        try:
            return float(number)
        except OverflowError:
            raise ValueError(f"a value is too large for {element}") from None
    if not isinstance(number, int):
        raise ValueError(f"{number} is not a value of {element}: an integer or a symbol")
    if problem := range_problem(int(number), element):
        raise ValueError(problem)
    return int(number)


def _parse_token(token: str, is_float: bool) -> int | float | str:
    if _INTEGER.fullmatch(token):
        return int(token)
    if is_float and _FLOAT.fullmatch(token):
        return float(token)
    if not is_float and token in _BOOLEANS:
        return _BOOLEANS[token]
    if token.startswith("@"):
        raise ValueError(f"{show(token)}: a file is given as `{{type: ..., data: {{file: values.npy}}}}`")
    if problem := why_not_a_symbol(token):
        raise ValueError(f"{show(token)} is neither a value nor a symbol ({problem})")
    return token


def range_problem(number: int, element: str) -> str | None:
    """Why an integer is no value of an element type; None: it is, or the type is of no integers."""
    least, largest = _INTEGERS.get(element, (number, number))
    return None if least <= number <= largest else f"{number} does not fit {element}: {least} to {largest}"
