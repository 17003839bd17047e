"""The data of resources, which MLIR prints behind a module, apart from the `dense_resource<key>` that refers to it.

    module { ... dense_resource<key> ... }
    {-#
      dialect_resources: { builtin: { key: "0x<alignment in 4 bytes><data>" } }
    #-}

An operation that is taken out of its module has to take the data along. Here keys are hashes of the data: so equal
text is equal code, keys of different modules never mean different data, and what the compiler gets is as it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from textwrap import indent

from dispatchgen.errors import ModelError, Problem
from dispatchgen.iree import ir

_KEY = r'"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_$.]*'
_REFERENCE = re.compile(rf"\bdense_resource<(?P<key>{_KEY})>")
#: How the part of a text starts that holds the data.
_BEGIN = "\n{-#\n"
_SECTION = "  dialect_resources: {\n"
_BUILTIN = "    builtin: {\n"
_ENTRY = re.compile(rf'^ *(?P<key>{_KEY}): "0x(?P<data>[0-9A-Fa-f]*)",?$', re.MULTILINE)


def operation_asm(operation: ir.Operation, *, locations: bool = False) -> str:
    """The text of an operation on its own, the data of its resources behind it.

    Args:
      operation: The operation.
      locations: Whether the text has locations.

    Raises ModelError where the data of a resource is not there.
    """
    text = str(operation.get_asm(use_local_scope=True, enable_debug_info=locations))
    if _REFERENCE.search(text) is None:
        return text
    missing = missing_resources(operation)
    if missing:
        raise ModelError(Problem(f"the module has no data for {', '.join(missing)}"))
    data = _data(operation)
    text = _REFERENCE.sub(lambda match: f"dense_resource<{_name(data[match['key']])}>", text)
    return with_resources(text, {_name(each): each for each in data.values()})


def missing_resources(operation: ir.Operation) -> tuple[str, ...]:
    """The resources, as in `dense_resource<w>`, that an operation refers to and whose data its module does not have."""
    text = operation.get_asm(use_local_scope=True)
    found = {match["key"]: match[0] for match in _REFERENCE.finditer(text)}
    data = _data(operation) if found else {}
    return tuple(reference for key, reference in found.items() if key not in data)


def module_of(parts: Sequence[str]) -> str:
    """The text of a module of operations, each as `operation_asm` gives it."""
    split = [split_resources(part) for part in parts]
    text = "module {\n" + "\n".join(indent(body.strip("\n"), "  ") for body, _ in split) + "\n}\n"
    return with_resources(text, {key: data for _, resources in split for key, data in resources.items()})


def module_asm(module: ir.Operation) -> str:
    """The text of a module as iree-compile writes it: without aliases, the data of resources behind it."""
    _, begin, resources = str(module.get_asm()).rpartition(_BEGIN)
    return f"{module.get_asm(use_local_scope=True)}{begin}{resources if begin else ''}"


def split_resources(text: str) -> tuple[str, dict[str, str]]:
    """A text without the data of its resources, and the data: keys as they are printed, and hexadecimal digits."""
    body, begin, resources = text.rpartition(_BEGIN)
    if not begin:
        return text, {}
    entries = resources.partition(_BUILTIN)[2].partition("\n    }")[0]
    return body, {entry["key"]: entry["data"] for entry in _ENTRY.finditer(entries)}


def with_resources(text: str, resources: Mapping[str, str]) -> str:
    """A text that has the data of these resources behind it besides its own."""
    there = split_resources(text)[1] if resources else {}
    entries = [f'      {key}: "0x{data}"' for key, data in sorted(resources.items()) if key not in there]
    if not entries:
        return text
    new = ",\n".join(entries)
    builtin = f"{_BUILTIN}{new}\n    }}"
    body, begin, tail = text.rpartition(_BEGIN)
    if not begin:
        return f"{text}{_BEGIN}{_SECTION}{builtin}\n  }}\n#-}}\n"
    if _BUILTIN in tail:
        tail = tail.replace(_BUILTIN, f"{_BUILTIN}{new},\n", 1)
    elif _SECTION in tail:
        tail = tail.replace(_SECTION, f"{_SECTION}{builtin},\n", 1)
    else:
        tail = f"{_SECTION}{builtin}\n  }},\n{tail}"
    return body + begin + tail


def _name(data: str) -> str:
    return f"resource_{hashlib.sha256(data.upper().encode()).hexdigest()[:16]}"


def _data(operation: ir.Operation) -> dict[str, str]:
    """The data of the resources that an operation refers to, as `split_resources` gives it."""
    # MLIR prints the data only behind an operation that is in no other.
    return split_resources(str(operation.clone().get_asm()))[1]
