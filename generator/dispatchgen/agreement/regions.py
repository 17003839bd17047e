"""The parts of a binding, and what they hold when a kernel starts.

Equal seeds for both kernels: floats in [-1, 1], small integers, integers below the bound of a piece; zeros where the
type is not known. Bindings that are written hold data too, so that a kernel that leaves some as it was is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dispatchgen.agreement.spec import CheckedBenchmark, CheckedBinding, Piece
from dispatchgen.buffers import encoding, seeded

#: What the bytes around a binding hold.
_GUARD_BYTE = b"\x5a"


@dataclass(frozen=True)
class Region:
    """A part of a binding, in bytes: whole elements of a piece, or what cannot be read as numbers."""

    start: int
    stop: int
    piece: Piece | None


def regions(binding: CheckedBinding) -> Iterator[Region]:
    """All of a binding, in order."""
    at = 0
    starts = [piece.offset for piece in binding.pieces[1:]] + [binding.length]
    for piece, stop in zip(binding.pieces, starts, strict=False):
        bits = encoding.element_bits(piece.element)
        if bits is None or piece.offset >= binding.length:
            continue
        if piece.offset > at:
            yield Region(at, piece.offset, None)
        size = max(bits // 8, 1)
        at = piece.offset + (min(stop, binding.length) - piece.offset) // size * size
        yield Region(piece.offset, at, piece)
    if at < binding.length:
        yield Region(at, binding.length, None)


def buffer(binding: CheckedBinding, number: int, guard: int) -> bytes:
    """What the buffers of binding `number` hold when a kernel starts, with guards."""
    parts = [_contents(region, number) for region in regions(binding)]
    return b"".join([_GUARD_BYTE * guard, *parts, _GUARD_BYTE * guard])


def _contents(region: Region, binding: int) -> bytes:
    length, seed, piece = region.stop - region.start, (binding, region.start), region.piece
    if piece is None or piece.bound == 1:
        return bytes(length)
    if piece.bound is not None:
        return seeded.range_bytes(piece.element, length, seed, 0, piece.bound - 1)
    return seeded.random_bytes(piece.element, length, seed)


def zeros(benchmark: CheckedBenchmark) -> Iterator[str]:
    """What is read and holds zeros, and why: a kernel that does not look at it is not found."""
    for number, binding in enumerate(benchmark.bindings):
        if binding.written or binding.length == 0:
            continue
        if any(piece.bound == 1 for piece in binding.pieces):
            yield f"binding {number} held zeros, as an index whose bounds are not known: its use was not compared"
        if not binding.pieces or any(encoding.element_bits(piece.element) is None for piece in binding.pieces):
            yield f"binding {number} held zeros, as its type is not known: its use was not compared"
