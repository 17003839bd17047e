"""What a kernel from a template does: loops that write zeros to what the dispatch writes, in C and GLSL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dispatchgen.kernel_template.elements import ElementType, c_type, glsl_type
from dispatchgen.kernel_template.interface import BindingUse, Region, View
from dispatchgen.kernel_template.sizes import Number, Operation, Size, Variable, c_text, glsl_text, product

Language = Literal["c", "glsl"]

_TYPES: dict[Language, Callable[[str | None], ElementType | None]] = {"c": c_type, "glsl": glsl_type}
_TEXTS: dict[Language, Callable[[Size], str]] = {"c": c_text, "glsl": glsl_text}
#: Bits of what is declared where nothing is known of a binding.
_UNTYPED = {"c": ElementType("uint8_t", 8, 8), "glsl": ElementType("uint", 32, 32)}


@dataclass(frozen=True)
class Declaration:
    """A binding as a parameter or a buffer; texts are code or comments of the language."""

    type: str
    qualifier: str
    comment: str


@dataclass(frozen=True)
class Fill:
    """A loop over the elements of a part of a binding; texts are code of the language."""

    comment: str
    length: str | None = None  #: How many there are; None: that is not known, there is no loop.
    coordinates: tuple[tuple[str, str], ...] = ()  #: Names and values of what `statement` is computed from.
    statement: str = ""


def declare(binding: BindingUse, language: Language) -> Declaration:
    """How a binding is declared."""
    qualifier = {"c": "const ", "glsl": "readonly "}[language]
    views = ", ".join(_describe(view, language) for view in binding.views) or "not used"
    return Declaration(
        type=_declared(binding, language).name,
        qualifier="" if binding.written else qualifier,
        comment=f"{'written' if binding.written else 'read'}: {views}",
    )


def fills(ordinal: int, binding: BindingUse, language: Language) -> Iterator[Fill]:
    """The loops for all that the dispatch writes of a binding."""
    for view in binding.views:
        for region in view.written:
            about = f"Binding {ordinal}: {_describe(view, language)}"
            yield _fill(ordinal, binding, view, region, language) or Fill(
                f"{about}. What is written is not known here."
            )


def _fill(ordinal: int, binding: BindingUse, view: View, region: Region | None, language: Language) -> Fill | None:
    """A loop over a part of a view; None where not all of it is known, or the language has no type for it."""
    type_, text = _TYPES[language](view.element), _TEXTS[language]
    if type_ is None or region is None or view.shape is None or view.offset is None:
        return None
    if language == "glsl" and type_ != _declared(binding, language):
        return None
    whole = view.is_whole(region)
    if language == "c" and type_.bits < type_.container_bits:  # bytes of several elements
        return _packed_fill(ordinal, view, type_) if whole else None
    coordinates = [] if whole else _coordinates(region.sizes)
    position: Size = Variable("i") if whole else _position(view.shape, region)
    if language == "c":
        statement = _c_write(ordinal, type_, view.offset, position, is_declared=type_ == _declared(binding, language))
    elif type_.bits < type_.container_bits:
        coordinates.append(("bit", _bit(type_, view.offset, position)))
        statement = f"atomicAnd(binding{ordinal}[bit / 32u], ~(0x{(1 << type_.bits) - 1:X}u << (bit % 32u)));"
    else:
        statement = f"binding{ordinal}[{text(_shifted(type_, view.offset, position))}] = {type_.name}(0);"
    return Fill(
        comment=f"Binding {ordinal}: {'all' if whole else 'a part'} of {_describe(view, language)}.",
        length=text(product(region.sizes)),
        coordinates=tuple((name, text(size)) for name, size in coordinates),
        statement=statement,
    )


def _declared(binding: BindingUse, language: Language) -> ElementType:
    """The element type that a binding is declared with: that of its first view."""
    types = (_TYPES[language](view.element) for view in binding.views[:1])
    return next(types, None) or _UNTYPED[language]


def _describe(view: View, language: Language) -> str:
    """A view in words: its type, and what its dynamic dims are."""
    if view.shape is None:
        return f"{view.type}, of a shape that does not come from push constants"
    dims = " x ".join(_TEXTS[language](size) for size in view.shape)
    return f"{view.type} ({dims})" if "?" in view.type else view.type


def _packed_fill(ordinal: int, view: View, type_: ElementType) -> Fill:
    bits = product([*(view.shape or ()), Number(type_.bits)])
    length = Operation("/", Operation("+", bits, Number(type_.container_bits - 1)), Number(type_.container_bits))
    return Fill(
        comment=f"Binding {ordinal}: all of {_describe(view, 'c')}, several elements in a byte.",
        length=c_text(length),
        statement=_c_write(ordinal, type_, view.offset or Number(0), Variable("i"), is_declared=False),
    )


def _coordinates(sizes: Sequence[Size]) -> list[tuple[str, Size]]:
    """The position in each dimension of element `i` of a part that has these sizes."""
    coordinates: list[tuple[str, Size]] = []
    for dim, size in enumerate(sizes):
        inner = product(sizes[dim + 1 :])
        outer: Size = Variable("i") if inner == Number(1) else Operation("/", Variable("i"), inner)
        coordinates.append((f"i{dim}", outer if dim == 0 else Operation("%", outer, size)))
    return coordinates


def _position(shape: Sequence[Size], region: Region) -> Size:
    """Where the element of a part at the coordinates `i0`, `i1`... lies in the view."""
    terms: list[Size] = []
    for dim, (offset, stride) in enumerate(zip(region.offsets, region.strides, strict=True)):
        coordinate: Size = Variable(f"i{dim}")
        if stride != Number(1):
            coordinate = Operation("*", coordinate, stride)
        if offset != Number(0):
            coordinate = Operation("+", coordinate, offset)
        pitch = product(shape[dim + 1 :])
        terms.append(coordinate if pitch == Number(1) else Operation("*", coordinate, pitch))
    position = terms[0] if terms else Number(0)
    for term in terms[1:]:
        position = Operation("+", position, term)
    return position


def _c_write(ordinal: int, type_: ElementType, offset: Size, position: Size, *, is_declared: bool) -> str:
    memory = f"binding{ordinal}"
    if offset != Number(0):
        memory = f"(({type_.name} *)((char *)binding{ordinal} + ({c_text(offset)})))"
    elif not is_declared:
        memory = f"(({type_.name} *)binding{ordinal})"
    return f"{memory}[{c_text(position)}] = 0;"


def _bit(type_: ElementType, offset: Size, position: Size) -> Size:
    """Where an element begins in a binding, in bits, of a view that begins at `offset` bytes."""
    bit = product([position, Number(type_.bits)])
    return bit if offset == Number(0) else Operation("+", bit, product([offset, Number(8)]))


def _shifted(type_: ElementType, offset: Size, position: Size) -> Size:
    """Where an element lies in a binding, in elements, of a view that begins at `offset` bytes."""
    if offset == Number(0):
        return position
    return Operation("+", position, Operation("/", offset, Number(type_.bits // 8)))
