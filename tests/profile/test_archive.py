"""The bytes that bindings held lie beside the profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.extract.sizes import Sizes
from dispatchgen.profile.archive import RecordedBytes, archive_path, read_kept, write_kept
from dispatchgen.profile.store import write_profile
from profiled import dispatch, entry, profile

KEY, OTHER = "a" * 64, "b" * 64
WITH_DATA = profile(dispatch(2, entry(4, 1, (KEY, None)), entry(8, 1)))


def test_bytes_lie_beside_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_profile(path, WITH_DATA)
    write_kept(path, {KEY: b"12345", OTHER: b"of no entry"})
    first = archive_path(path).read_bytes()
    assert read_kept(path, WITH_DATA) == {KEY: b"12345"}
    write_kept(path, {OTHER: b"of no entry", KEY: b"12345"})
    assert archive_path(path).read_bytes() == first, "same content, same bytes"
    found = RecordedBytes([path])
    sizes = {batch: sizes_of(batch) for batch in (4, 8, 16)}
    symbols = ("main_dispatch_2", "main_dispatch_2_matmul_Dx64_f32")
    assert found(*symbols, sizes[4], 0) == b"12345"
    assert [found(*symbols, sizes[4], 1), found(*symbols, sizes[8], 0), found(*symbols, sizes[16], 0)] == [None] * 3
    assert found("main_dispatch_3", "x", sizes[4], 0) is None
    write_kept(path, {})
    assert not archive_path(path).exists()


def sizes_of(batch: int) -> Sizes:
    return Sizes((batch,), (("i32", batch), ("i32", 0)), (batch * 64,))


@pytest.mark.parametrize(
    ("content", "message"), [(None, "are not beside it"), (b"damaged", "the archive cannot be read"), ({}, "lacks aaa")]
)
def test_bytes_that_are_not_there(content: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_profile(path, WITH_DATA)
    if isinstance(content, bytes):
        archive_path(path).write_bytes(content)
    elif content is not None:
        write_kept(path, {OTHER: b"other"})
    with pytest.raises(ProfileError, match=message):
        RecordedBytes([path])
