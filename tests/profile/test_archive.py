"""The bytes that bindings held lie beside the profile; files of others stay where they are."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from iree.runtime import ParameterIndex

from dispatchgen.errors import OutputError, ProfileError
from dispatchgen.extract.sizes import Sizes
from dispatchgen.profile.archive import Kept, RecordedBytes, archive_path, check_output, write_with_data
from dispatchgen.profile.schema import Profile
from dispatchgen.profile.store import profile_text, write_profile
from profiled import dispatch, entry, profile

IDS, TABLE = b"12345", b"6789"
KEY, OTHER = (hashlib.sha256(data).hexdigest() for data in (IDS, TABLE))
KEPT = {KEY: IDS, OTHER: TABLE}
WITH_DATA = profile(dispatch(2, entry(4, 1, (KEY, None)), entry(8, 1)))
SYMBOLS = ("main_dispatch_2", "main_dispatch_2_matmul_Dx64_f32")
CODES = {SYMBOLS: ("matmul_Dx64_f32", "2" * 64)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a profile is to be written."""
    return tmp_path / "m.json"


def sizes_of(batch: int) -> Sizes:
    return Sizes((batch,), (("i32", batch), ("i32", 0)), (batch * 64, batch * 4))


def recorded(folder: Path, *profiles: Profile) -> RecordedBytes:
    """What profiles kept, written to a folder."""
    for number, each in enumerate(profiles):
        write_with_data(folder / f"{number}.json", each, KEPT)
    return RecordedBytes(CODES, [(folder / f"{number}.json", each) for number, each in enumerate(profiles)])


def write_archive(path: Path, kept: dict[str, bytes]) -> None:
    index = ParameterIndex()
    for key, data in kept.items():
        index.add_buffer(key, data)
    index.create_archive_file(str(path))


def test_bytes_lie_beside_the_profile(path: Path) -> None:
    """Those of its keys, in a file that no other profile or model can have."""
    write_with_data(path, WITH_DATA, KEPT)
    archive = path.with_name("m.json.irpa")
    assert sorted(path.parent.iterdir()) == [path, archive]
    kept = Kept(path, WITH_DATA)
    assert {key: kept[key] for key in kept.keys} == {KEY: IDS}
    first = archive.read_bytes()
    write_with_data(path, WITH_DATA, dict(reversed(KEPT.items())))
    assert archive.read_bytes() == first, "same content, same bytes"
    write_with_data(path, profile(dispatch(2, entry(4, 1))), KEPT)
    assert list(path.parent.iterdir()) == [path], "the new profile has no data"


def test_bytes_of_the_same_code_at_the_same_sizes(tmp_path: Path) -> None:
    found = recorded(tmp_path, WITH_DATA)
    assert found(*SYMBOLS, sizes_of(4), 0) == IDS
    for sizes, binding in ((sizes_of(4), 1), (sizes_of(4), 2), (sizes_of(8), 0), (sizes_of(16), 0)):
        assert found(*SYMBOLS, sizes, binding) is None
    assert found("main_dispatch_3", "x", sizes_of(4), 0) is None
    other = dispatch(2, entry(4, 1, (KEY, None))).model_copy(update={"content": "3" * 64})
    assert recorded(tmp_path, profile(other))(*SYMBOLS, sizes_of(4), 0) is None, "other code under the same symbols"
    renamed = dispatch(2, entry(4, 1, (KEY, None))).model_copy(update={"executable": "e", "export": "x"})
    assert recorded(tmp_path, profile(renamed))(*SYMBOLS, sizes_of(4), 0) == IDS


def test_each_binding_is_of_the_first_profile_that_knows_it(tmp_path: Path) -> None:
    datas: list[tuple[str | None, ...]] = [(), (None, None), (KEY, None), (OTHER, OTHER)]
    found = recorded(tmp_path, *(profile(dispatch(2, entry(4, 1, data))) for data in datas))
    assert [found(*SYMBOLS, sizes_of(4), binding) for binding in range(2)] == [IDS, TABLE]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "are not beside it"),
        (b"damaged", "the archive cannot be read"),
        ({OTHER: TABLE}, f"the archive lacks {KEY}"),
        ({KEY: b"12346"}, f"the archive is damaged: it holds other bytes as {KEY}"),
    ],
)
def test_an_archive_that_does_not_have_the_bytes(
    content: bytes | dict[str, bytes] | None, message: str, path: Path
) -> None:
    if isinstance(content, bytes):
        archive_path(path).write_bytes(content)
    elif content is not None:
        write_archive(archive_path(path), content)
    with pytest.raises(ProfileError, match=message) as caught:
        RecordedBytes(CODES, [(path, WITH_DATA)])(*SYMBOLS, sizes_of(4), 0)
    assert str(archive_path(path)) in str(caught.value)


def test_bytes_that_nobody_asks_for_are_not_read(path: Path) -> None:
    both = profile(dispatch(2, entry(4, 1, (KEY, OTHER))))
    write_archive(archive_path(path), {KEY: IDS, OTHER: b"damaged"})
    assert RecordedBytes(CODES, [(path, both)])(*SYMBOLS, sizes_of(4), 0) == IDS


@pytest.mark.parametrize(
    "content", ["# benchmarks\nversion: 1\n", "{}", '{"version": 1, "model": "m", "digest": ""}', ""]
)
def test_what_is_no_profile_is_not_replaced(content: str, path: Path) -> None:
    path.write_text(content)
    with pytest.raises(OutputError, match="there is a file that is no profile"):
        write_with_data(path, WITH_DATA, KEPT)
    assert path.read_text() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("before", [None, profile(dispatch(2, entry(4, 1, (OTHER, None)))), "damaged"])
def test_an_archive_of_something_else_is_not_touched(before: Profile | str | None, path: Path) -> None:
    """With or without data to be written."""
    archive = archive_path(path)
    write_archive(archive, {KEY: IDS})
    if isinstance(before, Profile):
        write_profile(path, before)
    elif before is not None:
        path.write_text(profile_text(WITH_DATA).replace('"count": 1', '"count": 2'))
    held = archive.read_bytes()
    for new in (WITH_DATA, profile(dispatch(2, entry(4, 1)))):
        with pytest.raises(OutputError, match=r"no profile m\.json with its keys"):
            write_with_data(path, new, KEPT)
    assert archive.read_bytes() == held


def test_a_damaged_profile_is_replaced(path: Path) -> None:
    """That is what its own message advises."""
    path.write_text(profile_text(WITH_DATA)[:-20])
    check_output(path)


@pytest.mark.parametrize("name", ["m.json", "m.json.irpa"])
def test_a_folder_is_not_replaced(name: str, path: Path) -> None:
    (path.parent / name).mkdir()
    with pytest.raises(OutputError, match="there is a folder of this name"):
        check_output(path)
