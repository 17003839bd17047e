"""Object files: what a kernel was compiled for, and what it defines and needs.

`read_object` tells the formats apart by their content, not by the file's suffix, and reads them with `elf`, `spirv` and
`ptx`. Whether an object fits a dispatch is told by `fit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.objects import elf, ptx, spirv
from dispatchgen.objects.model import ObjectError, ObjectFile

#: The largest object that is read, in bytes: it becomes hexadecimal text in the IR.
_MAX_SIZE = 256 << 20


@dataclass(frozen=True)
class _Foreign:
    """A format that cannot be substituted, and what to do about it."""

    name: str
    hint: str


#: First bytes of what is named like an object at times, and is none that can be linked or loaded here.
_FOREIGN = {
    b"!<arch>\n": _Foreign("a static library", "name one of its members: ar x LIBRARY"),
    b"!<thin>\n": _Foreign("a thin static library", "name one of the objects that it lists"),
    b"BC\xc0\xde": _Foreign("LLVM bitcode", "compile to machine code: without -flto and -emit-llvm"),
    b"\xde\xc0\x17\x0b": _Foreign("LLVM bitcode", "compile to machine code: without -flto and -emit-llvm"),
    b"\xcf\xfa\xed\xfe": _Foreign("Mach-O", "compile to ELF, e.g. clang --target=x86_64-unknown-unknown-eabi-elf"),
    b"\xfe\xed\xfa\xcf": _Foreign("Mach-O", "compile to ELF, e.g. clang --target=x86_64-unknown-unknown-eabi-elf"),
    b"\x64\x86": _Foreign("COFF", "compile to ELF, e.g. clang --target=x86_64-unknown-unknown-eabi-elf"),
    b"__CLANG_OFFLOAD_BUNDLE__": _Foreign(
        "a bundle of code for several GPUs",
        "compile with --no-gpu-bundle-output, or take it apart: clang-offload-bundler",
    ),
    b"CCOB": _Foreign(
        "a compressed bundle of code for several GPUs",
        "compile with --no-gpu-bundle-output, or take it apart: clang-offload-bundler",
    ),
    b"\x50\xed\x55\xba": _Foreign("a fat binary of CUDA", "compile with nvcc --ptx"),
    b"; SPIR-V": _Foreign("SPIR-V as text", "assemble it: spirv-as"),
    b"#version": _Foreign("GLSL", "name it with the suffix .comp or .glsl, so that it is compiled"),
}
_SPIRV_MAGIC = 0x07230203


def read_object(file: Path, shown: str | None = None) -> ObjectFile:
    """Reads an object file.

    Args:
      file: The file.
      shown: What messages call it, and `ObjectFile.path`; None: the same.

    Raises:
      SubstitutionError: it cannot be read, is empty, cut short or malformed, or in a format that IREE does not take.
    """
    path = file if shown is None else Path(shown)
    data = _read(file, Place(str(path)))
    for magic, foreign in _FOREIGN.items():
        if data.startswith(magic):
            message = f"the object is {foreign.name}; expected ELF, SPIR-V or PTX"
            raise SubstitutionError(Problem(message, Place(str(path)), foreign.hint))
    try:
        return _parse(path, data)
    except ObjectError as error:
        raise SubstitutionError(Problem(str(error), Place(str(path)), error.hint)) from None


def _parse(path: Path, data: bytes) -> ObjectFile:
    if data.startswith(b"\x7fELF"):
        return elf.parse(path, data)
    if int.from_bytes(data[:4], "little") == _SPIRV_MAGIC or int.from_bytes(data[:4], "big") == _SPIRV_MAGIC:
        return spirv.parse(path, data)
    if ptx.is_ptx(data):
        return ptx.parse(path, data)
    start = data[:8].hex(" ")
    raise ObjectError(f"the object is not ELF, SPIR-V or PTX: it starts with the bytes {start}")


def _read(file: Path, place: Place) -> bytes:
    try:
        size = file.stat().st_size
        if size > _MAX_SIZE:
            message = f"the object has {size} bytes; at most {_MAX_SIZE} are allowed"
            raise SubstitutionError(Problem(message, place, "compile without debug information"))
        data = file.read_bytes()
    except OSError as error:
        raise SubstitutionError(Problem(f"cannot read the object: {error.strerror}", place)) from error
    if not data:
        raise SubstitutionError(Problem("the object is empty", place, "compile it again"))
    return data
