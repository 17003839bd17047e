"""What inputs a program's entry functions take, read from the program itself."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from dispatchgen.extract.evaluator import arguments_and_results
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.iree.types import is_integer, scalar_type
from dispatchgen.manifest.inputs import format_input
from dispatchgen.manifest.suite import Input


@dataclass(frozen=True)
class Argument:
    """An argument that takes an input: a tensor (a dim of None is dynamic), a scalar, or a tensor of unknown type."""

    element: str | None
    dims: tuple[int | None, ...] | None

    @property
    def is_boxed_integer(self) -> bool:
        """Whether it is a tensor of one integer: it takes the place of a scalar, and zero is seldom meant."""
        return self.dims == () and self.element is not None and is_integer(self.element)

    @property
    def is_tensor(self) -> bool:
        """Whether it is passed as a tensor."""
        return self.dims is not None or self.element is None

    def __str__(self) -> str:
        if self.element is None:
            return "tensor<?>"
        if self.dims == ():
            return f"tensor<{self.element}>"
        return (
            self.element
            if self.dims is None
            else "x".join([*("?" if d is None else str(d) for d in self.dims), self.element])
        )


def signature(program: Program, entry: str) -> tuple[Argument, ...]:
    """The inputs of an entry function.

    Tensor types come from where the body imports the argument (`stream.tensor.import`), else from IREE's
    `iree.abi.declaration`; importers leave out the latter, and an argument that is not used is never imported.
    """
    function = program.functions[program.body_of(entry)]
    block = function.regions[0].blocks[0]
    imported = {
        op.operands[0]: str(op.attributes["result_encoding"]) for op in ir.walk(function, "stream.tensor.import")
    }
    types, _ = arguments_and_results(function)
    declared = _declared(program.functions[entry])
    return tuple(
        _argument(type_, imported.get(block.arguments[position]), declared, index)
        for index, (position, type_) in enumerate(_inputs(types))
    )


def _inputs(types: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The positions and types of the arguments that take an input; fences do not."""
    for position, type_ in enumerate(types):
        if type_ == "!hal.buffer_view" or scalar_type(type_) is not None:
            yield position, type_


def input_index(function: ir.Operation, position: int) -> int | None:
    """Which input an argument of a function takes; None: none."""
    types, _ = arguments_and_results(function)
    return next((i for i, (found, _) in enumerate(_inputs(types)) if found == position), None)


def _argument(type_: str, imported: str | None, declared: Sequence[str], index: int) -> Argument:
    if type_ != "!hal.buffer_view":
        return Argument(type_, None)
    return _tensor(imported or (declared[index] if index < len(declared) else "")) or Argument(None, None)


def _tensor(text: str) -> Argument | None:
    """The argument of a `tensor<...>` type, its encoding left out."""
    match = re.search(r"tensor<((?:[0-9?]+x)*)([A-Za-z][A-Za-z0-9]*)", text)
    if match is None:
        return None
    return Argument(match[2], tuple(None if dim == "?" else int(dim) for dim in match[1].split("x")[:-1]))


def _declared(function: ir.Operation) -> list[str]:
    """The argument types in `iree.abi.declaration`, e.g. `sync func @main(%input0: tensor<?x64xf32>) -> (...)`."""
    from iree.compiler import ir as mlir

    if "iree.reflection" not in function.attributes:
        return []
    reflection = mlir.DictAttr(function.attributes["iree.reflection"])
    if "iree.abi.declaration" not in reflection:
        return []
    text = str(mlir.StringAttr(reflection["iree.abi.declaration"]).value).split(" -> ")[0]
    return [match[1] for match in re.finditer(r"%[^:\s]+: (tensor<[^>]*>|[^,)]+)", text)]


def suggestion(arguments: Sequence[Argument], symbols: Iterable[str] = ()) -> list[str]:
    """Inputs to start a manifest from, as the manifest takes them.

    Each dynamic dim has a symbol of its own: the next of `symbols`, then A, B, C...
    """
    names = chain(symbols, string.ascii_uppercase, (f"D{number}" for number in count()))
    texts = []
    for argument in arguments:
        if argument.element is None:
            texts.append("TYPE")
        elif argument.dims is None:
            texts.append(format_input(Input(argument.element, None, (1,))))
        else:
            dims = tuple(next(names) if dim is None else dim for dim in argument.dims)
            texts.append(format_input(Input(argument.element, dims)))
    return texts
