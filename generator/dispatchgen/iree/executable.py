"""An executable as its callers see it: what a substitute has to have in common with what it replaces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from dispatchgen.iree import ir
from dispatchgen.iree.resources import missing_resources, operation_asm

Phase = Literal["source", "configuration"]

#: Alignment in bytes that all of IREE's allocators give, `IREE_HAL_HEAP_BUFFER_ALIGNMENT`.
_ALLOCATOR_ALIGNMENT = 64

#: `#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">`: type, then flags where there are any.
_BINDING = re.compile(r'#hal\.pipeline\.binding<(\w+)(?:, (?:"([^"]*)"|(\w+)))?>')
_CONSTANTS = re.compile(r"#hal\.pipeline\.layout<constants = (\d+)")
_LAYOUT_FLAGS = re.compile(r'\], flags = (?:"([^"]*)"|(\w+))>$')

#: What the configuration phase makes of loads and stores of whole tensors, and of the workgroup count.
_CONFIGURED_OPERATIONS = frozenset(
    {"iree_codegen.load_from_buffer", "iree_codegen.store_to_buffer", "iree_codegen.dispatch_config"}
)
#: How tensors are loaded and stored before that.
_SOURCE_OPERATIONS = frozenset({"iree_tensor_ext.dispatch.tensor.load", "iree_tensor_ext.dispatch.tensor.store"})
#: What a variant has for the host besides its exports.
_HOST = frozenset({"hal.executable.condition", "hal.executable.constant.block"})

#: The shape and the element type in a memref, a tensor, or a dispatch tensor.
_SHAPED = re.compile(r"(?:memref|tensor|vector)<(?:(?:\?|\d+)x)*(?P<element>[A-Za-z]\w*(?:<\w+>)?)[,>]")


@dataclass(frozen=True)
class Binding:
    """A binding of a pipeline layout, e.g. `storage_buffer` with `ReadOnly|Indirect`."""

    type: str
    flags: str  #: Empty: none.

    def __str__(self) -> str:
        return f"{self.type}, {self.flags}" if self.flags else self.type


@dataclass(frozen=True)
class Layout:
    """A `#hal.pipeline.layout`."""

    constants: int
    bindings: tuple[Binding, ...]
    flags: str  #: Empty: none.
    text: str


@dataclass(frozen=True)
class Export:
    """A `hal.executable.export`."""

    name: str
    ordinal: int
    layout: Layout
    workload: int | None  #: Number of workload arguments of the count region; None: there is no count region.
    text: str
    line: int | None  #: Line in the file.


@dataclass(frozen=True)
class Access:
    """A place in device code that names a binding or a constant by its ordinal."""

    kind: Literal["binding", "constant"]
    ordinal: int
    layout: str  #: Text of the layout that it is said to belong to.
    line: int | None


@dataclass(frozen=True)
class Executable:
    """A `hal.executable` with its first variant. Texts raise ModelError as `operation_asm` does."""

    symbol: str
    variants: tuple[str, ...]  #: Symbols; what follows is of the first.
    target: str  #: Text of the target attribute; empty where there is no variant.
    target_keys: tuple[tuple[str, str], ...]  #: The target's backend, format and configuration: key and text.
    exports: tuple[Export, ...]
    functions: tuple[str, ...]  #: Symbols of the functions of the variant's own code, of whatever dialect.
    accesses: tuple[Access, ...]
    phase: Phase | None  #: None: cannot be told, as of an executable that calls an object.
    is_external: bool  #: Whether all of its code is in objects: its exports are called like their entry points.
    host_code: tuple[str, ...]  #: Texts of what the host asks or computes of the variant: its condition, its constants.
    line: int | None  #: Line in the file.
    operation: ir.Operation = field(repr=False, compare=False)  #: A copy, which outlives the module.

    @property
    def variant(self) -> str:
        """Symbol of the first variant; empty where there is none."""
        return self.variants[0] if self.variants else ""

    @cached_property
    def text(self) -> str:
        """The operation on its own, without locations."""
        return operation_asm(self.operation)

    @cached_property
    def benchmark_text(self) -> str:
        """The same with alignments as benchmark modules have them."""
        return operation_asm(limit_alignments(self.operation))

    @cached_property
    def located_text(self) -> str:
        """The same as `text`, with locations."""
        return operation_asm(self.operation, locations=True)

    @cached_property
    def missing_resources(self) -> tuple[str, ...]:
        """The resources that it refers to and whose data its module does not have."""
        return missing_resources(self.operation)


def read_executables(module: ir.Operation) -> list[Executable]:
    """The executables at the top of a parsed module."""
    return [_executable(op) for op in ir.body(module) if op.name == "hal.executable"]


def _executable(operation: ir.Operation) -> Executable:
    variants = _children(operation, "hal.executable.variant")
    variant = variants[0] if variants else None
    inner = ir.walk(variant) if variant is not None else []
    return Executable(
        symbol=ir.symbol(operation),
        variants=tuple(ir.symbol(each) for each in variants),
        target=str(variant.attributes["target"]) if variant is not None else "",
        target_keys=target_keys(variant.attributes["target"]) if variant is not None else (),
        exports=tuple(_export(op) for op in _children(variant, "hal.executable.export")) if variant is not None else (),
        functions=tuple(ir.symbol(op) for op in inner if op.name.endswith(".func") and "sym_name" in op.attributes),
        accesses=tuple(access for op in inner if (access := _access(op)) is not None),
        phase=_phase({op.name for op in inner}),
        is_external=variant is not None
        and "objects" in variant.attributes
        and not _children(variant, "builtin.module"),
        host_code=tuple(op.get_asm(use_local_scope=True) for op in inner if op.name in _HOST),
        line=ir.line(operation),
        operation=operation.clone(),
    )


def _children(operation: ir.Operation, name: str) -> list[ir.Operation]:
    return [op.operation for op in operation.regions[0].blocks[0].operations if op.name == name]


def _export(operation: ir.Operation) -> Export:
    blocks = list(operation.regions[0].blocks)
    return Export(
        name=ir.symbol(operation),
        ordinal=ir.integer(operation.attributes["ordinal"]) if "ordinal" in operation.attributes else 0,
        layout=read_layout(str(operation.attributes["layout"])),
        workload=len(blocks[0].arguments) - 1 if blocks else None,  # the first argument is the device
        text=operation.get_asm(use_local_scope=True),
        line=ir.line(operation),
    )


def _access(operation: ir.Operation) -> Access | None:
    if operation.name == "hal.interface.binding.subspan":
        ordinal = ir.integer(operation.attributes["binding"])
        return Access("binding", ordinal, str(operation.attributes["layout"]), ir.line(operation))
    if operation.name == "hal.interface.constant.load":
        ordinal = ir.integer(operation.attributes["ordinal"])
        return Access("constant", ordinal, str(operation.attributes["layout"]), ir.line(operation))
    return None


def _phase(names: set[str]) -> Phase | None:
    if names & _CONFIGURED_OPERATIONS:
        return "configuration"
    return "source" if names & _SOURCE_OPERATIONS else None


def limit_alignments(executable: ir.Operation) -> ir.Operation:
    """A copy of an executable whose bindings are aligned as any allocation is.

    IREE states a larger alignment where a binding happens to lie at a rounder offset of a pool. That changes with
    every layer in front, and it is not true of the buffer here, whose own alignment is the allocator's.
    """
    copy = executable.clone()
    for subspan in ir.walk(copy, "hal.interface.binding.subspan"):
        _limit_alignment(subspan)
    return copy


def with_target(executable: Executable, target: str) -> Executable:
    """An executable for another target, given as the text of its attribute."""
    from iree.compiler import ir as mlir

    if executable.target == target:
        return executable
    copy = executable.operation.clone()
    with copy.context:
        attribute = mlir.Attribute.parse(target)
        _children(copy, "hal.executable.variant")[0].attributes["target"] = attribute
        return replace(executable, target=str(attribute), target_keys=target_keys(attribute), operation=copy)


def _limit_alignment(subspan: ir.Operation) -> None:
    from iree.compiler import ir as mlir

    if "alignment" in subspan.attributes:
        alignment = mlir.IntegerAttr(subspan.attributes["alignment"])
        if alignment.value > _ALLOCATOR_ALIGNMENT:
            subspan.attributes["alignment"] = mlir.IntegerAttr.get(alignment.type, _ALLOCATOR_ALIGNMENT)


def function_of(executable: ir.Operation, export: str) -> ir.Operation:
    """The function that an export runs; where there is none, all of the executable."""
    functions = (op for op in ir.walk(executable) if op.name.endswith(".func") and "sym_name" in op.attributes)
    return next((op for op in functions if ir.symbol(op) == export), executable)


def read_layout(text: str) -> Layout:
    """A layout from its text, e.g. `#hal.pipeline.layout<constants = 1, bindings = [...], flags = Indirect>`."""
    constants, flags = _CONSTANTS.match(text), _LAYOUT_FLAGS.search(text)
    return Layout(
        constants=int(constants[1]) if constants else 0,
        bindings=tuple(Binding(type_, quoted or plain) for type_, quoted, plain in _BINDING.findall(text)),
        flags=(flags[1] or flags[2]) if flags else "",
        text=text,
    )


def target_keys(target: ir.Attribute) -> tuple[tuple[str, str], ...]:
    """The parts of a `#hal.executable.target<"backend", "format", {key = value, ...}>`, as key and text."""
    from iree.compiler import ir as mlir

    text = str(target)
    backend, format_ = re.findall(r'"([^"]*)"', text)[:2]
    keys = [("backend", backend), ("format", format_)]
    if "{" in text:
        configuration = mlir.Attribute.parse(text[text.index("{") : text.rindex("}") + 1])
        keys += [(named.name, str(named.attr)) for named in configuration]
    return tuple(keys)


def element_of(type_: str) -> str | None:
    """The element type in the text of a shaped type; None where there is none."""
    match = _SHAPED.search(type_)
    return match["element"] if match else None
