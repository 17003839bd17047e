"""What the kernel of a dispatch is passed, and what it has to write, from its executable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dispatchgen.errors import Problem, SubstitutionError
from dispatchgen.extract.program import Export
from dispatchgen.extract.schema import Dispatch
from dispatchgen.iree import ir
from dispatchgen.iree.executable import element_of, read_layout
from dispatchgen.kernel_template.sizes import Number, Size, product, read_size, workloads

#: The dims of a memref, a tensor, or the tensor in a dispatch tensor.
_DIMS = re.compile(r"(?:memref|tensor)<((?:(?:\?|\d+)x)*)[A-Za-z]\w*(?:<\w+>)?[,>]")
#: What stands for a dim that is an operand in MLIR's lists of static dims.
_DYNAMIC = -(1 << 63)
#: Operations whose result is the same memory as their operand.
_ALIASES = frozenset(("memref.assume_alignment", "memref.cast"))
_LOADS = frozenset(
    ("iree_codegen.load_from_buffer", "iree_tensor_ext.dispatch.tensor.load", "memref.load", "memref.dim")
)


@dataclass(frozen=True)
class Region:
    """A part of a view: in each dimension where it begins, how many elements it has and how far they are apart."""

    offsets: tuple[Size, ...]
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


@dataclass(frozen=True)
class View:
    """Memory of a binding as the kernel sees it: dense, the last dimension innermost."""

    element: str | None  #: MLIR's element type; None: not one that is known.
    shape: tuple[Size, ...] | None  #: None: it depends on more than push constants.
    offset: Size | None  #: Where it begins, in bytes; None: that depends on more than push constants.
    type: str  #: MLIR's text of shape and element type, e.g. `?x64xf32`.
    written: tuple[Region | None, ...]  #: What the kernel writes; None: a part that is not known.

    def is_whole(self, region: Region) -> bool:
        """Whether a region is all of the view."""
        zero, one = Number(0), Number(1)
        plain = all(offset == zero for offset in region.offsets) and all(stride == one for stride in region.strides)
        return plain and region.sizes == self.shape

    @property
    def elements(self) -> Size | None:
        """How many elements it has."""
        return None if self.shape is None else product(self.shape)


@dataclass(frozen=True)
class BindingUse:
    """A binding: a buffer that the kernel is passed."""

    written: bool
    views: tuple[View, ...]


@dataclass(frozen=True)
class KernelInterface:
    """All that a kernel is passed."""

    bindings: tuple[BindingUse, ...]
    constants: int  #: Number of push constants, i32 each.
    workload: int  #: Number of workload arguments.
    workloads: dict[int, Size]  #: How the kernel gets those that it uses from push constants, by ordinal.


def kernel_interface(export: Export, dispatch: Dispatch) -> KernelInterface:
    """The interface of the kernel that an export runs.

    Raises SubstitutionError where its executable has other exports: kernels in C or GLSL replace whole executables.
    """
    executable = export.executable_op
    exports = ir.walk(executable, "hal.executable.export")
    if len(exports) > 1:
        names = ", ".join(f"@{ir.symbol(op)}" for op in exports)
        message = f"a kernel replaces an executable of one export; @{export.executable} has {names}"
        raise SubstitutionError(Problem(message, hint="`dispatchgen dump --stage source`"))
    layout = read_layout(str(export.export_op.attributes["layout"]))
    subspans = ir.walk(executable, "hal.interface.binding.subspan")
    bindings = []
    for i, written in enumerate(dispatch.written):
        views = [_view(op, written) for op in subspans if ir.integer(op.attributes["binding"]) == i]
        bindings.append(BindingUse(written, tuple(dict.fromkeys(views))))
    used: dict[int, Size] = {}
    for op in ir.walk(executable, "iree_tensor_ext.dispatch.workload.ordinal"):
        size = read_size(op.results[0])
        used |= workloads(size) if size is not None else {}
    blocks = list(export.export_op.regions[0].blocks)
    return KernelInterface(
        bindings=tuple(bindings),
        constants=layout.constants,
        workload=len(blocks[0].arguments) - 1 if blocks else 0,
        workloads=dict(sorted(used.items())),
    )


def _view(subspan: ir.Operation, written: bool) -> View:
    type_ = str(subspan.results[0].type)
    element, dims = element_of(type_), _dims(type_)
    shape = _sizes(dims, list(subspan.opview.dynamic_dims)) if dims is not None else None
    return View(
        element=element,
        shape=shape,
        offset=read_size(subspan.opview.byte_offset),
        type="x".join([*(dims or ()), element or type_]),
        written=tuple(_writes(subspan.results[0], shape)) if written else (),
    )


def _dims(type_: str) -> list[str] | None:
    """The dims in the text of a type, `?` for a dynamic one; None: it is not that of scalars in memory."""
    match = _DIMS.search(type_)
    return match[1].split("x")[:-1] if match else None


def _sizes(dims: Sequence[str], dynamic: Sequence[ir.Value]) -> tuple[Size, ...] | None:
    remaining = iter(dynamic)
    sizes = [read_size(next(remaining)) if dim == "?" else Number(int(dim)) for dim in dims]
    known = tuple(size for size in sizes if size is not None)
    return known if len(known) == len(sizes) else None


def _writes(memory: ir.Value, shape: tuple[Size, ...] | None) -> Iterator[Region | None]:
    """The parts of a view that the operations on it write."""
    for use in memory.uses:
        op = use.owner
        if op.name in _LOADS:
            continue
        if op.name in _ALIASES:
            yield from _writes(op.results[0], shape)
        elif op.name == "memref.subview":
            part = _region(op)
            # A part of a part is not worth the arithmetic.
            whole = _whole(part.sizes) if part is not None else None
            inner = _writes(op.results[0], part.sizes if part is not None else None)
            yield from (part if region is not None and region == whole else None for region in inner)
        elif op.name == "iree_tensor_ext.dispatch.tensor.store":
            yield _region(op)
        elif _reads_only(op, use.operand_number):
            continue
        else:
            yield _whole(shape) if shape is not None else None


def _reads_only(op: ir.Operation, operand: int) -> bool:
    """Whether an operation with inputs and outputs has an operand among its inputs."""
    return op.name.startswith("linalg.") and operand < len(op.opview.inputs)


def _whole(shape: tuple[Size, ...]) -> Region:
    return Region(tuple(Number(0) for _ in shape), shape, tuple(Number(1) for _ in shape))


def _region(op: ir.Operation) -> Region | None:
    """The part that an operation with offsets, sizes and strides names."""
    parts = []
    for name in ("offsets", "sizes", "strides"):
        dims = ["?" if size == _DYNAMIC else str(size) for size in op.attributes[f"static_{name}"]]
        if any(dim.startswith("-") for dim in dims):
            return None
        parts.append(_sizes(dims, list(getattr(op.opview, name))))
    offsets, sizes, strides = parts
    return (
        Region(offsets, sizes, strides) if offsets is not None and sizes is not None and strides is not None else None
    )
