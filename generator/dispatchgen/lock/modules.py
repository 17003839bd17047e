"""The build's extraction step: benchmark modules of what a lock lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from dispatchgen.errors import CheckFailed, LockError, Place, Problem
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call
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
      CheckFailed: the lock does not fit: it lists a dispatch or a benchmark that there is not, or lacks one; or the
        build file was generated from another lock.
      LockError, ModelError, ShapeError, OutputError: as reading, extraction and writing raise them.
    """
    lock = read_lock(lock_path)
    if listed is not None and listed != _listed_by(lock, backend):
        message = "the build file was generated from another lock: it lists other dispatches or calls"
        raise CheckFailed(Problem(message, Place(str(lock_path)), generate_command(lock_path)))
    if backend not in lock.backends:
        raise LockError(
            Problem(f"the lock has no backend {backend!r}", Place(str(lock_path)), renew_command(lock_path))
        )
    locked = lock.backends[backend]
    with ir.read_module(configured, lock.made_from.compiler) as module:
        extraction = extract(Program(module), lock.calls, backend, locked)
        difference = compare(locked, extraction.lock)
        if difference.needs_new_lock:
            listed = "\n".join(f"  {line}" for line in difference.lines())
            raise CheckFailed(
                Problem(
                    f"the dispatches of {lock.model} on {backend} are not those that its lock lists\n{listed}",
                    Place(str(lock_path)),
                    f"{renew_command(lock_path)}, then {generate_command(lock_path)}",
                )
            )
        files = {f"{name}.mlir": text for name, text in extraction.modules()}
    files |= {f"{call.name}.flags": "\n".join([*_flags(call), ""]) for call in lock.calls}
    files["index.json"] = extraction.lock.model_dump_json(indent=1) + "\n"
    for name, text in files.items():
        write_if_changed(output / name, text)
    for path in output.iterdir():
        if path.suffix in (".mlir", ".flags") and path.name not in files:
            path.unlink()
    return difference


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
