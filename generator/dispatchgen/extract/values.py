"""The values of the host program while it is evaluated.

A scalar is an `int` (unsigned, masked to its width) or a `float`. What is not known carries the reason why: everything
that depends on it has the same reason, down to the dispatch that is then skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

#: Longest piece of a resource whose bytes are kept, in bytes. Shape tensors are far smaller.
_KEPT_BYTES = 1 << 16


@dataclass(frozen=True)
class Unknown:
    """A value that evaluation does not know, and why."""

    reason: str


@dataclass(frozen=True)
class Overflow(Unknown):
    """A size that 64 bits do not hold: a dispatch cannot have it."""


@dataclass(frozen=True)
class BufferView:
    """A tensor argument of the program: its shape and, where given, its bytes."""

    name: str
    shape: tuple[int, ...]
    contents: bytes | None = None  #: Its bytes, or those of one element where all are the same.
    index: int | None = None  #: Which input of the call it is.


@dataclass(frozen=True)
class Origin:
    """A place in an input of the call, whose bytes are there unchanged."""

    input: int
    offset: int  #: In bytes.

    def moved(self, by: int) -> Origin:
        """The place that many bytes behind this."""
        return Origin(self.input, self.offset + by)


@dataclass
class _Write:
    """What a piece of a storage holds: bytes that repeat, or the reason why it is not known."""

    start: int
    stop: int
    content: bytes | Unknown
    origin: Origin | None = None  #: Where an input holds the same.


@dataclass(eq=False)
class Storage:
    """The memory behind resources, as the list of what was written to it, newest last. Equal is only the same."""

    unwritten: Unknown
    origin: Origin | None = None  #: Where an input holds what was never written.
    _writes: list[_Write] = field(default_factory=list)

    def write(self, start: int, length: int, content: bytes | Unknown, origin: Origin | None = None) -> None:
        """Writes `content`, repeated to `length` bytes, at byte `start`."""
        if length <= 0:
            return
        stop = start + length
        self._writes = [old for old in self._writes if old.start < start or old.stop > stop]
        self._writes.append(_Write(start, stop, content, origin))

    def copy(self, start: int, length: int, source: Storage, source_start: int) -> None:
        """Copies what is known of a range of another storage, and the reasons for what is not."""
        shift = start - source_start
        copied = list(source._writes)
        self.write(start, length, source.unwritten, source.origin and source.origin.moved(source_start))
        for write in copied:
            first, last = max(write.start, source_start), min(write.stop, source_start + length)
            if first < last:
                origin = write.origin and write.origin.moved(first - write.start)
                self.write(first + shift, last - first, _rotated(write.content, first - write.start), origin)

    def forget(self, reason: Unknown) -> None:
        """Makes the whole storage unknown."""
        self.unwritten = reason
        self.origin = None
        self._writes.clear()

    def origin_of(self, start: int, length: int) -> Origin | None:
        """Where an input holds the bytes at `start`; None: they are no input's, or of several places."""
        stop = start + length
        for write in reversed(self._writes):
            if write.stop <= start or write.start >= stop:
                continue
            covers = write.start <= start and write.stop >= stop
            return write.origin.moved(start - write.start) if covers and write.origin is not None else None
        return self.origin and self.origin.moved(start)

    def read(self, start: int, length: int) -> bytes | Unknown:
        """The bytes at `start`, or the reason why they are not known."""
        stop = start + length
        for write in reversed(self._writes):
            if write.stop <= start or write.start >= stop:
                continue
            if isinstance(write.content, Unknown):
                return write.content
            if write.start <= start and write.stop >= stop:
                if length > _KEPT_BYTES:
                    return Unknown(f"the contents of more than {_KEPT_BYTES} bytes")
                period = len(write.content)
                first = (start - write.start) % period
                repeated = write.content * ((first + length) // period + 1)
                return repeated[first : first + length]
            return self._read_pieces(start, stop)
        return self.unwritten

    def _read_pieces(self, start: int, stop: int) -> bytes | Unknown:
        """Reads a range that several writes cover, byte by byte."""
        if stop - start > _KEPT_BYTES:
            return Unknown(f"the contents of more than {_KEPT_BYTES} bytes")
        pieces = []
        for at in range(start, stop):
            piece = self.read(at, 1)
            if isinstance(piece, Unknown):
                return piece
            pieces.append(piece)
        return b"".join(pieces)


def _rotated(content: bytes | Unknown, by: int) -> bytes | Unknown:
    """Repeating bytes as they go on after `by` bytes."""
    if isinstance(content, Unknown):
        return content
    phase = by % len(content)
    return content[phase:] + content[:phase]


@dataclass(frozen=True)
class Resource:
    """A `!stream.resource`: `size` bytes of a storage from `offset` on."""

    size: int | Unknown
    storage: Storage
    offset: int | Unknown = 0


Scalar: TypeAlias = int | float | Unknown
HostValue: TypeAlias = int | float | Unknown | BufferView | Resource
