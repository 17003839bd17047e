"""Storage, against a list of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.extract.values import Origin, Storage, Unknown

SIZE = 48
UNWRITTEN = Unknown("unwritten")

contents = st.one_of(st.binary(min_size=1, max_size=8), st.builds(Unknown, st.sampled_from(["kernel a", "kernel b"])))
writes = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), contents), max_size=12)


@given(writes=writes, start=st.integers(0, SIZE), length=st.integers(1, 16))
def test_reads_what_was_written_last(writes: list[tuple[int, int, bytes | Unknown]], start: int, length: int) -> None:
    storage = Storage(UNWRITTEN)
    model: list[int | Unknown] = [UNWRITTEN] * (2 * SIZE + 16)
    for at, size, content in writes:
        storage.write(at, size, content)
        for i in range(size):
            model[at + i] = content if isinstance(content, Unknown) else content[i % len(content)]
    expected = model[start : start + length]
    found = storage.read(start, length)
    reasons = [value for value in expected if isinstance(value, Unknown)]
    if reasons:
        assert found in reasons
    else:
        assert found == bytes(value for value in expected if isinstance(value, int))


@given(writes=writes, source_start=st.integers(0, SIZE), start=st.integers(0, SIZE), length=st.integers(0, SIZE))
def test_copies(writes: list[tuple[int, int, bytes | Unknown]], source_start: int, start: int, length: int) -> None:
    source, target = Storage(UNWRITTEN), Storage(Unknown("target"))
    for at, size, content in writes:
        source.write(at, size, content)
    target.copy(start, length, source, source_start)
    for i in range(length):
        assert target.read(start + i, 1) == source.read(source_start + i, 1)
    assert target.read(start + length, 1) == Unknown("target")


def test_forgets() -> None:
    storage = Storage(UNWRITTEN)
    storage.write(0, 8, b"\1")
    storage.forget(Unknown("a kernel"))
    assert storage.read(0, 4) == Unknown("a kernel")


def test_does_not_keep_what_is_overwritten() -> None:
    storage = Storage(UNWRITTEN)
    for step in range(1000):
        storage.write(0, 8, bytes([step % 256]))
    assert len(storage._writes) == 1


def test_does_not_read_large_pieces() -> None:
    storage = Storage(UNWRITTEN)
    storage.write(0, 1 << 30, b"\0")
    assert isinstance(storage.read(0, 1 << 29), Unknown)
    assert storage.read((1 << 30) - 8, 8) == bytes(8)


_INPUTS = st.builds(Origin, st.integers(0, 1), st.integers(0, 8))


@given(
    data=st.data(),
    writes=st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), st.one_of(st.none(), _INPUTS)), max_size=8),
)
def test_what_holds_an_input_is_known(data: st.DataObject, writes: list[tuple[int, int, Origin | None]]) -> None:
    """Also through copies: an origin is never wrong, and is known where one write covers the range."""
    source, target = Storage(UNWRITTEN, Origin(0, 0)), Storage(Unknown("target"))
    model: list[Origin | None] = [Origin(0, i) for i in range(3 * SIZE)]
    for at, size, origin in writes:
        source.write(at, size, UNWRITTEN, origin)
        model[at : at + size] = [origin and origin.moved(i) for i in range(size)]
    source_start, start, size = (data.draw(st.integers(0, SIZE)) for _ in range(3))
    target.copy(start, size, source, source_start)
    copied: list[Origin | None] = [None] * (4 * SIZE)
    copied[start : start + size] = model[source_start : source_start + size]
    for storage, expected in ((source, model), (target, copied)):
        at, length = data.draw(st.integers(0, SIZE)), data.draw(st.integers(1, 8))
        found = storage.origin_of(at, length)
        if found is not None:
            assert [found.moved(i) for i in range(length)] == expected[at : at + length]
        elif length == 1:
            assert expected[at] is None


def test_what_is_forgotten_holds_no_input() -> None:
    storage = Storage(UNWRITTEN, Origin(0, 0))
    assert storage.origin_of(8, 4) == Origin(0, 8)
    storage.forget(Unknown("a loop"))
    assert storage.origin_of(8, 4) is None
