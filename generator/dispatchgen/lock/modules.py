"""The build's extraction step: benchmark modules of what a lock lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from dispatchgen.errors import CheckFailed, LockError, ModelError, Place, Problem
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches, Call
from dispatchgen.files import write_if_changed
from dispatchgen.iree import ir
from dispatchgen.lock.compare import Difference, compare
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import generate_command, read_lock, renew_command


def write_modules(
    configured: Path, lock_path: Path, backend: str, output: Path, listed: str | None = None
) -> Difference:
    """Writes `<dispatch>.mlir`, `<call>.flags` and `index.json` to a folder, and removes other modules from there.

    Returns how the dispatches differ from what the lock lists, where the lock still fits.

    Args:
      listed: `listed_digest` of the names in the build file. None: not to be compared with the lock's.

    Raises:
      CheckFailed: the lock does not fit: it lists a dispatch or a benchmark that there is not, or lacks one, or calls
        that the program does not take; or the build file was generated from another lock.
      LockError, ModelError, OutputError: as reading and writing raise them.
    """
    lock = read_lock(lock_path)
    locked = _locked(lock, lock_path, backend, listed)
    with ir.read_module(configured, lock.made_from.compiler) as module:
        extraction = _extract(module, lock, lock_path, locked)
        difference = compare(locked, extraction.lock)
        if difference.needs_new_lock:
            message = f"the dispatches of {lock.model} on {backend} are not those that its lock lists"
            lines = [message, *(f"  {line}" for line in difference.lines())]
            raise CheckFailed(Problem("\n".join(lines), Place(str(lock_path)), _renew_all(lock_path)))
        files = {f"{name}.mlir": text for name, text in extraction.modules()}
    files |= {f"{call.name}.flags": "\n".join([*_flags(call), ""]) for call in lock.calls}
    files["index.json"] = extraction.lock.model_dump_json(indent=1) + "\n"
    for name, text in files.items():
        write_if_changed(output / name, text)
    for path in output.iterdir():
        if path.suffix in (".mlir", ".flags") and path.name not in files:
            path.unlink()
    return difference


def _locked(lock: Lock, path: Path, backend: str, listed: str | None) -> BackendDispatches:
    """What the lock lists for a backend. Raises CheckFailed where the build file does not list the same."""
    if listed is not None and listed != _listed_by(lock, backend):
        message = "the build file was generated from another lock: it lists other dispatches or calls"
        raise CheckFailed(Problem(message, Place(str(path)), generate_command(path)))
    if backend not in lock.backends:
        raise LockError(Problem(f"the lock has no backend {backend!r}", Place(str(path)), renew_command(path)))
    return lock.backends[backend]


def _extract(module: ir.Operation, lock: Lock, path: Path, locked: BackendDispatches) -> Extraction:
    """Extraction at the calls that the lock lists. Raises CheckFailed where the program does not take them any more."""
    try:
        return extract(Program(module), lock.calls, locked.backend, locked)
    except ModelError as error:
        reasons = [f"model {lock.model} does not take the calls that its lock lists"]
        reasons += [f"  {problem.message}\n    at {problem.place}" for problem in error.problems]
        raise CheckFailed(Problem("\n".join(reasons), Place(str(path)), _renew_all(path))) from error


def _renew_all(path: Path) -> str:
    return f"{renew_command(path)}, then {generate_command(path)}"


def listed_digest(dispatches: Iterable[str], calls: Iterable[str]) -> str:
    """SHA-256 of names as a build file lists them: a line each, sorted, an empty line between dispatches and calls.

    `_iree_dispatch_listed` of the CMake rules computes the same.
    """
    text = "\n".join(sorted(dispatches)) + "\n\n" + "\n".join(sorted(calls))
    return hashlib.sha256(text.encode()).hexdigest()


def _listed_by(lock: Lock, backend: str) -> str | None:
    """The digest of what a lock lists for a backend; None: nothing."""
    if backend not in lock.backends:
        return None
    return listed_digest((d.name for d in lock.backends[backend].dispatches), (call.name for call in lock.calls))


def _flags(call: Call) -> Iterator[str]:
    """The flags of `iree-benchmark-module` and `iree-run-module` that make a call, one per line of a flag file."""
    yield f"--function={call.function}"
    for value in call.inputs:
        yield f"--input={value}"
