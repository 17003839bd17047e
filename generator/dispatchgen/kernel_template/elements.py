"""Element types of MLIR in C and GLSL."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class ElementType:
    """How elements are declared in a kernel."""

    name: str  #: The type in the language.
    bits: int  #: Of an element in memory.
    container_bits: int  #: Of what `name` is: more than `bits` where several elements share one.


_C_TYPES = {
    "f32": "float",
    "f64": "double",
    "complex<f32>": "float _Complex",
    "complex<f64>": "double _Complex",
}
_GLSL_TYPES = {"f32": "float", "complex<f32>": "vec2", "complex<f64>": "uvec4"}
_BITS = re.compile(r"^(?:complex<)?[a-z]+(\d+)")


def element_bits(element: str) -> int | None:
    """Bits of an element in memory; None where that is not known."""
    if element == "index":
        return 64
    match = _BITS.match(element)
    if match is None:
        return None
    bits = 8 if element == "i1" else int(match[1])
    return 2 * bits if element.startswith("complex") else bits


def c_type(element: str | None) -> ElementType | None:
    """An element type in C. Floats that C has no type for are integers of their size, which hold their bits."""
    bits = element_bits(element) if element is not None else None
    if element is None or bits is None:
        return None
    if element in _C_TYPES:
        return ElementType(_C_TYPES[element], bits, bits)
    container = max(bits, 8)
    if container not in (8, 16, 32, 64):
        return None
    is_signed = element[0] in "is"
    return ElementType(f"{'' if is_signed and bits == container else 'u'}int{container}_t", bits, container)


def glsl_type(element: str | None) -> ElementType | None:
    """An element type in GLSL 450, without extensions: what is smaller than a word lies in `uint`s."""
    bits = element_bits(element) if element is not None else None
    if element is None or bits is None:
        return None
    if element in _GLSL_TYPES:
        return ElementType(_GLSL_TYPES[element], bits, bits)
    if bits == 32:
        return ElementType("int" if element[0] in "is" else "uint", bits, bits)
    if bits == 64:
        return ElementType("uvec2", bits, bits)
    return ElementType("uint", bits, 32) if bits < 32 and 32 % bits == 0 else None
