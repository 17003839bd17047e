"""What a model's source says of the dims of its inputs, and the importers lose: names, and which are equal.

torch.export's symbols are `torch.symbolic_int` and `torch.bind_symbolic_shape` in the MLIR that it becomes; ONNX has
`dim_param`.
"""

from __future__ import annotations

import mmap
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dispatchgen.extract.assumptions import Assumption
from dispatchgen.extract.names import numbered
from dispatchgen.extract.signature import Argument
from dispatchgen.iree import ir
from dispatchgen.manifest.inputs import why_not_a_symbol
from dispatchgen.manifest.suite import SourceFormat

_BIND = "torch.bind_symbolic_shape"
_SYMBOL = "torch.symbolic_int"
#: What is in the bytes of a module that has the operation, as text or as bytecode.
_MARK = b"bind_symbolic_shape"
#: What exporters call dims that have no name.
_UNNAMED = re.compile(r"(unk__|dynamic_axes_|\?)\w*")
#: What some call all of them, which are not equal for that.
_UNKNOWN = re.compile(r"\?|-1|unk|unknown|none", re.IGNORECASE)


@dataclass(frozen=True)
class SourceDim:
    """A dim that is `scale` times a symbol plus `offset`."""

    symbol: str  #: As the source has it. The text of an expression that is not linear in one symbol stands for itself.
    scale: int = 1
    offset: int = 0
    assumption: Assumption | None = None  #: Of the symbol.

    def __str__(self) -> str:
        text = self.symbol if self.scale == 1 else f"{self.symbol} * {self.scale}"
        return f"{text} {'-' if self.offset < 0 else '+'} {abs(self.offset)}" if self.offset else text


#: The dims of each input, in order; None where the source says nothing of one.
Inputs = Mapping[int, Sequence[SourceDim | None]]


@dataclass(frozen=True)
class SourceDims:
    """What a source says of the inputs of its functions."""

    functions: Mapping[str | None, Inputs] = field(default_factory=dict)  #: None: of the only function.

    def of(self, function: str, index: int, dim: int) -> SourceDim | None:
        """What it says of a dim of an input."""
        dims = self.functions.get(function, self.functions.get(None, {})).get(index, ())
        return dims[dim] if dim < len(dims) else None


def source_dims(path: Path, form: SourceFormat) -> SourceDims:
    """Reads a model's source, which the importer or the compiler has read before; what it does not say is left out."""
    if form == "onnx":
        return SourceDims({None: _of_onnx(path)})
    if not _mentions(path, _MARK):
        return SourceDims()
    try:
        with ir.parse_module(path.read_bytes()) as module:
            functions = [op for op in ir.walk(module) if op.name in ("func.func", "util.func")]
            return SourceDims({ir.symbol(function): _of_torch(function) for function in functions})
    except ir.NotIR:  # of a dialect that the compiler knows and its bindings do not
        return SourceDims()


def symbol_names(arguments: Mapping[str, Sequence[Argument]], source: SourceDims) -> Iterator[str]:
    """A symbol for each dynamic dim of the arguments of functions: named as in the source, the same where it has the
    same size, else A, B, C... by position."""
    names: dict[str, str] = {}
    dims = [
        (function, index, dim)
        for function, of_function in arguments.items()
        for index, argument in enumerate(of_function)
        for dim, size in enumerate(argument.dims or ())
        if size is None
    ]
    for number, place in enumerate(dims):
        stated = source.of(*place)
        letter = string.ascii_uppercase[number] if number < len(string.ascii_uppercase) else f"D{number}"
        plain = re.sub(r"[^A-Za-z0-9_]", "", stated.symbol).upper() if stated is not None else ""
        is_usable = stated is not None and why_not_a_symbol(plain) is None and not _UNNAMED.fullmatch(stated.symbol)
        key = f" {number}" if stated is None else str(stated)
        yield names.setdefault(key, numbered(plain if is_usable else letter, set(names.values())))


def _mentions(path: Path, mark: bytes) -> bool:
    """Whether a file holds these bytes; weights may make it large."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(mark) >= 0


def _of_onnx(path: Path) -> Inputs:
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    weights = {initializer.name for initializer in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    return {
        index: [_of_dim_param(dim.dim_param) for dim in value.type.tensor_type.shape.dim]
        for index, value in enumerate(inputs)
    }


def _of_dim_param(name: str) -> SourceDim | None:
    return SourceDim(name) if name and not _UNKNOWN.fullmatch(name) else None


def _of_torch(function: ir.Operation) -> Inputs:
    if not function.regions[0].blocks:
        return {}
    arguments = list(function.regions[0].blocks[0].arguments)
    found = {}
    for bind in ir.walk(function, _BIND):
        value, *operands = bind.operands
        symbols = [operand.owner for operand in operands]
        if value in arguments and all(getattr(symbol, "name", None) == _SYMBOL for symbol in symbols):
            names = [ir.string(symbol, "symbol_name") or str(number) for number, symbol in enumerate(symbols)]
            ranges = [_range(symbol) for symbol in symbols]
            expressions = bind.attributes["shape_expressions"].value.results
            found[arguments.index(value)] = [_dim(expression, names, ranges) for expression in expressions]
    return found


def _range(symbol: ir.Operation) -> Assumption:
    return Assumption(max(0, ir.integer(symbol.attributes["min_val"])), ir.integer(symbol.attributes["max_val"]))


def _dim(expression: Any, names: Sequence[str], ranges: Sequence[Assumption]) -> SourceDim | None:
    linear = _linear(expression)
    if linear is None:
        return SourceDim(_named(str(expression), names))
    factors, offset = linear
    terms = [(position, factor) for position, factor in factors.items() if factor]
    if not terms:
        return None  # a constant
    position, factor = terms[0]
    if len(terms) > 1 or factor < 1:
        return SourceDim(_named(str(expression), names))
    return SourceDim(names[position], factor, offset, ranges[position])


def _linear(expression: Any) -> tuple[dict[int, int], int] | None:
    """An affine expression as factors by symbol and a constant; None: it has divisions or products of symbols."""
    from iree.compiler import ir as mlir

    if isinstance(expression, mlir.AffineConstantExpr):
        return {}, int(expression.value)
    if isinstance(expression, mlir.AffineSymbolExpr):
        return {int(expression.position): 1}, 0
    if not isinstance(expression, (mlir.AffineAddExpr, mlir.AffineMulExpr)):
        return None
    left, right = _linear(expression.lhs), _linear(expression.rhs)
    if left is None or right is None:
        return None
    if isinstance(expression, mlir.AffineAddExpr):
        return {p: left[0].get(p, 0) + right[0].get(p, 0) for p in {**left[0], **right[0]}}, left[1] + right[1]
    if left[0] and right[0]:
        return None
    factors, factor = (left, right[1]) if left[0] else (right, left[1])
    return {position: value * factor for position, value in factors[0].items()}, factors[1] * factor


def _named(text: str, names: Sequence[str]) -> str:
    """The text of an affine expression with names in place of `s0`, `s1`..."""
    return re.sub(r"\bs(\d+)\b", lambda match: names[int(match[1])], text)
