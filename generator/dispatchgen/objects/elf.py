"""Reading ELF: objects for CPUs, and `.hsaco`, which AMD GPUs run."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dispatchgen.objects.model import EntryPoint, ObjectError, ObjectFile

#: LLVM's names of architectures by ELF machine and class, as a target triple starts with them.
_ARCHITECTURES = {
    ("EM_X86_64", 64): "x86_64",
    ("EM_X86_64", 32): "x86_64 (x32)",
    ("EM_386", 32): "i386",
    ("EM_AARCH64", 64): "aarch64",
    ("EM_ARM", 32): "arm",
    ("EM_RISCV", 64): "riscv64",
    ("EM_RISCV", 32): "riscv32",
    ("EM_PPC64", 64): "powerpc64",
    ("EM_S390", 64): "s390x",
}
_KINDS = {"ET_REL": "relocatable", "ET_DYN": "shared", "ET_EXEC": "executable"}
#: Relocations of x86-64 with an absolute address of 32 bits, which no shared object can have (System V ABI).
_ABSOLUTE_RELOCATIONS = {"EM_X86_64": frozenset((10, 11))}
#: Flags of sections (System V ABI).
_SHF_ALLOC, _SHF_TLS = 0x2, 0x400
_CONSTRUCTORS = frozenset(("SHT_INIT_ARRAY", "SHT_FINI_ARRAY", "SHT_PREINIT_ARRAY"))
#: What the linker defines itself.
_LINKER_DEFINED = frozenset(("_GLOBAL_OFFSET_TABLE_", "_DYNAMIC", "__dso_handle", "__ehdr_start"))
#: `amdhsa.target` in the note of type NT_AMDGPU_METADATA, e.g. `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`.
_AMDGPU_TARGET = re.compile(rb"-amd-amdhsa-[a-z]*-(gfx[0-9a-z-]+)")
#: Offset of `kernarg_size` in a kernel descriptor, which has 64 bytes (LLVM, User Guide for AMDGPU Backend).
_KERNARG_SIZE_OFFSET = 8
_KERNEL_DESCRIPTOR_SUFFIX = ".kd"


def parse(path: Path, data: bytes) -> ObjectFile:
    """Reads an ELF file. Raises ObjectError where it is cut short, malformed or of a kind that is no object."""
    from elftools.elf.elffile import ELFFile

    try:
        file = ELFFile(io.BytesIO(data))
        _check_size(file, data)
        return _object(path, data, file)
    except ObjectError:
        raise
    except Exception as error:  # pyelftools raises whatever the bytes lead to: ELFError, KeyError, struct.error...
        raise ObjectError(f"the object is malformed: not ELF that can be read ({type(error).__name__})") from error


def _check_size(file: Any, data: bytes) -> None:
    """Raises ObjectError where the section headers lie beyond the file's end: then it was cut short."""
    header = file.header
    end = header["e_shoff"] + file.num_sections() * header["e_shentsize"]
    if end > len(data):
        raise ObjectError(f"the object is cut short: it has {len(data)} bytes; its section headers end at {end}")
    for section in file.iter_sections():
        end = section["sh_offset"] + section["sh_size"]
        if section["sh_type"] != "SHT_NOBITS" and end > len(data):
            raise ObjectError(
                f"the object is cut short: it has {len(data)} bytes; section {section.name} ends at {end}"
            )


def _object(path: Path, data: bytes, file: Any) -> ObjectFile:
    kind = _KINDS.get(file.header["e_type"])
    if kind is None:
        raise ObjectError(f"the object is ELF of type {file.header['e_type']}; expected ET_REL or ET_DYN")
    is_amdgpu = file.header["e_machine"] == "EM_AMDGPU"
    symbols = _symbols(file)
    defined = {symbol.name: symbol for symbol in symbols if _is_defined(symbol)}
    if "__gnu_lto_slim" in defined:
        raise ObjectError("the object holds no machine code, but GCC's intermediate code", "compile without -flto")
    if is_amdgpu:
        entries = tuple(_kernel(file, symbol) for name, symbol in defined.items() if _is_descriptor(name, symbol))
    else:
        entries = tuple(map(EntryPoint, _functions(defined)))
    return ObjectFile(
        path=path,
        data=data,
        format="hsaco" if is_amdgpu else "elf",
        architecture=_amdgpu_target(file) if is_amdgpu else _architecture(file),
        kind=kind,  # type: ignore[arg-type]
        entry_points=entries,
        defined=tuple(sorted(defined)),
        undefined=tuple(sorted({symbol.name for symbol in symbols if _is_undefined(symbol)} - _LINKER_DEFINED)),
        unsupported=() if is_amdgpu else tuple(_unsupported(file)),
        big_endian=not file.little_endian,
    )


def _symbols(file: Any) -> list[Any]:
    """The symbols; those of the dynamic table where the others were stripped."""
    for kind in ("SHT_SYMTAB", "SHT_DYNSYM"):
        tables = [section for section in file.iter_sections() if section["sh_type"] == kind]
        if tables:
            return [symbol for table in tables for symbol in table.iter_symbols()]
    return []


def _functions(defined: Mapping[str, Any]) -> list[str]:
    """The functions among symbols; labels where there are none, since assemblers do not ask for a type."""
    for kind in ("STT_FUNC", "STT_NOTYPE"):
        names = [name for name, symbol in defined.items() if symbol["st_info"]["type"] == kind]
        if names:
            return names
    return []


def _is_defined(symbol: Any) -> bool:
    return bool(symbol.name) and symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"


def _is_undefined(symbol: Any) -> bool:
    return bool(symbol.name) and symbol["st_shndx"] == "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"


def _unsupported(file: Any) -> Iterator[str]:
    """What an object has that executables do not: IREE's loader runs no constructors and knows no threads' memory."""
    sections = [section for section in file.iter_sections() if section["sh_flags"] & _SHF_ALLOC]
    if any(section["sh_flags"] & _SHF_TLS for section in sections):
        yield "thread-local variables"
    if any(section["sh_type"] in _CONSTRUCTORS and section["sh_size"] for section in sections):
        yield "constructors or destructors, which would not run"
    absolute = _ABSOLUTE_RELOCATIONS.get(file.header["e_machine"], frozenset())
    tables = [section for section in file.iter_sections() if section["sh_type"] == "SHT_RELA"]
    loaded = [table for table in tables if file.get_section(table["sh_info"])["sh_flags"] & _SHF_ALLOC]
    if any(entry["r_info_type"] in absolute for table in loaded for entry in table.iter_relocations()):
        yield "absolute addresses (compile with -fPIC)"


def _architecture(file: Any) -> str:
    machine = file.header["e_machine"]
    return _ARCHITECTURES.get((machine, file.elfclass), f"{machine} ({file.elfclass} bit)")


def _is_descriptor(name: str, symbol: Any) -> bool:
    return name.endswith(_KERNEL_DESCRIPTOR_SUFFIX) and symbol["st_info"]["type"] == "STT_OBJECT"


def _kernel(file: Any, descriptor: Any) -> EntryPoint:
    """The kernel that a kernel descriptor describes."""
    section = file.get_section(descriptor["st_shndx"])
    offset = descriptor["st_value"] - section["sh_addr"] + _KERNARG_SIZE_OFFSET
    (kernarg_size,) = struct.unpack_from("<I", section.data(), offset)
    return EntryPoint(descriptor.name.removesuffix(_KERNEL_DESCRIPTOR_SUFFIX), parameter_bytes=kernarg_size)


def _amdgpu_target(file: Any) -> str:
    for section in file.iter_sections():
        if section["sh_type"] == "SHT_NOTE" and (match := _AMDGPU_TARGET.search(section.data())):
            return str(match[1], "ascii")
    raise ObjectError("the object is for an AMD GPU, but does not say for which: it has no note with amdhsa.target")
