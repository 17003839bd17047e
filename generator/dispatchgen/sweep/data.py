"""What the bindings of a swept dispatch hold, and how iree-benchmark-executable is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from dispatchgen.buffers import elements, uses
from dispatchgen.buffers.contents import ZEROS, Content, Piece, filled
from dispatchgen.extract.program import Export
from dispatchgen.extract.schema import Benchmark
from dispatchgen.files import write_if_changed
from dispatchgen.iree.executable import function_of
from dispatchgen.manifest.fills import Random

#: What `--data` may say.
DataKind: TypeAlias = Literal["zeros", "random"]


def contents(kind: DataKind, export: Export, benchmark: Benchmark) -> tuple[Content, ...]:
    """What each binding holds: zeros, or what suits its elements; positions are in bounds."""
    if kind == "zeros":
        return (ZEROS,) * len(benchmark.bindings)
    kernel = function_of(export.executable_op, export.name)
    constants = [value for _, value in benchmark.constants]
    restricted = uses.bounds(kernel, constants)

    def pieces(ordinal: int) -> list[Piece]:
        found = elements.pieces(kernel, ordinal, constants)
        return [Piece(at, element, uses.bound_of(restricted, ordinal, element)) for at, element in found]

    return tuple(filled(Random(), pieces(i), i, explicit=False) for i in range(len(benchmark.bindings)))


def binding_flags(held: Sequence[Content], lengths: Sequence[int], folder: Path) -> list[str]:
    """Values of `--binding=`; what is not zeros is written to files in `folder`."""
    flags = []
    for ordinal, (content, length) in enumerate(zip(held, lengths, strict=True)):
        flag = f"{length}xi8"
        if content.pattern != b"\0" and length:
            file = folder / f"binding{ordinal}.bin"
            write_if_changed(file, content.data(length))
            flag += f"=@{file}"
        flags.append(flag)
    return flags
