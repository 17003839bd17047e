"""The loops of kernels from templates, for views that small programs do not have."""

from __future__ import annotations

import pytest

from dispatchgen.kernel_template.elements import c_type, glsl_type
from dispatchgen.kernel_template.fill import Fill, Language, declare, fills
from dispatchgen.kernel_template.interface import BindingUse, Region, View
from dispatchgen.kernel_template.sizes import Number, Operation, PushConstant, Size

_ZERO, _ONE = Number(0), Number(1)
_LONG = Operation("|", PushConstant(0), Operation("<<", PushConstant(1), Number(32)))


def view(element: str | None, *shape: int, offset: Size | None = _ZERO, region: Region | None = None) -> View:
    """A view that is written as a whole, or in a region."""
    sizes = tuple(map(Number, shape))
    whole = Region((_ZERO,) * len(shape), sizes, (_ONE,) * len(shape))
    return View(element, sizes, offset, "x".join([*map(str, shape), element or "?"]), (region or whole,))


def only_fill(language: Language, *views: View) -> Fill:
    (fill,) = fills(1, BindingUse(True, views), language)
    return fill


@pytest.mark.parametrize(
    ("element", "c", "glsl"),
    [
        ("f32", "float", "float"),
        ("f64", "double", "uvec2"),
        ("f16", "uint16_t", "uint"),
        ("bf16", "uint16_t", "uint"),
        ("f8E4M3FNUZ", "uint8_t", "uint"),
        ("i1", "int8_t", "uint"),
        ("i4", "uint8_t", "uint"),
        ("si8", "int8_t", "uint"),
        ("ui32", "uint32_t", "uint"),
        ("i32", "int32_t", "int"),
        ("i64", "int64_t", "uvec2"),
        ("index", "int64_t", "uvec2"),
        ("complex<f32>", "float _Complex", "vec2"),
        ("i128", None, None),
        (None, None, None),
    ],
)
def test_element_types(element: str | None, c: str | None, glsl: str | None) -> None:
    in_c, in_glsl = c_type(element), glsl_type(element)
    assert (in_c.name if in_c is not None else None) == c
    assert (in_glsl.name if in_glsl is not None else None) == glsl


def test_a_scalar() -> None:
    fill = only_fill("c", view("f32"))
    assert (fill.length, fill.statement) == ("1", "binding1[i] = 0;")


def test_a_view_that_does_not_begin_at_the_bindings_start() -> None:
    fill = only_fill("c", view("f32", 4, offset=_LONG))
    offset = "(uint64_t)constant0 | ((uint64_t)constant1 << 32)"
    assert fill.statement == f"((float *)((char *)binding1 + ({offset})))[i] = 0;"
    assert only_fill("glsl", view("f32", 4, offset=_LONG)).statement == "binding1[i + constant0 / 4u] = float(0);"
    bytes_ = only_fill("glsl", view("i8", 4, offset=Number(64)))
    assert bytes_.coordinates == (("bit", "i * 8u + 512u"),)
    assert bytes_.statement == "atomicAnd(binding1[bit / 32u], ~(0xFFu << (bit % 32u)));"


def test_a_region_with_strides() -> None:
    region = Region((Number(3), _ZERO), (Number(2), Number(4)), (_ONE, Number(2)))
    fill = only_fill("c", view("f32", 6, 8, region=region))
    assert fill.length == "8"
    assert fill.coordinates == (("i0", "i / 4"), ("i1", "i % 4"))
    assert fill.statement == "binding1[(i0 + 3) * 8 + i1 * 2] = 0;"


def test_elements_smaller_than_a_byte() -> None:
    fill = only_fill("c", view("i4", 5))
    assert (fill.length, fill.statement) == ("(20 + 7) / 8", "((uint8_t *)binding1)[i] = 0;")
    assert only_fill("glsl", view("i4", 5)).coordinates == (("bit", "i * 4u"),)
    part = Region((_ONE,), (Number(2),), (_ONE,))
    assert only_fill("c", view("i4", 5, region=part)).length is None


@pytest.mark.parametrize("language", ["c", "glsl"])
def test_what_is_not_known_is_said(language: Language) -> None:
    for unknown in (view("i128", 4), view("f32", 4, offset=None), View("f32", None, _ZERO, "?xf32", (None,))):
        fill = only_fill(language, unknown)
        assert fill.length is None
        assert fill.comment.endswith("What is written is not known here.")


def test_views_of_several_types() -> None:
    views = (view("f32", 4), view("i32", 4, offset=Number(16)))
    in_c = [fill.statement for fill in fills(1, BindingUse(True, views), "c")]
    assert in_c == ["binding1[i] = 0;", "((int32_t *)((char *)binding1 + (16)))[i] = 0;"]
    in_glsl = [fill.length for fill in fills(1, BindingUse(True, views), "glsl")]
    assert in_glsl == ["4u", None], "a buffer has one type"
    assert declare(BindingUse(True, views), "c").comment == "written: 4xf32, 4xi32"


def test_a_binding_that_is_not_used() -> None:
    unused = declare(BindingUse(False, ()), "c")
    assert (unused.type, unused.qualifier, unused.comment) == ("uint8_t", "const ", "read: not used")
