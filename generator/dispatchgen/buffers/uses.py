"""What kernels use the numbers that they load for: positions and truth values must be what a right kernel may get.

The trace goes from the use back to the binding, through the operations of IREE's configuration phase: tensors are
loaded whole, and `linalg` operations see their elements as block arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.buffers.constants import scalar_value
from dispatchgen.iree import ir
from dispatchgen.iree.executable import element_of
from dispatchgen.iree.types import is_integer, scalar_type

#: The bound of positions of which it is not known how many there are: 0 alone is right.
UNKNOWN_BOUND = 0
_SUBSPAN = "hal.interface.binding.subspan"
#: `arith.cmpi slt`.
_SLT = 2
_INDEX_CASTS = ("arith.index_cast", "arith.index_castui")
_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
#: Operations that take integers from memory as positions, without a cast, as operand 1: the operand they are into.
_INDEXED = {"iree_linalg_ext.gather": 0, "iree_linalg_ext.scatter": 2}
#: Others of that kind, with the operand that holds positions.
_INDEXING = {
    "tensor.gather": 1,
    "tensor.scatter": 2,
}
#: Operations whose result is, or holds, elements of their first operand, as they are; the others are positions.
_LOADS = frozenset(
    {
        "iree_codegen.load_from_buffer",
        "iree_tensor_ext.dispatch.tensor.load",
        "memref.load",
        "memref.subview",
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor.extract",
        "tensor.extract_slice",
    }
)
_WIDENINGS = frozenset({"arith.extsi", "arith.extui"})
#: Operations whose results are no elements from memory, whatever their operands are.
_SHAPES = frozenset({"memref.dim", "tensor.dim"})


@dataclass(frozen=True)
class Source:
    """Where numbers come from."""

    binding: int | None  #: None: the trace was lost, any binding with such elements.
    element: str


def bounds(executable: ir.Operation, constants: Sequence[int] = ()) -> Mapping[Source, int]:
    """What must be integers in [0, bound) for a kernel to be right: the smallest bound of all uses.

    Args:
      executable: The operation, or a part of it that holds the kernel.
      constants: Values of the push constants, unsigned, where they are known: sizes that depend on them are bounds.
    """
    found: dict[Source, int] = {}
    for op in ir.walk(executable):
        for value, bound in _restricted_operands(op, constants):
            for source in _sources(value):
                found[source] = min(bound, _fitting(bound, source.element), found.get(source, bound))
    return found


def bound_of(found: Mapping[Source, int], binding: int, element: str) -> int | None:
    """The bound of the elements of a binding; None: they may be any numbers."""
    sources = (Source(binding, element), Source(None, element))
    return min((found[source] for source in sources if source in found), default=None)


def _fitting(bound: int, element: str) -> int:
    """A bound for elements of that type: all numbers below it are to be such elements."""
    type_ = scalar_type(element)
    return min(bound, 1 << (type_.bits - 1)) if type_ is not None and type_.kind == "i" else UNKNOWN_BOUND


def _restricted_operands(op: ir.Operation, constants: Sequence[int]) -> Iterator[tuple[ir.Value, int]]:
    """The operands of an operation that may not be any numbers, each with its bound."""
    if op.name in _INDEX_CASTS and (element_of(str(op.results[0].type)) or str(op.results[0].type)) == "index":
        yield op.operands[0], _index_bound(op, constants)
    elif op.name in _INDEXED:
        indexed = op.operands[_INDEXED[op.name]]
        sizes = [_size(indexed, int(each), constants) for each in op.attributes["dimension_map"]]
        yield op.operands[1], min(UNKNOWN_BOUND if size is None else size for size in sizes)
    elif op.name in _INDEXING:
        yield op.operands[_INDEXING[op.name]], UNKNOWN_BOUND
    elif op.name.startswith("iree_vector_ext.") or op.name in ("vector.gather", "vector.scatter"):
        yield from (
            (operand, UNKNOWN_BOUND)
            for operand in list(op.operands)[1:]
            if is_integer(element_of(str(operand.type)) or "")
        )
    elif op.name == "arith.trunci" and str(op.results[0].type) == "i1":
        yield op.operands[0], 2
    elif op.name in _SHIFTS:
        yield op.operands[1], 2


def _index_bound(cast: ir.Operation, constants: Sequence[int]) -> int:
    """How many positions there are where an element is an index as it was loaded."""
    if not _is_loaded(cast.operands[0]):
        return UNKNOWN_BOUND
    sizes: list[int] = []
    for use in cast.results[0].uses:
        if use.owner.name != "tensor.extract" or use.operand_number == 0:
            return UNKNOWN_BOUND
        size = _size(use.owner.operands[0], use.operand_number - 1, constants)
        if size is None:
            return UNKNOWN_BOUND
        sizes.append(size)
    return min(sizes, default=UNKNOWN_BOUND)


def _size(tensor: ir.Value, dimension: int, constants: Sequence[int]) -> int | None:
    """The size of a dimension of a tensor; None where it depends on more than push constants."""
    from iree.compiler import ir as mlir

    type_ = mlir.ShapedType(tensor.type)
    if not type_.is_dynamic_dim(dimension):
        return int(type_.get_dim_size(dimension))
    owner = tensor.owner
    if isinstance(owner, mlir.Block):
        return None
    if owner.name == "iree_codegen.load_from_buffer":
        return _size(owner.operands[0], dimension, constants)
    sizes = {_SUBSPAN: "dynamic_dims", "iree_tensor_ext.dispatch.tensor.load": "sizes"}.get(owner.name)
    if sizes is None:
        return None
    dynamic = sum(type_.is_dynamic_dim(each) for each in range(dimension))
    return scalar_value(getattr(owner.opview, sizes)[dynamic], constants)


def _is_loaded(value: ir.Value) -> bool:
    """Whether a value is an element from a binding, as it is but for its width."""
    from iree.compiler import ir as mlir

    while True:
        owner = value.owner
        if isinstance(owner, mlir.Block):
            operands = _linalg_operands(value)
            if operands is None or len(operands) > 1:
                return False
            (value,) = operands
        elif owner.name == _SUBSPAN:
            return True
        elif owner.name in _LOADS or owner.name in _WIDENINGS:
            value = owner.operands[0]
        elif owner.name == "arith.select" and _counts_from_the_end(owner):
            value = owner.operands[2]
        else:
            return False


def _counts_from_the_end(select: ir.Operation) -> bool:
    """Whether a selection leaves what is not negative as it is: importers add the size to what is."""
    from iree.compiler import ir as mlir

    comparison = select.operands[0].owner
    if isinstance(comparison, mlir.Block) or comparison.name != "arith.cmpi":
        return False
    is_less = ir.integer(comparison.attributes["predicate"]) == _SLT
    compared, zero = comparison.operands
    return is_less and compared == select.operands[2] and scalar_value(zero, ()) == 0


def _sources(value: ir.Value) -> set[Source]:
    """The bindings that a value is computed from; no push constant or position is one."""
    from iree.compiler import ir as mlir

    found: set[Source] = set()
    seen: set[ir.Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, mlir.Block):
            origins = _linalg_operands(value) or _region_operands(value)
        elif owner.name == _SUBSPAN:
            element = element_of(str(value.type))
            found.add(Source(ir.integer(owner.attributes["binding"]), element or str(value.type)))
            continue
        else:
            origins = _origins(owner, value)
        if origins is None:
            element = element_of(str(value.type)) or str(value.type)
            if element != "index":
                found.add(Source(None, element))
        else:
            todo += origins
    return found


def _linalg_operands(argument: ir.Value) -> list[ir.Value] | None:
    """Of a block argument of a `linalg` operation what it may be; None: it is no such argument.

    An input's is an element of its operand, an output's also what the body yields.
    """
    from iree.compiler import ir as mlir

    parent = argument.owner.owner.operation
    if not parent.name.startswith("linalg."):
        return None
    number, yielded = mlir.BlockArgument(argument).arg_number, _yielded(parent)
    is_input = number < len(parent.operands) - len(yielded)
    return [parent.operands[number], *([] if is_input else yielded)]


def _region_operands(argument: ir.Value) -> list[ir.Value] | None:
    """What a block argument of another operation may be: any of its operands, or of what its regions yield.

    None: it is a function's.
    """
    parent = argument.owner.owner.operation
    if parent.name.endswith(".func"):
        return None
    return [*parent.operands, *_yielded(parent)]


def _origins(op: ir.Operation, result: ir.Value) -> list[ir.Value] | None:
    """The values that a result is computed from; None: it is memory that is written elsewhere."""
    from iree.compiler import ir as mlir

    if op.name in _SHAPES:
        return []
    if op.name in _LOADS:
        return [op.operands[0]]
    if op.name.startswith("linalg.") and len(op.regions):
        yielded = _yielded(op)
        number = mlir.OpResult(result).result_number
        return [yielded[number]] if number < len(yielded) else list(op.operands)
    if "alloc" in op.name or op.name.endswith((".call", "get_global")):
        return None
    return [*op.operands, *_yielded(op)]


def _yielded(op: ir.Operation) -> list[ir.Value]:
    """The operands of the operations that end the blocks of an operation's regions."""
    return [
        operand for region in op.regions for block in region.blocks for operand in list(block.operations)[-1].operands
    ]
