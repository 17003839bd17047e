"""`<dispatch>.executable.mlir`: the executable that stands in place of the compiler's own, for whole programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.iree.process import shorten
from dispatchgen.objects.linked import LinkedObject
from dispatchgen.substitute.replacement import Replacement

#: What the file is called, behind the dispatch's name.
EXECUTABLE_SUFFIX = ".executable.mlir"
#: How a first line starts that tells of the object, as JSON: whole programs are made without reading objects.
_OBJECT = "// dispatchgen: object: "


@dataclass(frozen=True)
class ExecutableFile:
    """What such a file holds."""

    executable: Executable
    linked: LinkedObject | None


def executable_file(replacement: Replacement) -> str:
    """The content of the file."""
    head = f"{_OBJECT}{replacement.linked.model_dump_json()}\n" if replacement.linked is not None else ""
    return head + replacement.text.strip("\n") + "\n"


def read_executable_file(path: Path) -> ExecutableFile:
    """Reads the file. Raises ModelError where it is not what `executable_file` makes."""
    place = Place(str(path))
    try:
        text = path.read_text(encoding="utf-8")
        first = text.partition("\n")[0]
        linked = LinkedObject.model_validate_json(first.removeprefix(_OBJECT)) if first.startswith(_OBJECT) else None
        executable = parse_executable(text)
        if executable.missing_resources:
            raise ValueError(f"it has no data for {', '.join(executable.missing_resources)}")
        return ExecutableFile(executable, linked)
    except OSError as error:
        raise ModelError(Problem(f"cannot read the executable: {error.strerror}", place)) from None
    except ValueError as error:
        message = f"expected an executable that `dispatchgen substitute` wrote: {shorten(str(error))}"
        raise ModelError(Problem(message, place)) from None


def parse_executable(text: str) -> Executable:
    """The one executable that a text holds. Raises ValueError where there is not one."""
    try:
        with ir.parse_module(text) as module:
            found = read_executables(module)
    except ir.NotIR as error:
        raise ValueError(str(error)) from error
    if len(found) != 1:
        raise ValueError(f"it holds {len(found)} executables")
    return found[0]
