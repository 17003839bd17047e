"""What buffers hold, as a manifest says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Zeros:
    """Zeros."""


@dataclass(frozen=True)
class Splat:
    """One number in all elements."""

    value: int | float


@dataclass(frozen=True)
class Random:
    """Seeded random numbers; equal seeds give equal numbers.

    Without a range they are what suits the element type. Elements that a kernel uses as positions are always in
    bounds: without a range, they are random positions.
    """

    low: int | float | None = None  #: The smallest number; None as `high` is.
    high: int | float | None = None  #: The largest number of an integer type; floats are below.
    seed: int = 0


@dataclass(frozen=True)
class File:
    """The contents of a NumPy file."""

    path: str  #: POSIX path relative to the suite's folder.


@dataclass(frozen=True)
class Recorded:
    """The bytes that a recording holds; zeros where it holds none."""


Fill: TypeAlias = Zeros | Splat | Random | File | Recorded


def words(fill: Fill) -> str:
    """A fill for people."""
    match fill:
        case Zeros():
            return "zeros"
        case Splat(value):
            return f"{value} everywhere"
        case Random(low, high, seed):
            return f"random, seed {seed}" if low is None else f"random from {low} to {high}, seed {seed}"
        case File(path):
            return path
        case Recorded():
            return "recorded"


@dataclass(frozen=True)
class BindingFill:
    """What a binding of some dispatches holds."""

    dispatch: str  #: Stable name, operation or pattern (as `selection.select` has them).
    binding: int  #: Ordinal.
    fill: Fill
    line: int | None = None  #: 1-based line in the manifest, for messages.


@dataclass(frozen=True)
class DataSettings:
    """What the bindings of a model's dispatches hold."""

    default: Fill = Zeros()  #: Of bindings that are read, where nothing else says what they hold.
    bindings: tuple[BindingFill, ...] = field(default=())  #: Later ones count where several are of one binding.

    @property
    def is_recorded(self) -> bool:
        """Whether a binding holds what a recording holds."""
        return Recorded() in (self.default, *(each.fill for each in self.bindings))
