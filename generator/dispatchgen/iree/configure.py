"""From a model's source to its configured module: import (for ONNX), then iree-compile up to executable configurations.

That phase runs no code generation, yet fixes which dispatches there are and how each will be compiled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dispatchgen.errors import ModelError, Place, Problem, ToolError
from dispatchgen.iree import messages, process
from dispatchgen.iree.flags import compile_flags, import_flags
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.manifest import sources
from dispatchgen.manifest.suite import Backend, Model, Suite

#: Time limit of one process of the compiler or the importer, in seconds.
DEFAULT_TIMEOUT = 600.0
#: How many of a compiler's errors are repeated.
_ERRORS_SHOWN = 3

_ERROR = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*)$")


def source_path(suite: Suite, model: Model) -> Path:
    """The model's source file: below the suite's folder, or inside an installed Python package (which is not imported).

    Raises ModelError when it does not exist.
    """
    source = model.source
    place = Place(str(suite.manifest), model.line)
    try:
        path = sources.source_path(suite.root, source)
    except FileNotFoundError:
        raise ModelError(
            Problem(
                f"model {model.name}: the Python package {source.package}, which ships {source.path}, is not installed",
                place,
                f"pip install {source.package}",
            )
        ) from None
    if not path.is_file():
        folders = () if source.package is None else sources.package_folders(source.package)
        missing = f"{source.path} in {folders[0]}" if folders else path
        raise ModelError(Problem(f"model {model.name}: there is no file {missing}", place))
    return path


def import_command(tools: CompilerTools, model: Model, source: Path, output: Path) -> list[str]:
    """The command that makes MLIR from a model's .onnx file."""
    importer = [str(tools.python), "-m", "iree.compiler.tools.import_onnx"]
    return [*importer, str(source), "-o", str(output), *import_flags(model)]


def configure_command(tools: CompilerTools, model: Model, backend: Backend, source: Path, output: Path) -> list[str]:
    """The command that makes the configured module from a model's MLIR."""
    phase = "--compile-to=executable-configurations"
    return [str(tools.iree_compile), str(source), "-o", str(output), phase, *compile_flags(model, backend)]


def import_source(
    tools: CompilerTools, suite: Suite, model: Model, work_dir: Path, timeout: float = DEFAULT_TIMEOUT
) -> Path:
    """The model as MLIR: the source itself or, for ONNX, `imported.mlir` in `work_dir`, made now.

    Raises:
      ModelError: the source does not exist or the importer refuses it.
      ToolError: the importer is not installed, crashed or ran past `timeout` seconds.
    """
    source = source_path(suite, model)
    if model.source.format != "onnx":
        return source
    output = work_dir / "imported.mlir"
    result = process.run(import_command(tools, model, source, output), timeout=timeout, check=False)
    if result.returncode == 0:
        return output
    module = messages.missing_python_module(result.stderr)
    if module is not None:
        raise ToolError(
            Problem(
                f"model {model.name}: importing {source.name} needs the Python package {module}, which is missing",
                hint="pip install dispatchgen[onnx]",
            )
        )
    if result.returncode < 0:
        raise _of_model(model, process.failure(result), ToolError)
    reason = messages.python_error(result.stderr) or process.shorten(result.stderr)
    raise ModelError(Problem(f"model {model.name}: the importer refuses it: {reason}", Place(str(source))))


def configure(
    tools: CompilerTools,
    suite: Suite,
    model: Model,
    backend: Backend,
    work_dir: Path,
    timeout: float = DEFAULT_TIMEOUT,
    imported: Path | None = None,
) -> Path:
    """Writes the model's configured module into `work_dir` and returns its path.

    Args:
      imported: The model as MLIR, from `import_source`; None: it is imported now.
      timeout: Time limit of each process, in seconds.

    Raises:
      ModelError: the program is malformed, or does not compile for this backend.
      ToolError: the compiler crashed, was killed, or ran past the time limit.
    """
    source = imported if imported is not None else import_source(tools, suite, model, work_dir, timeout)
    output = work_dir / "configured.mlir"
    command = configure_command(tools, model, backend, source.absolute(), output.absolute())
    # Relative paths in the user's flags start at the suite's folder.
    run_compiler(command, model, backend, source, suite.root, timeout)
    return output


def run_compiler(
    command: Sequence[str], model: Model, backend: Backend, source: Path, cwd: Path, timeout: float = DEFAULT_TIMEOUT
) -> None:
    """Runs a command of iree-compile on a model, or on what an earlier phase made of it.

    Args:
      source: The input, as messages are to name it.
      cwd: Working folder.
      timeout: Time limit, in seconds.

    Raises:
      ModelError: the program is malformed, or does not compile for this backend.
      ToolError: the compiler crashed, was killed, or ran past the time limit.
    """
    try:
        result = process.run(command, timeout=timeout, check=False, cwd=cwd)
    except ToolError as error:
        raise _of_model(model, error.problems[0], ToolError) from None
    if result.returncode < 0 or messages.is_crash(result.stderr):
        raise _of_model(model, process.failure(result), ToolError)
    if result.returncode != 0:
        problems = diagnostics(result.stderr)
        if not problems:
            raise _of_model(model, process.failure(result), ModelError)
        where = f"model {model.name} on backend {backend.name}"
        raise ModelError(*(Problem(f"{where}: {p.message}", _as_given(p.place, source)) for p in problems))


def diagnostics(stderr: str, limit: int = _ERRORS_SHOWN) -> Sequence[Problem]:
    """The first errors among MLIR's diagnostics, shortened: IREE repeats whole operations in them."""
    problems = []
    for line in stderr.splitlines():
        match = _ERROR.match(line)
        if match is None:
            continue
        row = int(match["line"])
        # Operations without a location are reported at line 0.
        place = Place(match["file"], row, int(match["column"])) if row > 0 else Place(match["file"])
        problems.append(Problem(process.shorten(match["text"]), place))
    return problems[:limit]


def _as_given(place: Place | None, source: Path) -> Place | None:
    """A place in the source by the path that the user knows it by, which is not the one the compiler was given."""
    if place is None or place.file != str(source.absolute()):
        return place
    return replace(place, file=str(source))


def _of_model(model: Model, problem: Problem, error: type[ModelError] | type[ToolError]) -> ModelError | ToolError:
    return error(Problem(f"model {model.name}: {problem.message}", problem.place, problem.hint))
