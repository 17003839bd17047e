"""The inputs of a call, written as IREE's `--input=` takes them: `42x64xf32`, `2xi64=4 16`, `4xf32=@file`, `3`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.values import BufferView
from dispatchgen.iree import types
from dispatchgen.iree.types import scalar_type
from dispatchgen.manifest.suite import Input, Shape


@dataclass(frozen=True)
class ConcreteInput:
    """An input with every symbol bound; `dims` is None for a scalar."""

    element: str
    dims: tuple[int, ...] | None
    data: tuple[int | float, ...] | None = None
    file: str | None = None  #: Name of the file that holds its bytes.

    def __str__(self) -> str:
        if self.dims is None:
            return " ".join(map(str, self.data or (0,)))
        type_ = "x".join([*map(str, self.dims), self.element])
        if self.file is not None:
            return f"{type_}=@{self.file}"
        # IREE's tools refuse a bare element type: a tensor without dims needs its value.
        data = (0,) if self.data is None and not self.dims else self.data
        return type_ if data is None else f"{type_}={' '.join(map(str, data))}"


def bind(input_: Input, shape: Shape) -> ConcreteInput:
    """An input at a shape. Every symbol is bound: the manifest was checked for that."""

    def value(item: int | float | str) -> int | float:
        return shape.symbols[item] if isinstance(item, str) else item

    dims = None if input_.dims is None else tuple(int(value(dim)) for dim in input_.dims)
    data = None if input_.data is None else tuple(value(item) for item in input_.data)
    return ConcreteInput(input_.element, dims, data)


def parse(text: str, scalar: str | None = None) -> ConcreteInput:
    """Reads what `str` of a `ConcreteInput` wrote.

    Args:
      text: The value of an `--input=` flag.
      scalar: The element type where the argument is a scalar, whose flag holds the value alone.

    Raises:
      ModelError: the text is not such a value.
    """
    try:
        if scalar is not None:
            return ConcreteInput(scalar, None, (_number(text),))
        type_, _, values = text.partition("=")
        *dims, element = type_.split("x")
        if not element.isidentifier():
            raise ValueError
        if values.startswith("@"):
            return ConcreteInput(element, tuple(int(dim) for dim in dims), file=values[1:])
        data = tuple(_number(value) for value in values.replace(",", " ").split()) if values else None
        return ConcreteInput(element, tuple(int(dim) for dim in dims), data)
    except ValueError:
        raise ModelError(
            Problem(f"the input {text!r} cannot be read", hint="TYPE or TYPE=VALUES, e.g. 2x64xf32 or 2xi64=4 16")
        ) from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def buffer_view(index: int, input_: ConcreteInput) -> BufferView:
    """The tensor argument that an input stands for. Raises ModelError when its data does not fit its shape."""
    dims, name = input_.dims or (), f"input {index}"
    contents = None if input_.data is None else _contents(name, dims, input_.element, input_.data)
    return BufferView(name, dims, contents, index)


def _contents(name: str, dims: Sequence[int], element: str, data: Sequence[int | float]) -> bytes | None:
    """Bytes of the data, or of one element for a splat. None where the bytes of the type are not known."""
    count = math.prod(dims)
    if len(data) not in (1, count):
        raise ModelError(Problem(f"{name} has {count} elements, but {len(data)} values are given for it"))
    type_ = scalar_type(element)
    if type_ is None:
        return None
    try:
        return b"".join(types.to_bytes(value, type_) for value in data)
    except ValueError:
        return None
