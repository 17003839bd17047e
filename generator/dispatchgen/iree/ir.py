"""Reading IREE's IR with the compiler's Python bindings.

The bindings carry no types, so IR objects are `Any` here and in the packages above.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dispatchgen.errors import ModelError, Place, Problem, ToolError
from dispatchgen.iree.process import shorten

Operation = Any
Value = Any
Attribute = Any

#: How MLIR bytecode begins, which iree-compile writes in place of text where its flags ask for it.
BYTECODE = b"ML\xefR"


def bindings_version() -> str:
    """Version text of the Python bindings, e.g. `3.13.0rc20261016 @ 89ece87b`."""
    from iree.compiler import version

    revision = version.REVISIONS.get("IREE", "") if hasattr(version, "REVISIONS") else ""
    return f"{version.VERSION} @ {revision}" if revision else str(version.VERSION)


@contextmanager
def read_module(path: Path, compiler: str | None = None) -> Iterator[Operation]:
    """Parses a module, text or bytecode, and yields its `builtin.module` operation.

    Args:
      path: The file.
      compiler: Version text of the compiler that wrote it, to be named where the file cannot be parsed.

    Raises:
      ModelError: the file cannot be read or parsed by these bindings.
      ToolError: there are no bindings.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(Problem(f"cannot read the module: {error.strerror}", Place(str(path)))) from error
    try:
        with parse_module(data) as module:
            yield module
    except NotIR as error:
        written_by = f"written by iree-compile {compiler}, " if compiler else ""
        message = f"the module cannot be parsed: {written_by}read with the Python bindings {bindings_version()}"
        hint = "an iree-base-compiler of the same version as iree-compile"
        raise ModelError(Problem(f"{message}\n  {shorten(str(error), 600)}", Place(str(path)), hint)) from error


class NotIR(Exception):
    """Text or bytes that the bindings cannot parse.

    Attributes:
      messages: What the parser says: line, column (1-based; None: not known) and text.
    """

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.messages = [_message(diagnostic) for diagnostic in getattr(error, "error_diagnostics", ())]
        self.messages = self.messages or [(None, None, str(error))]


def _message(diagnostic: Any) -> tuple[int | None, int | None, str]:
    line, column = _line_and_column(diagnostic.location)
    return line, column, str(diagnostic.message).strip()


def _line_and_column(location: Any) -> tuple[int | None, int | None]:
    """Of a location such as `loc("-":3:5)`. Its text is the same in all releases of the bindings, its class is not."""
    place = re.search(r":(\d+):(\d+)\)$", str(location))
    return (int(place[1]), int(place[2])) if place and place[1] != "0" else (None, None)


@contextmanager
def parse_module(data: bytes | str) -> Iterator[Operation]:
    """Parses a module, text or bytecode, and yields its `builtin.module` operation.

    Raises NotIR, or ToolError where there are no bindings.
    """
    try:
        from iree.compiler import ir
    except ImportError as error:
        message = f"the Python bindings of IREE's compiler cannot be imported: {error}\n  Python: {sys.executable}"
        raise ToolError(Problem(message, hint="pip install iree-base-compiler")) from error

    with ir.Context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(data)
        except Exception as error:  # the bindings raise MLIRError, ValueError or UnicodeDecodeError
            raise NotIR(error) from error
        yield module.operation


def walk(operation: Operation, name: str | None = None) -> list[Operation]:
    """All operations inside `operation`, itself included, in order; only those called `name` where it is given."""
    from iree.compiler import ir

    found: list[Operation] = []

    def visit(op: Operation) -> Any:
        if name is None or op.name == name:
            found.append(op)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    return found


def body(module: Operation) -> list[Operation]:
    """The operations at the top of a module."""
    return [op.operation for op in module.regions[0].blocks[0].operations]


def string(operation: Operation, attribute: str) -> str | None:
    """A string attribute's value, or None where there is none."""
    from iree.compiler import ir

    if attribute not in operation.attributes:
        return None
    return str(ir.StringAttr(operation.attributes[attribute]).value)


def symbol(operation: Operation) -> str:
    """The symbol that an operation defines."""
    name = string(operation, "sym_name")
    assert name is not None
    return name


def symbol_ref(attribute: Attribute) -> tuple[str, ...]:
    """The parts of a symbol reference, e.g. `("main_dispatch_0", "embedded_elf_x86_64", "main_dispatch_0_matmul")`."""
    from iree.compiler import ir

    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return (str(attribute.value),)
    return tuple(str(part) for part in ir.SymbolRefAttr(attribute).value)


def integer(attribute: Attribute) -> int:
    """An integer attribute's value."""
    from iree.compiler import ir

    return int(ir.IntegerAttr(attribute).value)


def line(operation: Operation) -> int | None:
    """The line of the text that an operation was parsed from, 1-based; None where it does not say."""
    return _line_and_column(operation.location)[0]


def is_public(operation: Operation) -> bool:
    """Whether a symbol is visible outside the module."""
    return string(operation, "sym_visibility") in (None, "public")


_PLAIN_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


def symbol_text(name: str) -> str:
    """`@name` as MLIR prints it: quoted and escaped where it is not a plain identifier."""
    if _PLAIN_SYMBOL.fullmatch(name):
        return f"@{name}"
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return f'@"{escaped}"'
