"""The data of resources, which MLIR prints at the end of a module, apart from the `dense_resource<key>` that names it.

An operation that is taken out of its module has to take the data along. Here it becomes part of the text, as
`dense<"0x...">`: so equal text is equal code, and keys of different modules never meet.
"""

from __future__ import annotations

import re

from dispatchgen.errors import ModelError, Problem
from dispatchgen.iree import ir

_KEY = r'"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_$.]*'
_REFERENCE = re.compile(rf"\bdense_resource<(?P<key>{_KEY})>")
#: How the part of a module's text starts that holds the data.
_BEGIN = "\n{-#\n"
#: The part that `dense_resource` refers to, with an entry a line.
_BUILTIN = re.compile(r"^    builtin: \{\n(?P<entries>.*?)\n    \}", re.DOTALL | re.MULTILINE)
#: Data is written as a string of hexadecimal digits: its alignment in 4 bytes, then the bytes.
_ENTRY = re.compile(rf'^ *(?P<key>{_KEY}): "0x[0-9A-Fa-f]{{8}}(?P<data>[0-9A-Fa-f]*)",?$', re.MULTILINE)


def operation_asm(operation: ir.Operation, *, locations: bool = False) -> str:
    """The text of an operation on its own, the data of its resources in it.

    Args:
      operation: The operation.
      locations: Whether the text has locations.

    Raises ModelError where the data of a resource is not there, or does not fit its type.
    """
    text = str(operation.get_asm(use_local_scope=True, enable_debug_info=locations))
    if _REFERENCE.search(text) is None:
        return text
    missing, data = missing_resources(operation), _data(operation)
    if missing:
        raise ModelError(Problem(f"the module has no data for {', '.join(missing)}"))
    try:
        with ir.parse_module(_REFERENCE.sub(lambda match: f'dense<"0x{data[match["key"]]}">', text)) as module:
            (alone,) = ir.body(module)
            return str(alone.get_asm(use_local_scope=True, enable_debug_info=locations))
    except ir.NotIR as error:
        raise ModelError(Problem(f"the data of a resource does not fit its type: {error.messages[0][2]}")) from error


def missing_resources(operation: ir.Operation) -> tuple[str, ...]:
    """The resources, as in `dense_resource<w>`, that an operation refers to and whose data its module does not have."""
    text = operation.get_asm(use_local_scope=True)
    found = {match["key"]: match[0] for match in _REFERENCE.finditer(text)}
    data = _data(operation) if found else {}
    return tuple(reference for key, reference in found.items() if key not in data)


def module_asm(module: ir.Operation) -> str:
    """The text of a module as iree-compile writes it: without aliases, the data of resources behind it."""
    _, begin, resources = str(module.get_asm()).rpartition(_BEGIN)
    return f"{module.get_asm(use_local_scope=True)}{begin}{resources if begin else ''}"


def _data(operation: ir.Operation) -> dict[str, str]:
    """The data of the resources that an operation refers to: key, as it is printed, and hexadecimal digits."""
    # MLIR prints the data only behind an operation that is in no other.
    _, begin, resources = str(operation.clone().get_asm()).rpartition(_BEGIN)
    builtin = _BUILTIN.search(resources) if begin else None
    return {entry["key"]: entry["data"] for entry in _ENTRY.finditer(builtin["entries"])} if builtin else {}
