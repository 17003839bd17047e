"""Whether an object fits the dispatch whose kernel it is to replace.

iree-compile checks none of this: an object that does not fit crashes it, fails when it is loaded, or runs and computes
something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dispatchgen.errors import Place, Problem
from dispatchgen.iree.executable import Executable, Layout
from dispatchgen.manifest.names import did_you_mean, show, show_all
from dispatchgen.objects.model import EntryPoint, ObjectFile, ObjectFormat

#: What objects are in, by the backend of the target, and how people call that.
_FORMATS: dict[str, tuple[ObjectFormat, str]] = {
    "llvm-cpu": ("elf", "ELF (.o)"),
    "vulkan-spirv": ("spirv", "SPIR-V (.spv)"),
    "cuda": ("ptx", "PTX (.ptx)"),
    "rocm": ("hsaco", "ELF for AMD GPUs (.hsaco)"),
}
_FORMAT_NAMES = dict(_FORMATS.values())
#: Architectures that go by several names in target triples.
_ALIASES = {"amd64": "x86_64", "i486": "i386", "i586": "i386", "i686": "i386", "arm64": "aarch64", "thumb": "arm"}
_ARM_VERSION = re.compile(r"^(arm|thumb)(v\d\w*)?$")
#: Why compilers call these although the source does not, and what keeps them from it.
_IMPLICIT_CALLS = {
    "__stack_chk_fail": "-fno-stack-protector",
    "memcpy": "-fno-tree-loop-distribute-patterns",
    "memset": "-fno-tree-loop-distribute-patterns",
    "memmove": "-fno-tree-loop-distribute-patterns",
}
#: What compilers call for thread-local variables, which are refused as such.
_OF_UNSUPPORTED = frozenset(("__tls_get_addr",))
#: Bytes of a pointer to a binding and of a constant, as kernels of GPUs take them.
_POINTER_BYTES = 8
_CONSTANT_BYTES = 4


@dataclass(frozen=True)
class ObjectFit:
    """How an object fits: what is called in it, and in what it was made for another target that may still do."""

    entry: EntryPoint
    target_differences: tuple[str, ...]


def fit_object(original: Executable, object_file: ObjectFile, entry: str | None) -> ObjectFit | list[Problem]:
    """How an object fits an executable, or all that is wrong.

    Args:
      entry: Name of the entry point; None: the object's only one.
    """
    target = dict(original.target_keys)
    wrong_format = _format(target, object_file)
    if wrong_format is not None:
        return [wrong_format]
    layout = original.exports[0].layout
    chosen = _choose(object_file, entry)
    problems = [*_target(target, object_file)]
    if isinstance(chosen, Problem):
        problems.append(chosen)
    else:
        problems += _interface(layout, object_file, chosen)
    if problems or isinstance(chosen, Problem):
        return problems
    return ObjectFit(chosen, tuple(_differences(target, object_file)))


def _place(object_file: ObjectFile) -> Place:
    return Place(str(object_file.path))


def _format(target: Mapping[str, str], object_file: ObjectFile) -> Problem | None:
    backend = target.get("backend", "")
    place = _place(object_file)
    if backend not in _FORMATS:
        message = f"kernels of the backend {backend or 'of no name'} cannot be replaced by objects"
        return Problem(message, place, f"objects are for {', '.join(_FORMATS)}")
    if backend == "llvm-cpu" and "elf" not in target["format"]:
        return Problem(f"objects are linked into ELF only; the target's format is {target['format']}", place)
    wanted, name = _FORMATS[backend]
    if object_file.format != wanted:
        found = f"{_FORMAT_NAMES[object_file.format]} for {object_file.architecture}"
        return Problem(f"expected an object in {name}, for {backend}; found {found}", place)
    return None


def _choose(object_file: ObjectFile, entry: str | None) -> EntryPoint | Problem:
    entries = {each.name: each for each in object_file.entry_points}
    if entry is not None:
        if entry in entries:
            return entries[entry]
        message = f"there is no entry point {show(entry)} in the object; it defines {show_all(entries) or 'none'}"
        return Problem(message, _place(object_file), did_you_mean(entry, entries) if entries else None)
    if len(entries) == 1:
        return next(iter(entries.values()))
    if not entries:
        hint = "define it without `static`" if object_file.format == "elf" else "compile a kernel into it"
        return Problem("expected an entry point; the object defines none", _place(object_file), hint)
    message = f"the object defines {len(entries)} entry points, and `entry` does not say which: {show_all(entries)}"
    return Problem(message, _place(object_file), f"entry: {next(iter(entries))}")


def _target(target: Mapping[str, str], object_file: ObjectFile) -> Iterator[Problem]:
    """What keeps an object from being linked or loaded at all."""
    place = _place(object_file)
    if object_file.format == "elf":
        yield from _linkable(target, object_file)
    elif object_file.format == "hsaco" and object_file.kind != "shared":
        yield Problem(
            "expected a linked code object, found a relocatable one", place, "compile with --cuda-device-only"
        )
    elif object_file.big_endian:
        yield Problem("expected SPIR-V in little-endian byte order, found big-endian", place)


def _linkable(target: Mapping[str, str], object_file: ObjectFile) -> Iterator[Problem]:
    place, triple = _place(object_file), target.get("target_triple", "").strip('"')
    expected = _architecture(triple)
    if object_file.architecture != expected:
        message = f"expected an object for {expected}, found one for {object_file.architecture}"
        yield Problem(message, place, f"compile it with --target={triple}")
    if object_file.kind != "relocatable":
        yield Problem(f"expected a relocatable object, found a {object_file.kind} one", place, "compile with -c")
    if not target["format"].startswith("embedded"):
        return
    if object_file.unsupported:
        yield Problem(f"the object has {', '.join(object_file.unsupported)}; executables cannot have that", place)
    names = tuple(name for name in object_file.undefined if name not in _OF_UNSUPPORTED)
    if names:
        message = f"the object needs {show_all(names)}; executables are linked without any library"
        yield Problem(message, place, _undefined_hint(names))


def _undefined_hint(names: tuple[str, ...]) -> str:
    flags = sorted({_IMPLICIT_CALLS[name] for name in names if name in _IMPLICIT_CALLS})
    define = "define them in the kernel's source"
    return f"compile with {' '.join(flags)}, or {define}" if flags else define


def _architecture(triple: str) -> str:
    name = triple.split("-", 1)[0]
    match = _ARM_VERSION.match(name)
    return "arm" if match else _ALIASES.get(name, name)


def _differences(target: Mapping[str, str], object_file: ObjectFile) -> Iterator[str]:
    """In what an object was made for another target, which the device at hand may still be."""
    info, found = target.get("iree_codegen.target_info", ""), object_file.architecture
    if object_file.format == "spirv":
        version = re.search(r"spirv:(v\d+\.\d+)", info)
        if version and _numbers(found) > _numbers(version[1]):
            yield f"SPIR-V: expected at most {version[1]}, found {found}"
    elif object_file.format in ("ptx", "hsaco"):
        arch = re.search(r'arch = "([^"]*)"', info)
        if arch and not _runs_on(found, arch[1]):
            yield f"architecture: expected {arch[1]}, found {found}"


def _runs_on(found: str, target: str) -> bool:
    """Whether a GPU runs code for another: the driver compiles PTX for newer GPUs than the one it names."""
    both = [re.fullmatch(r"sm_(\d+)", name) for name in (found, target)]
    if both[0] and both[1]:
        return int(both[0][1]) <= int(both[1][1])
    return found == target


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _interface(layout: Layout, object_file: ObjectFile, entry: EntryPoint) -> Iterator[Problem]:
    """What an entry point takes against what the dispatch passes, as far as the format tells."""
    place, passed = _place(object_file), _passed(layout)
    if entry.execution_model not in (None, "GLCompute"):
        message = f"expected a compute shader; the execution model of {show(entry.name)} is {entry.execution_model}"
        yield Problem(message, place, "glslangValidator -S comp")
    if entry.parameters is not None and entry.parameters != len(layout.bindings) + layout.constants:
        yield Problem(f"the dispatch passes {passed}; {show(entry.name)} has {entry.parameters} parameters", place)
    needed = _POINTER_BYTES * len(layout.bindings) + _CONSTANT_BYTES * layout.constants
    if entry.parameter_bytes is not None and entry.parameter_bytes < needed:
        takes = f"{show(entry.name)} takes {entry.parameter_bytes} bytes"
        yield Problem(f"the dispatch passes {passed}, {needed} bytes; {takes}", place)
    if object_file.descriptors is not None:
        yield from _descriptors(layout, object_file, object_file.descriptors)
    if object_file.push_constant_bytes > _CONSTANT_BYTES * layout.constants:
        found = f"the push constants of the shader reach to byte {object_file.push_constant_bytes}"
        yield Problem(f"the dispatch passes {_CONSTANT_BYTES * layout.constants} bytes of constants; {found}", place)


def _descriptors(
    layout: Layout, object_file: ObjectFile, descriptors: tuple[tuple[int, int], ...]
) -> Iterator[Problem]:
    place, count = _place(object_file), len(layout.bindings)
    other = [f"set {set_}, binding {binding}" for set_, binding in descriptors if set_ or binding >= count]
    if other:
        yield Problem(f"expected bindings 0 to {count - 1} of set 0; the shader has {'; '.join(other)}", place)
    written = [i for i, binding in enumerate(layout.bindings) if "ReadOnly" not in binding.flags.split("|")]
    missing = [str(i) for i in written if (0, i) not in descriptors]
    if missing:
        message = f"the dispatch writes binding {', '.join(missing)} of set 0; the shader does not have it"
        yield Problem(message, place)


def _passed(layout: Layout) -> str:
    return f"{len(layout.bindings)} bindings and {layout.constants} constants"
