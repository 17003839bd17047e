"""NumPy files that say what inputs and bindings hold."""

from __future__ import annotations

import hashlib
import tokenize
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dispatchgen.buffers.contents import Given, Piece, check_given
from dispatchgen.buffers.encoding import Numbers, element_bits, numpy_type

#: Bytes that an element takes where it is not `element_bits`: IREE keeps truth values in a byte each.
_BOOLEAN = np.dtype("?")
#: What NumPy's files start with.
_MAGIC = b"\x93NUMPY"
#: What NumPy raises for headers, which are Python's text, and for data that are not there.
_DAMAGED = (ValueError, TypeError, EOFError, OverflowError, RecursionError, SyntaxError, tokenize.TokenError)


def read_npy(path: Path) -> Numbers:
    """The array in a file. Raises ValueError, with a message for people, where it cannot be read."""
    try:
        with path.open("rb") as stream:
            kind = stream.read(len(_MAGIC))
        if kind != _MAGIC:
            several = kind.startswith(b"PK")
            raise ValueError("it holds several arrays; a `.npy` file has one" if several else "it is no NumPy file")
        return _load(path)
    except OSError as error:
        raise ValueError(f"cannot read the file: {error.strerror or error}") from None


def _load(path: Path) -> Numbers:
    """The array in a NumPy file. Raises ValueError, with a message for people."""
    try:
        np.load(path, mmap_mode="r", allow_pickle=False)  # what the header says must be there before memory is taken
        array: Numbers = np.load(path, allow_pickle=False)
    except MemoryError:
        raise ValueError("it is larger than what fits into memory, or damaged") from None
    except _DAMAGED as error:
        reason = str(error).partition("\n")[0]
        if "Python objects in dtype" in reason:
            raise ValueError("its elements are objects of Python; numbers are needed") from None
        raise ValueError(f"the file is damaged: {reason}") from None
    return array


def given(array: Numbers, name: str, piece: Piece, dims: Sequence[int] | None, length: int | None = None) -> Given:
    """The bytes of an array, checked against what they fill.

    Args:
      array: The array.
      name: Name of its file, for people.
      piece: What the elements are.
      dims: The shape that it must have; None: any of this length.
      length: How many bytes it must have, where there are no `dims`.

    Raises:
      ValueError: it does not fit, with a message for people.
    """
    expected, type_ = _types(piece.element), array.dtype.newbyteorder("=")
    if type_ not in expected:
        names = " or ".join(str(each) for each in expected)
        raise ValueError(f"its elements are {type_}; {piece.element} needs {names or 'no file'}")
    if dims is not None and array.shape != tuple(dims):
        raise ValueError(f"its shape is {_shape(array.shape)}; {_shape(dims)} is needed")
    if length is not None and array.nbytes != length:
        raise ValueError(f"it has {array.nbytes} bytes; the binding has {length}")
    if piece.bound is not None:
        check_given(array.reshape(-1), piece)
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return Given(name, hashlib.sha256(data).hexdigest(), data)


def _types(element: str) -> list[np.dtype[np.generic]]:
    """The types of arrays that can hold such elements: of those that NumPy lacks, the bits as unsigned integers."""
    if element == "i1":
        return [_BOOLEAN]
    bits = element_bits(element)
    if bits is None or bits < 8:
        return []
    own = numpy_type(element)
    unsigned = np.dtype(f"u{bits // 8}")
    if own is None:
        return [unsigned]
    return [own, unsigned] if own.kind == "i" else [own]


def _shape(dims: Sequence[int]) -> str:
    return "x".join(map(str, dims)) or "a single number"
