"""What a binding holds, from a fill: one element repeated, or bytes; and how people are told.

A content is a recipe: equal recipes give bytes of which the shorter are the beginning of the longer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from dispatchgen.buffers import seeded
from dispatchgen.buffers.encoding import Numbers, decode, element_bits, encode, holds, is_integer
from dispatchgen.buffers.uses import UNKNOWN_BOUND
from dispatchgen.iree.types import scalar_type, unsigned
from dispatchgen.manifest.fills import Random, Splat, Zeros


@dataclass(frozen=True)
class Piece:
    """Elements of one type that lie behind each other in a binding, up to the next piece."""

    offset: int  #: Where they begin, in bytes.
    element: str  #: Their type, as MLIR prints it.
    #: They are used as integers from 0 to below this; `UNKNOWN_BOUND`: that is not known; None: any numbers are right.
    bound: int | None = None


@dataclass(frozen=True)
class Given:
    """Bytes that are what they are."""

    words: str  #: Where they are from, for people.
    digest: str  #: Of the bytes, any that tells them apart.
    data: bytes = field(compare=False, repr=False)


@dataclass(frozen=True)
class _Repeated:
    """One element, all over a piece."""

    value: int | float


@dataclass(frozen=True)
class _Seeded:
    """Random elements; without a range, what suits their type."""

    seed: tuple[int, ...]
    range: tuple[int | float, int | float] | None
    positions: bool = False  #: Whether the range is that of positions, for people.


_Recipe: TypeAlias = _Repeated | _Seeded


@dataclass(frozen=True)
class Content:
    """What a binding holds. Immutable and hashable."""

    pieces: tuple[tuple[Piece, _Recipe], ...] = ()  #: In order; what no piece covers is zeros.
    given: Given | None = None  #: Replaces the pieces.
    note: str | None = field(default=None, compare=False)  #: Why it is not what was asked for.
    source: str | None = field(default=None, compare=False)  #: What else holds it, for people.
    #: Whether it is right only for the sizes that it was made for, as positions in a dim that others have smaller.
    is_of_sizes: bool = field(default=False, compare=False)

    @property
    def pattern(self) -> bytes | None:
        """The bytes that repeat all over the binding, of 1, 2 or 4 bytes; None where there is no such pattern."""
        if self.given is not None:
            return None
        found = {_pattern(piece.element, recipe) for piece, recipe in self.pieces} or {b"\0"}
        if len(found) > 1 or (self.pieces and self.pieces[0][0].offset and found != {b"\0"}):
            return None
        return found.pop()

    def data(self, length: int) -> bytes:
        """The bytes of a binding of this length."""
        if self.given is not None:
            return self.given.data[:length].ljust(length, b"\0")
        pattern = self.pattern
        if pattern is not None:
            return (pattern * -(-length // len(pattern)))[:length]
        parts, at = [], 0
        stops = [piece.offset for piece, _ in self.pieces[1:]] + [length]
        for (piece, recipe), stop in zip(self.pieces, stops, strict=True):
            if piece.offset >= length:
                break
            parts.append(bytes(piece.offset - at))
            parts.append(_made(piece, recipe, min(stop, length) - piece.offset))
            at = min(stop, length)
        return b"".join([*parts, bytes(length - at)])

    def __str__(self) -> str:
        return f"{self.source}: {self._words()}" if self.source else self._words()

    def _words(self) -> str:
        if self.given is not None:
            return self.given.words
        texts = [_words(piece, recipe) for piece, recipe in self.pieces] or ["zeros"]
        text = texts[0]
        if len(set(texts)) > 1:
            text += "".join(
                f"; from byte {piece.offset} on {words}"
                for (piece, _), words in zip(self.pieces[1:], texts[1:], strict=True)
            )
        return f"{text} ({self.note})" if self.note else text


ZEROS = Content()


def filled(fill: Zeros | Splat | Random, pieces: Sequence[Piece], ordinal: int, *, explicit: bool = True) -> Content:
    """The content of a binding.

    Args:
      fill: What it is to hold.
      pieces: What its elements are; empty: not known.
      ordinal: Of the binding: bindings of one seed do not hold the same.
      explicit: Whether the fill was asked for this binding. If not, it is that of any binding: where it cannot be, the
        binding holds zeros, or positions that are in bounds.

    Raises:
      ValueError: an explicit fill does not go with the elements, with a message for people.
    """
    if isinstance(fill, Zeros):
        return ZEROS
    problem = "its element type is not known" if not pieces else None
    for piece in pieces:
        if element_bits(piece.element) is None:
            problem = f"what {piece.element} elements look like in memory is not known"
    if problem is not None:
        if explicit:
            raise ValueError(problem)
        return Content(note=problem)
    recipes, notes = [], []
    for piece in pieces:
        recipe, note = _recipe(fill, piece, ordinal, explicit)
        recipes.append((replace(piece, bound=None), recipe))  # equal contents are one, whatever they had to fit
        notes.append(note)
    note = next((note for note in notes if note is not None), None)
    return Content(tuple(recipes), note=note)


def are_of_any_size(pieces: Sequence[Piece], unsized: Sequence[Piece]) -> bool:
    """Whether what suits pieces of a kernel suits them at all sizes.

    Args:
      pieces: What they are with the push constants of some sizes.
      unsized: What is known of them without push constants.
    """
    return list(pieces) == list(unsized) and all(piece.bound != UNKNOWN_BOUND for piece in pieces)


def check_given(numbers: Numbers, piece: Piece) -> None:
    """Raises ValueError, with a message for people, where integers are not in the bounds that a kernel needs."""
    if not piece.bound or not numbers.size:
        return
    wrong = (numbers < 0) | (numbers >= piece.bound)
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(f"element {at} is {numbers[at]}, the kernel needs {_needed(piece)}")


def check_bytes(data: bytes, pieces: Sequence[Piece]) -> None:
    """As `check_given`, of what a binding holds."""
    for piece, stop in zip(pieces, [*(piece.offset for piece in pieces[1:]), len(data)], strict=True):
        if piece.bound and element_bits(piece.element) is not None:
            check_given(decode(piece.element, data[piece.offset : stop]), piece)


def _recipe(fill: Splat | Random, piece: Piece, ordinal: int, explicit: bool) -> tuple[_Recipe, str | None]:
    """How the elements of a piece are made, and why it is not what was asked for."""
    problem = _splat_problem(fill.value, piece) if isinstance(fill, Splat) else _range_problem(fill, piece)
    if problem is not None and explicit:
        raise ValueError(problem)
    if piece.bound == UNKNOWN_BOUND and not (explicit and _says_numbers(fill)):
        return _Repeated(0), "as positions of unknown bounds"
    if isinstance(fill, Splat):
        return (_Repeated(fill.value), None) if problem is None else (_Repeated(0), problem)
    seed = (fill.seed, ordinal, piece.offset)
    limits = None if fill.low is None or fill.high is None else (fill.low, fill.high)
    if piece.bound and (limits is None or problem is not None or not explicit):
        return _Seeded(seed, (0, piece.bound - 1), positions=True), None
    if problem is not None:
        return _Seeded(seed, None), problem
    return _Seeded(seed, limits), None


def _says_numbers(fill: Splat | Random) -> bool:
    return isinstance(fill, Splat) or fill.low is not None


def _splat_problem(value: int | float, piece: Piece) -> str | None:
    """What is wrong with one number for all elements."""
    return (_integer_problem if is_integer(piece.element) else _float_problem)((value, value), piece)


def _range_problem(fill: Random, piece: Piece) -> str | None:
    """What is wrong with a range of random numbers."""
    if fill.low is None or fill.high is None:
        return None
    return (_integer_problem if is_integer(piece.element) else _float_problem)((fill.low, fill.high), piece)


def _float_problem(limits: tuple[int | float, int | float], piece: Piece) -> str | None:
    part = piece.element.removeprefix("complex<").removesuffix(">")
    too_large = (value for value in limits if math.isfinite(value) and not holds(part, value))
    return next((f"{value} does not fit {piece.element}" for value in too_large), None)


def _integer_problem(limits: tuple[int | float, int | float], piece: Piece) -> str | None:
    type_ = scalar_type(piece.element)
    assert type_ is not None
    for value in limits:
        if not math.isfinite(value) or value != int(value):
            return f"{value} is no integer; its elements are {piece.element}"
        if not -(1 << type_.bits - 1) <= value < 1 << type_.bits:
            return f"{value} does not fit {piece.element}"
    if limits[0] < 0 and limits[1] >= 1 << type_.bits - 1:
        return f"from {limits[0]} to {limits[1]} is no range of {piece.element}, neither signed nor unsigned"
    if piece.bound and not 0 <= limits[0] <= limits[1] < piece.bound:
        value = limits[0] if limits[0] < 0 else limits[1]
        return f"{value} is out of bounds: the kernel needs {_needed(piece)}"
    return None


def _needed(piece: Piece) -> str:
    assert piece.bound
    return f"positions from 0 to {piece.bound - 1}"


def _pattern(element: str, recipe: _Recipe) -> bytes | None:
    """The bytes that repeat all over a piece, 1, 2 or 4 of them: the lengths that devices fill with."""
    if not isinstance(recipe, _Repeated):
        return None
    data = _repeated(element, recipe)
    for length in (1, 2, 4):
        if data == data[:length] * (len(data) // length):
            return data[:length]
    return None


def _repeated(element: str, recipe: _Repeated) -> bytes:
    """At least a byte of an element that repeats."""
    count = 2 if element_bits(element) == 4 else 1
    if not is_integer(element):
        return encode(element, np.full(count, recipe.value))
    type_ = scalar_type(element)
    assert type_ is not None
    masked = unsigned(int(recipe.value), type_.bits)
    return encode(element, np.full(count, masked, "u8").view("i8"))


def _made(piece: Piece, recipe: _Recipe, length: int) -> bytes:
    """The bytes of a piece; what is left behind its last whole element is zeros."""
    if isinstance(recipe, _Repeated):
        element = _repeated(piece.element, recipe)
        data = element * (length // len(element))
    elif recipe.range is None:
        data = seeded.random_bytes(piece.element, length, recipe.seed)
    else:
        data = seeded.range_bytes(piece.element, length, recipe.seed, *recipe.range)
    return data.ljust(length, b"\0")


def _words(piece: Piece, recipe: _Recipe) -> str:
    if isinstance(recipe, _Repeated):
        return f"{recipe.value} everywhere" if recipe.value else "zeros"
    seed = f"seed {recipe.seed[0]}"
    if recipe.range is None:
        return f"random {piece.element}, {seed}"
    low, high = recipe.range
    if recipe.positions:
        return f"random positions from {low} to {high}, {seed}"
    return f"random {piece.element} from {low} to {high}, {seed}"
