"""What buffers hold as a run goes on, against buffers that are written byte by byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.iree.replay import (
    Copied,
    Filled,
    Range,
    RecordedDispatch,
    RecordedExecutable,
    Recording,
    Slice,
    Written,
)
from dispatchgen.profile.contents import Contents

SIZE = 24
#: What the "recording" holds.
BYTES = bytes(range(1, 200))

places = st.tuples(st.integers(0, 1), st.integers(0, SIZE - 1), st.integers(1, SIZE)).map(
    lambda t: Slice(t[0], t[1], min(t[2], SIZE - t[1]))
)
events = st.one_of(
    st.tuples(places, st.integers(0, 100)).map(lambda t: Written(t[0], Range(t[1], t[0].length or 0))),
    places.map(lambda place: Written(place, None)),
    st.tuples(places, st.binary(min_size=1, max_size=4)).map(lambda t: Filled(*t)),
    st.tuples(places, st.integers(0, 1), st.integers(0, SIZE - 1)).map(
        lambda t: Copied(
            Slice(t[0].buffer, t[0].offset, min(t[0].length or 0, SIZE - t[2])),
            Slice(t[1], t[2], min(t[0].length or 0, SIZE - t[2])),
        )
    ),
    places.map(lambda place: dispatch(place)),
)


def dispatch(*bindings: Slice) -> RecordedDispatch:
    executable = RecordedExecutable("f", ("d",), Range(0, 0))
    return RecordedDispatch(executable, "d", (1, 1, 1), (), bindings, during_load=False)


class Model:
    """Two buffers of bytes that are known or not."""

    def __init__(self) -> None:
        self.buffers: list[list[int | None]] = [[None] * SIZE for _ in range(2)]

    def apply(self, event: Written | Filled | Copied | RecordedDispatch) -> None:
        if isinstance(event, RecordedDispatch):
            self.put(event.bindings[0], [None] * SIZE)
        elif isinstance(event, Written):
            data = event.data
            self.put(event.target, [None] * SIZE if data is None else list(BYTES[data.offset :]))
        elif isinstance(event, Filled):
            self.put(event.target, list(event.pattern * SIZE))
        else:
            self.put(event.target, self.get(event.source))

    def put(self, place: Slice, values: list[int | None]) -> None:
        assert place.length is not None
        self.buffers[place.buffer][place.offset : place.offset + place.length] = values[: place.length]

    def get(self, place: Slice) -> list[int | None]:
        assert place.length is not None
        return self.buffers[place.buffer][place.offset : place.offset + place.length]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("recording") / "bytes"
    path.write_bytes(BYTES)
    with Recording(path) as opened:
        yield opened


@given(st.lists(events, max_size=12), st.lists(places, min_size=1, max_size=4))
def test_contents_are_what_was_written_last(recording: Recording, happened: list[object], read: list[Slice]) -> None:
    contents, model = Contents(), Model()
    for event in happened:
        assert isinstance(event, (Written, Filled, Copied, RecordedDispatch))
        model.apply(event)
        if isinstance(event, RecordedDispatch):
            contents.forget(event, [True])
        else:
            contents.apply(event)
    for place in read:
        expected = model.get(place)
        known = None if None in expected else bytes(value for value in expected if value is not None)
        assert contents.read(place, recording) == known


def test_a_binding_that_is_only_read_keeps_what_it_holds(recording: Recording) -> None:
    contents = Contents()
    place = Slice(7, 0, 4)
    contents.apply(Written(place, Range(0, 4)))
    contents.forget(dispatch(place, Slice(8, 0, 4)), [False, True])
    assert contents.read(place, recording) == BYTES[:4]
    assert contents.read(Slice(8, 0, 4), recording) is None


def test_the_end_of_a_buffer_can_be_left_open(recording: Recording) -> None:
    contents = Contents()
    contents.apply(Written(Slice(7, 0, 8), Range(0, 8)))
    contents.apply(Written(Slice(7, 4, None), None))
    assert contents.read(Slice(7, 0, 4), recording) == BYTES[:4]
    assert contents.read(Slice(7, 0, 8), recording) is None
