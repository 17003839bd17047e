"""The executable that stands for an object: configured, as the compiler takes it with --compile-from.

For CPUs it calls a function of the object, which is linked (`wrapper`). For GPUs the object is all there is: the
variant has no code of its own, the object's bytes are part of it, and the export is called like the object's entry
point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, Export
from dispatchgen.iree.ir import symbol_text
from dispatchgen.objects.fit import ObjectFit
from dispatchgen.objects.model import EntryPoint, ObjectFile
from dispatchgen.objects.workgroups import count_by_map
from dispatchgen.objects.wrapper import wrapper_module

#: Appended to an export that is called like the function that it calls.
_SUFFIX = "_dispatch"
#: Attributes of an export that are the same before and after code generation.
_OF_INTERFACE = frozenset({"sym_name", "sym_visibility", "ordinal", "layout"})
_SIZE = "workgroup_size"


@dataclass(frozen=True)
class ObjectExecutable:
    """A `hal.executable` that runs an object."""

    text: str
    export_name: str  #: References to the original's export are to be changed to this.


def object_executable(
    original: Executable,
    object_file: ObjectFile,
    fit: ObjectFit,
    workgroups: str | None,
    resolved_export: str | None,
    object_path: str,
) -> ObjectExecutable:
    """The executable that runs an object in place of the original's kernel.

    Args:
      original: The executable; it has one variant and one export.
      fit: How the object fits.
      workgroups: Affine map from the workload to the number of workgroups; None: the original's count.
      resolved_export: Text of the original's `hal.executable.export` as code generation leaves it. Needed where
        `workgroups` is None, and for GPUs, where it says how many threads a workgroup has.
      object_path: What the object is called in the IR. For CPUs it is looked up in
        `--iree-hal-executable-object-search-path=`.

    Raises:
      SubstitutionError: the workgroups do not fit the dispatch or the entry point.
    """
    export, for_cpu = original.exports[0], object_file.format == "elf"
    name = fit.entry.name
    if for_cpu:  # the two are symbols of one module; the export's has to be unique in the whole program
        name = export.name + _SUFFIX if export.name == name else export.name
    inner = wrapper_module(name, export.layout, fit.entry.name) if for_cpu else ""
    launch = _launch(original, resolved_export, fit.entry, object_file)
    with ir.parse_module(""):
        objects = f"objects([{_object_attribute(object_path, None if for_cpu else object_file.data)}])"
        exported = resolved_export if workgroups is None else _declaration(export, workgroups)
    assert exported is not None, "without a map, the resolved export has the count"
    body = "\n".join([*original.host_code, exported, inner])
    text = _executable(original, f"{objects} {{\n{body}\n}}")
    with ir.parse_module(text) as module:
        (export_op,) = ir.walk(module, "hal.executable.export")
        _set_launch(export_op, name, launch)
        text = ir.body(module)[0].get_asm(use_local_scope=True)
    return ObjectExecutable(text, name)


def _executable(original: Executable, rest: str) -> str:
    """An executable with the original's symbols and target, `rest` following the target."""
    variant = f"hal.executable.variant public {symbol_text(original.variant)} target({original.target})"
    return f"hal.executable private {symbol_text(original.symbol)} {{\n{variant} {rest}\n}}\n"


def _declaration(export: Export, workgroups: str) -> str:
    """The export with another number of workgroups; needs a context."""
    count = count_by_map(export, workgroups)
    return f"hal.executable.export public {symbol_text(export.name)} ordinal(0) layout({export.layout.text}) {count}"


def _object_attribute(path: str, data: bytes | None) -> str:
    """`#hal.executable.object`; needs a context.

    Without data the file is looked for. IREE 3.13 does not write data for CPUs anywhere that its linker reads.
    """
    from iree.compiler import ir as mlir

    quoted = str(mlir.StringAttr.get(path))
    content = f', data = dense<"0x{data.hex().upper()}"> : vector<{len(data)}xi8>' if data is not None else ""
    return f"#hal.executable.object<{{path = {quoted}{content}}}>"


def _launch(original: Executable, resolved: str | None, entry: EntryPoint, object_file: ObjectFile) -> dict[str, str]:
    """What the export says of a launch besides the number of workgroups, as attributes: `workgroup_size` and the like.

    Raises SubstitutionError where the kernel cannot be launched so.
    """
    if resolved is None:
        return {}
    with ir.parse_module(_executable(original, f"{{\n{resolved}\n}}")) as module:
        (export_op,) = ir.walk(module, "hal.executable.export")
        attributes = [export_op.attributes[i] for i in range(len(export_op.attributes))]
        launch = {each.name: str(each.attr) for each in attributes if each.name not in _OF_INTERFACE}
        size = [ir.integer(each) for each in export_op.attributes["workgroup_size"]] if _SIZE in launch else []
    if entry.workgroup_size is not None and object_file.format != "spirv":
        x, y, z = entry.workgroup_size
        return {**launch, _SIZE: f"[{x} : index, {y} : index, {z} : index]"}
    if entry.max_threads is not None and math.prod(size) > entry.max_threads:
        message = f"a workgroup has {' x '.join(map(str, size))} threads; {entry.name} allows {entry.max_threads}"
        raise SubstitutionError(Problem(message, Place(str(object_file.path))))
    return launch


def _set_launch(export_op: ir.Operation, name: str, launch: Mapping[str, str]) -> None:
    from iree.compiler import ir as mlir

    export_op.attributes["sym_name"] = mlir.StringAttr.get(name)
    for key, text in launch.items():
        export_op.attributes[key] = mlir.Attribute.parse(text)
