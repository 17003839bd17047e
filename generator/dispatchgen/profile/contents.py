"""What the buffers of a recorded run held, as far as the host wrote it: bytes, fills, and copies of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dispatchgen.iree.replay import Copied, Filled, Range, RecordedDispatch, Recording, Slice, Written


@dataclass(frozen=True)
class _Piece:
    """Known bytes of a buffer, from `start` up to `end`."""

    start: int
    end: int
    data: Range | None = None  #: Where the recording has them; None: they repeat `pattern`.
    pattern: bytes = b""
    phase: int = 0  #: Where in the pattern they start.

    def part(self, start: int, end: int) -> _Piece:
        """What of the piece lies between `start` and `end`, which is not nothing."""
        start, end = max(start, self.start), min(end, self.end)
        skipped = start - self.start
        if self.data is not None:
            return replace(self, start=start, end=end, data=Range(self.data.offset + skipped, end - start))
        return replace(self, start=start, end=end, phase=(self.phase + skipped) % len(self.pattern))

    def moved(self, distance: int) -> _Piece:
        """The same bytes at another offset."""
        return replace(self, start=self.start + distance, end=self.end + distance)

    def read(self, recording: Recording) -> bytes:
        """The bytes."""
        if self.data is not None:
            return recording.bytes_of(self.data)
        length = self.end - self.start
        repeated = self.pattern * (2 + length // len(self.pattern))
        return repeated[self.phase : self.phase + length]


@dataclass
class Contents:
    """The buffers of a run, as it goes on."""

    _buffers: dict[int, list[_Piece]] = field(default_factory=dict)  #: Pieces that do not overlap.

    def apply(self, event: Written | Filled | Copied) -> None:
        """Takes notice of what was written."""
        target = event.target
        pieces: list[_Piece] = []
        if isinstance(event, Copied):
            distance = target.offset - event.source.offset
            pieces = [piece.moved(distance) for piece in self._pieces(event.source)]
        elif isinstance(event, Filled) and event.pattern and target.length is not None:
            pieces = [_Piece(target.offset, target.offset + target.length, pattern=event.pattern)]
        elif isinstance(event, Written) and event.data is not None:
            pieces = [_Piece(target.offset, target.offset + event.data.length, data=event.data)]
        self._replace(target, pieces)

    def forget(self, dispatch: RecordedDispatch, written: Sequence[bool]) -> None:
        """Takes notice that a dispatch wrote to bindings: what they hold then is not known."""
        for binding, is_written in zip(dispatch.bindings, written, strict=False):
            if is_written:
                self._replace(binding, [])

    def read(self, part: Slice, recording: Recording) -> bytes | None:
        """What a part of a buffer holds; None where not all of it is known."""
        if not part.length:
            return None
        end = part.offset
        pieces = sorted(self._pieces(part), key=lambda piece: piece.start)
        for piece in pieces:
            if piece.start != end:
                return None
            end = piece.end
        if end != part.offset + part.length:
            return None
        return b"".join(piece.read(recording) for piece in pieces)

    def _pieces(self, part: Slice) -> Iterator[_Piece]:
        """The known pieces of a part of a buffer."""
        start, end = _bounds(part)
        for piece in self._buffers.get(part.buffer, ()):
            if piece.start < end and start < piece.end:
                yield piece.part(start, end)

    def _replace(self, part: Slice, pieces: list[_Piece]) -> None:
        start, end = _bounds(part)
        kept: list[_Piece] = []
        for piece in self._buffers.pop(part.buffer, ()):
            if piece.start < start:
                kept.append(piece.part(piece.start, min(start, piece.end)))
            if piece.end > end:
                kept.append(piece.part(max(end, piece.start), piece.end))
        if kept or pieces:
            self._buffers[part.buffer] = [*kept, *pieces]


def _bounds(part: Slice) -> tuple[int, int]:
    return part.offset, 1 << 63 if part.length is None else part.offset + part.length
