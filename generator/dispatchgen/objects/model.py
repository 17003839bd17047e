"""Object files as all parts of this package see them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

#: elf: machine code for a CPU; hsaco: ELF for an AMD GPU; spirv: for Vulkan; ptx: for an NVIDIA GPU.
ObjectFormat = Literal["elf", "hsaco", "spirv", "ptx"]


@dataclass(frozen=True)
class EntryPoint:
    """A function that a dispatch can call. None: the format does not say, or the object leaves it open."""

    name: str
    execution_model: str | None = None  #: SPIR-V's, e.g. `GLCompute`.
    workgroup_size: tuple[int, int, int] | None = None  #: Threads in each dimension that it must be launched with.
    max_threads: int | None = None  #: The most threads of a workgroup that it may be launched with.
    parameters: int | None = None  #: How many parameters it has.
    parameter_bytes: int | None = None  #: Bytes of arguments that it takes.


@dataclass(frozen=True)
class ObjectFile:
    """An object file."""

    path: Path  #: For messages.
    data: bytes
    format: ObjectFormat
    architecture: str  #: e.g. `x86_64`, `gfx942`, `v1.3` (of SPIR-V), `sm_80`.
    kind: Literal["relocatable", "shared", "executable", "module"]
    entry_points: tuple[EntryPoint, ...]
    defined: tuple[str, ...] = ()  #: Symbols of ELF that other objects can refer to, functions or not, weak too.
    undefined: tuple[str, ...] = ()  #: Symbols of ELF that it needs and does not define, weak ones left out.
    unsupported: tuple[str, ...] = ()  #: What it has for CPUs that IREE's executables cannot have, in words.
    descriptors: tuple[tuple[int, int], ...] | None = None  #: Descriptor set and binding of SPIR-V's buffers.
    push_constant_bytes: int = 0  #: How far SPIR-V's push constant block reaches.
    big_endian: bool = False


class ObjectError(Exception):
    """What is wrong with an object's content, with a hint."""

    def __init__(self, message: str, hint: str = "compile it again"):
        self.hint = hint
        super().__init__(message)
