"""Reading PTX, NVIDIA's assembly language: the directives that make up a kernel's interface (PTX ISA, chapter 11)."""

from __future__ import annotations

import re
from pathlib import Path

from dispatchgen.objects.model import EntryPoint, ObjectError, ObjectFile

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_VERSION = re.compile(r"^\s*\.version\s+\d+\.\d+", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[a-z]?)", re.MULTILINE)
_IDENTIFIER = r"[A-Za-z_$%][\w$]*"
#: An entry with its parameters, and what stands before its body.
_ENTRY = re.compile(rf"\.entry\s+({_IDENTIFIER})\s*(?:\(([^)]*)\))?([^{{;]*)([{{;]?)")
_DIMENSIONS = re.compile(r"\.(maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def is_ptx(data: bytes) -> bool:
    """Whether this is PTX: text that has a `.version` directive before anything else."""
    head = _COMMENT.sub(" ", data[:65536].decode("utf-8", "replace"))
    return head.lstrip().startswith(".version")


def parse(path: Path, data: bytes) -> ObjectFile:
    """Reads PTX. Raises ObjectError where it is cut short or malformed."""
    try:
        text = _COMMENT.sub(" ", data.rstrip(b"\0").decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ObjectError(f"the object is malformed: PTX is text, byte {error.start} is not UTF-8") from None
    target = _TARGET.search(text)
    if target is None or _VERSION.search(text) is None:
        raise ObjectError("the object is malformed: PTX starts with .version MAJOR.MINOR and .target sm_NN")
    if text.count("{") != text.count("}"):
        raise ObjectError("the object is cut short: a body of its PTX is not closed")
    return ObjectFile(
        path=path,
        data=data,
        format="ptx",
        architecture=target[1],
        kind="module",
        entry_points=tuple(_entry(match) for match in _ENTRY.finditer(text) if match[4] == "{"),
    )


def _entry(match: re.Match[str]) -> EntryPoint:
    parameters = (match[2] or "").strip()
    required: tuple[int, int, int] | None = None
    most: int | None = None
    for kind, *sizes in _DIMENSIONS.findall(match[3]):
        x, y, z = (int(size or 1) for size in sizes)
        if kind == "reqntid":
            required = (x, y, z)
        else:
            most = x * y * z
    return EntryPoint(
        match[1],
        workgroup_size=required,
        max_threads=most,
        parameters=len(parameters.split(",")) if parameters else 0,
    )
