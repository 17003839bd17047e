"""What a substitute replaces: a dispatch of the build, as its benchmark module has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from dispatchgen.errors import ModelError, Place, Problem, SubstitutionError
from dispatchgen.extract.schema import BackendDispatches, Dispatch
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.lock.drift import SKIPPED
from dispatchgen.manifest.names import did_you_mean, show


@dataclass(frozen=True)
class Original:
    """A dispatch and its benchmark module."""

    dispatch: Dispatch
    module: str  #: Text of the benchmark module.
    device: str  #: Text of the `util.global` of the device that it runs on.
    executable: Executable  #: With the stable names of the benchmark module.

    @property
    def name(self) -> str:
        """Stable name of the dispatch."""
        return self.dispatch.name


@dataclass(frozen=True)
class Missing:
    """A dispatch of the lock that the program does not have any more, where drift is allowed."""

    name: str
    reason: str


def read_index(path: Path) -> BackendDispatches:
    """What extraction found in this build. Raises ModelError where the file cannot be read."""
    place = Place(str(path))
    try:
        return BackendDispatches.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ModelError(Problem(f"cannot read the list of dispatches: {error.strerror}", place)) from None
    except ValidationError as error:
        message = f"this is no list of dispatches of this version of dispatchgen: {error.errors()[0]['msg']}"
        raise ModelError(Problem(message, place)) from None


def skipped_reason(path: Path) -> str | None:
    """Why there is a placeholder in place of a module; None: there is a module.

    Raises ModelError where the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            first = stream.readline()
    except OSError as error:
        raise ModelError(Problem(f"cannot read the module: {error.strerror}", Place(str(path)))) from None
    return first.removeprefix(SKIPPED).rstrip("\n") if first.startswith(SKIPPED) else None


def read_originals(folder: Path, names: Sequence[str]) -> list[Original | Missing]:
    """The dispatches of these names, from the folder that extraction wrote.

    Raises:
      SubstitutionError: there is no dispatch of a name.
      ModelError: a file cannot be read.
    """
    index = read_index(folder / "index.json")
    dispatches = {dispatch.name: dispatch for dispatch in index.dispatches}
    found: list[Original | Missing] = []
    problems = []
    for name in names:
        path = folder / f"{name}.mlir"
        if path.is_file() and (reason := skipped_reason(path)) is not None:
            found.append(Missing(name, reason))
        elif name in dispatches:
            found.append(_read(path, dispatches[name]))
        else:
            problems.append(_unknown(name, list(dispatches), folder))
    if problems:
        raise SubstitutionError(*problems)
    return found


def _unknown(name: str, names: Sequence[str], folder: Path) -> Problem:
    return Problem(f"there is no dispatch {show(name)} to substitute", Place(str(folder)), did_you_mean(name, names))


def _read(path: Path, dispatch: Dispatch) -> Original:
    with ir.read_module(path) as module:
        executables = read_executables(module)
        devices = [op for op in ir.body(module) if op.name == "util.global" and _is_device(op)]
        if len(executables) != 1 or len(devices) != 1:
            found = f"found {len(executables)} executables and {len(devices)} devices"
            message = f"expected a benchmark module, with one executable and one device; {found}"
            raise ModelError(Problem(message, Place(str(path)), "extract the dispatches again"))
        device_text = devices[0].get_asm(use_local_scope=True)
    return Original(dispatch, path.read_text(encoding="utf-8"), device_text, executables[0])


def _is_device(operation: ir.Operation) -> bool:
    return str(operation.attributes["type"]) == "!hal.device"
