"""Reading SPIR-V modules, as far as an interface goes. Numbers are those of the SPIR-V specification, chapter 3."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.objects.model import EntryPoint, ObjectError, ObjectFile

_MAGIC = 0x07230203
_HEADER_WORDS = 5

_OP_ENTRY_POINT = 15
_OP_EXECUTION_MODE = 16
_OP_TYPE_POINTER = 32
_OP_VARIABLE = 59
_OP_DECORATE = 71
_OP_MEMBER_DECORATE = 72
#: Fewest words of these instructions, the first one with their opcode included.
_MINIMUM_WORDS = {
    _OP_ENTRY_POINT: 4,
    _OP_EXECUTION_MODE: 3,
    _OP_TYPE_POINTER: 4,
    _OP_VARIABLE: 4,
    _OP_DECORATE: 3,
    _OP_MEMBER_DECORATE: 4,
}
_EXECUTION_MODELS = (
    *("Vertex", "TessellationControl", "TessellationEvaluation", "Geometry", "Fragment", "GLCompute", "Kernel"),
)
_MODE_LOCAL_SIZE = 17
_DECORATION_BINDING = 33
_DECORATION_DESCRIPTOR_SET = 34
_DECORATION_OFFSET = 35
_STORAGE_PUSH_CONSTANT = 9
#: Bytes of the smallest member of a push constant block that IREE fills: its constants are i32.
_PUSH_CONSTANT_BYTES = 4


@dataclass
class _Module:
    """What is collected while going through the instructions; keys are result ids."""

    entry_points: dict[int, tuple[str, str]] = field(default_factory=dict)  #: Execution model and name by function.
    local_sizes: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    bindings: dict[int, int] = field(default_factory=dict)
    sets: dict[int, int] = field(default_factory=dict)
    pointees: dict[int, int] = field(default_factory=dict)
    push_constants: list[int] = field(default_factory=list)  #: Types of the variables.
    last_offsets: dict[int, int] = field(default_factory=dict)  #: Largest offset of a member by struct.


def parse(path: Path, data: bytes) -> ObjectFile:
    """Reads a SPIR-V module. Raises ObjectError where it is cut short or malformed."""
    big_endian = int.from_bytes(data[:4], "big") == _MAGIC
    words = _words(data, ">" if big_endian else "<")
    module = _Module()
    for opcode, operands in _instructions(words):
        _collect(module, opcode, operands)
    version = words[1]
    return ObjectFile(
        path=path,
        data=data,
        format="spirv",
        architecture=f"v{version >> 16 & 0xFF}.{version >> 8 & 0xFF}",
        kind="module",
        entry_points=tuple(
            EntryPoint(name, execution_model=model, workgroup_size=module.local_sizes.get(function))
            for function, (model, name) in module.entry_points.items()
        ),
        descriptors=tuple(
            sorted((module.sets.get(variable, 0), binding) for variable, binding in module.bindings.items())
        ),
        push_constant_bytes=max(
            (
                module.last_offsets.get(module.pointees.get(type_, -1), 0) + _PUSH_CONSTANT_BYTES
                for type_ in module.push_constants
            ),
            default=0,
        ),
        big_endian=big_endian,
    )


def _words(data: bytes, order: str) -> Sequence[int]:
    if len(data) % 4 or len(data) < 4 * _HEADER_WORDS:
        raise ObjectError(f"the object is cut short: {len(data)} bytes are not a whole number of SPIR-V's words")
    return struct.unpack(f"{order}{len(data) // 4}I", data)


def _instructions(words: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    """Opcode and operands of each instruction. Raises ObjectError where one does not fit into the module."""
    at = _HEADER_WORDS
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if count < _MINIMUM_WORDS.get(opcode, 1):
            raise ObjectError(f"the object is malformed: SPIR-V instruction {opcode} at word {at} has {count} words")
        if at + count > len(words):
            raise ObjectError(
                f"the object is cut short: it has {len(words)} words; SPIR-V instruction {opcode} ends at {at + count}"
            )
        yield opcode, words[at + 1 : at + count]
        at += count


def _collect(module: _Module, opcode: int, operands: Sequence[int]) -> None:
    if opcode == _OP_ENTRY_POINT:
        model, function, *rest = operands
        name = _EXECUTION_MODELS[model] if model < len(_EXECUTION_MODELS) else str(model)
        module.entry_points[function] = (name, _string(rest))
    elif opcode == _OP_EXECUTION_MODE and operands[1] == _MODE_LOCAL_SIZE and len(operands) == 5:
        module.local_sizes[operands[0]] = (operands[2], operands[3], operands[4])
    elif opcode == _OP_TYPE_POINTER:
        module.pointees[operands[0]] = operands[2]
    elif opcode == _OP_VARIABLE and operands[2] == _STORAGE_PUSH_CONSTANT:
        module.push_constants.append(operands[0])
    elif opcode == _OP_DECORATE and len(operands) == 3:
        target, decoration, value = operands
        if decoration == _DECORATION_BINDING:
            module.bindings[target] = value
        elif decoration == _DECORATION_DESCRIPTOR_SET:
            module.sets[target] = value
    elif opcode == _OP_MEMBER_DECORATE and operands[2] == _DECORATION_OFFSET and len(operands) == 4:
        module.last_offsets[operands[0]] = max(module.last_offsets.get(operands[0], 0), operands[3])


def _string(words: Sequence[int]) -> str:
    """A literal string: UTF-8, the first byte in the lowest bits of a word, ended by a zero byte."""
    return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode("utf-8", "replace")
