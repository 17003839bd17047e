"""From the source of an executable to its configuration, which iree-compile chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import Place, Problem, SubstitutionError, ToolError
from dispatchgen.files import work_folder
from dispatchgen.iree import ir, messages, process
from dispatchgen.iree.configure import diagnostics
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.iree.resources import module_of

#: How MLIR calls an input without a name in its locations.
_UNNAMED = "-"


@dataclass(frozen=True)
class Compiler:
    """iree-compile and the flags of a suite's modules; paths in them start at the working folder."""

    program: Path
    flags: tuple[str, ...]


def configure_executable(compiler: Compiler, device: str, executable: str, file: str) -> Executable:
    """An executable in the configuration phase, from its source.

    Args:
      device: Text of the `util.global` of the device.
      executable: The source, with locations.
      file: Where those locations are, for messages.

    Raises:
      SubstitutionError: it does not compile.
      ToolError: the compiler crashed.
    """
    module = module_of([device, executable])
    phases = ("--compile-from=executable-sources", "--compile-to=executable-configurations")
    return _compile(compiler, module, phases, file)


def resolve_executable(compiler: Compiler, module: str, file: str) -> Executable:
    """The executable of a benchmark module as code generation leaves it: with a workgroup count for each workload.

    Raises SubstitutionError or ToolError as `configure_executable` does.
    """
    phases = ("--compile-from=executable-configurations", "--compile-to=executable-targets")
    return _compile(compiler, module, phases, file)


def _compile(compiler: Compiler, module: str, phases: Sequence[str], file: str) -> Executable:
    with work_folder() as folder:
        source, output = folder / "executable.mlir", folder / "output.mlir"
        source.write_text(module, encoding="utf-8")
        command = [str(compiler.program), str(source), "-o", str(output), *phases, *compiler.flags]
        result = process.run(command, check=False)
        if result.returncode != 0:
            raise _failed(result, file)
        with ir.read_module(output) as compiled:
            executables = read_executables(compiled)
    if len(executables) != 1:
        message = f"expected one executable from iree-compile, found {len(executables)}"
        raise ToolError(Problem(message, Place(file), "compile flags that leave the phases alone"))
    return executables[0]


def _failed(result: process.Result, file: str) -> ToolError | SubstitutionError:
    found = diagnostics(result.stderr)
    if result.returncode < 0 or messages.is_crash(result.stderr) or not found:
        return ToolError(replace(process.failure(result), place=Place(file)))
    cause = found[0]  # what follows says that the phases around it failed
    return SubstitutionError(Problem(f"iree-compile refuses it: {cause.message}", _in_file(cause.place, file)))


def _in_file(place: Place | None, file: str) -> Place:
    """A place in the substitute: where the operation came from, as far as iree-compile says."""
    return replace(place, file=file) if place is not None and place.file == _UNNAMED else Place(file)
