"""NumPy files that fill inputs and bindings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from dispatchgen.buffers.contents import Piece
from dispatchgen.buffers.uses import UNKNOWN_BOUND
from dispatchgen.extract.npy import given, read_npy


def test_an_array_is_read(tmp_path: Path) -> None:
    array = np.arange(6, dtype=">i4").reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    found = given(read_npy(tmp_path / "a.npy"), "a.npy", Piece(0, "i32", 6), (2, 3))
    assert found.data == array.astype("<i4").tobytes()
    assert found.words == "a.npy"


def test_columns_first_is_no_other_order(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)))
    found = given(read_npy(tmp_path / "a.npy"), "a.npy", Piece(0, "f32"), (2, 3))
    assert list(np.frombuffer(found.data, "f4")) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("i1", "?"), ("i8", "u1"), ("i64", "i8"), ("bf16", "u2"), ("f8E4M3FN", "u1"), ("complex<f32>", "c8")],
)
def test_types_that_go_together(element: str, dtype: str) -> None:
    array = np.ones(4, dtype)
    assert given(array, "a.npy", Piece(0, element), (4,)).data == array.tobytes()


@pytest.mark.parametrize(
    ("array", "piece", "dims", "length", "message"),
    [
        (np.ones(4, "f8"), Piece(0, "f32"), (4,), None, "its elements are float64; f32 needs float32"),
        (np.ones(4, ">f8"), Piece(0, "f32"), (4,), None, "its elements are float64; f32 needs float32"),
        (np.array(["1"]), Piece(0, "f32"), (1,), None, "its elements are <U1; f32 needs float32"),
        (np.ones(4, "f4"), Piece(0, "i32"), (4,), None, "its elements are float32; i32 needs int32 or uint32"),
        (np.ones(4, "i8"), Piece(0, "i4"), (4,), None, "its elements are int64; i4 needs no file"),
        (np.ones((2, 2), "f4"), Piece(0, "f32"), (4,), None, "its shape is 2x2; 4 is needed"),
        (np.ones((), "f4"), Piece(0, "f32"), (1,), None, "its shape is a single number; 1 is needed"),
        (np.ones(4, "f4"), Piece(0, "f32"), None, 12, "it has 16 bytes; the binding has 12"),
        (
            np.array([0, 9, 10]),
            Piece(0, "i64", 10),
            (3,),
            None,
            "element 2 is 10, the kernel needs positions from 0 to 9",
        ),
        (np.array([[0, -1]]), Piece(0, "i64", 10), None, 16, "element 1 is -1, the kernel needs positions from 0 to 9"),
    ],
)
def test_what_does_not_fit(
    array: npt.NDArray[np.generic], piece: Piece, dims: tuple[int, ...] | None, length: int | None, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        given(array, "a.npy", piece, dims, length)


def test_positions_of_unknown_bounds_are_the_users() -> None:
    assert given(np.array([77]), "a.npy", Piece(0, "i64", UNKNOWN_BOUND), (1,)).data[0] == 77


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the file: No such file or directory"),
        (b"", "it is no NumPy file$"),
        (b"\x93NUMPY\x01", "the file is damaged: "),
        (b"hello 1 2 3", "it is no NumPy file$"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_npy(path)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (8000000000000,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000000000000,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), ",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (None,), }",
        "{'descr': ['<f4'], 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '<q9', 'fortran_order': False, 'shape': (4,), }",
        "(" * 4000,
        "[]",
        "",
        "\0" * 9,
    ],
)
@pytest.mark.parametrize("version", [1, 2, 3, 9])
def test_damaged_headers(header: str, version: int, tmp_path: Path) -> None:
    text = header.encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(16))
    with pytest.raises(ValueError, match=r"^the file is damaged: "):
        read_npy(tmp_path / "a.npy")


def test_an_array_of_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((0, 4), "f4"))
    assert read_npy(tmp_path / "a.npy").shape == (0, 4)


def test_what_else_numpy_writes_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "several.npy.npz", a=np.ones(3))
    (tmp_path / "several.npy.npz").rename(tmp_path / "several.npy")
    np.save(tmp_path / "cut.npy", np.ones(100))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:300])
    for name, message in (("objects", "objects of Python"), ("several", "several arrays"), ("cut", "damaged: ")):
        with pytest.raises(ValueError, match=message):
            read_npy(tmp_path / f"{name}.npy")
