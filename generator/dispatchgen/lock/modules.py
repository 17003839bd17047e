"""The build's extraction step: benchmark modules of what a lock lists."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import CheckFailed, DataError, LockError, ModelError, Place, Problem
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.files import remove, write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.tools import compiler_version, other_build_note
from dispatchgen.lock import drift
from dispatchgen.lock.compare import Difference, added_functions, compare
from dispatchgen.lock.data import ProfilesOf, data_plan
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import generate_command, read_lock, renew_command
from dispatchgen.manifest.suite import Drift
from dispatchgen.profile.sizes import locked_sizes

#: File beside the benchmark modules with the names of all that was written, by which the next run knows its own.
WRITTEN = "written.txt"


@dataclass(frozen=True)
class Step:
    """One extraction of a build."""

    configured: Path  #: The configured module.
    lock_path: Path
    backend: str  #: Id of the backend.
    output: Path  #: Folder of what is written.
    listed: str | None = None  #: `listed_digest` of the names in the build file. None: not compared with the lock's.
    drift: Drift | None = None  #: Whether the dispatches may differ from the lock's. None: no, and write no report.
    iree_compile: Path | None = None  #: The program that wrote `configured`, where it is known.
    renew: str | None = None  #: The command that renews lock and build file. None: dispatchgen's own, for CMake.
    root: Path | None = None  #: What paths of files in the lock are relative to. None: the folder above the lock's.
    inputs_at: str | None = None  #: Path by which flag files name files beside them. None: `output`, made absolute.

    @property
    def renew_command(self) -> str:
        """The command that renews lock and build file."""
        return self.renew or f"{renew_command(self.lock_path)}, then {self.generate_command}"

    @property
    def generate_command(self) -> str:
        """The command that renews the build file."""
        return self.renew or generate_command(self.lock_path)


def write_modules(step: Step) -> list[str]:
    """Writes `<dispatch>.mlir`, `<dispatch>.irpa`, `<call>.flags` and `index.json` to a folder.

    What else an earlier run wrote is removed. An archive is there of the dispatches of which the lock says so.
    Where drift is given, `drift.txt` as well; where it is allowed, a locked dispatch that is not there has a
    placeholder that says why, and a new one has no module. Returns what there is to say, a line each.

    Raises:
      CheckFailed: the lock does not fit and drift is not allowed: it lists a dispatch or a benchmark that there is not,
        or lacks one, or an entry function. The calls of the lock do not fit the program. The build file was generated
        from another lock.
      LockError, ModelError, OutputError, ToolError: as reading, writing and asking the compiler raise them.
    """
    lock = read_lock(step.lock_path)
    locked = _locked(lock, step)
    compiler = compiler_version(step.iree_compile) if step.iree_compile is not None else None
    with ir.read_module(step.configured, compiler) as module:
        program = Program(module)
        extraction = _extract(program, lock, step, locked)
        difference = compare(locked, extraction.lock, added_functions(lock, program.entries))
        if difference.needs_new_lock and step.drift != "allow":
            message = f"the dispatches of {lock.model} on {step.backend} are not those that its lock lists"
            lines = [message, *(f"  {line}" for line in difference.lines())]
            raise CheckFailed(Problem("\n".join(lines), Place(str(step.lock_path)), step.renew_command))
        notes = _write(step, lock, locked, extraction, difference)
    version = other_build_note(compiler, ir.bindings_version()) if compiler is not None else None
    return [*([version] if version is not None else []), *notes]


def _write(
    step: Step, lock: Lock, locked: BackendDispatches, extraction: Extraction, difference: Difference
) -> list[str]:
    """Writes all files of a step; returns what there is to say of the difference."""
    found, inputs = extraction.lock, extraction.held.files
    missing = drift.missing_dispatches(lock.model, locked, found)
    names = {dispatch.name for dispatch in locked.dispatches}
    texts = {name: text for name, text in extraction.modules() if name in names}
    texts |= {name: drift.placeholder(reason) for name, reason in missing.items()}
    files: dict[str, str | bytes] = {f"{name}.mlir": text for name, text in texts.items()}
    # A test that is skipped reads no data; but build systems want the file.
    files |= {f"{each.name}.irpa": b"" for each in locked.dispatches if each.archive and each.name in missing}
    inputs_at = step.inputs_at if step.inputs_at is not None else str(step.output.absolute())
    files |= {f"{call.name}.flags": "\n".join([*call_flags(call, inputs_at), ""]) for call in lock.calls if call.is_run}
    files |= {name: inputs[name] for call in lock.calls for name in call.files if name in inputs}
    files["index.json"] = found.model_dump_json(indent=1) + "\n"
    if step.drift is None:
        notes = list(difference.lines())
    else:
        notes = list(drift.report(lock.model, difference, missing, step.lock_path, step.renew_command))
        files[drift.REPORT] = "".join(f"{line}\n" for line in notes)
    for name, content in files.items():
        write_if_changed(step.output / name, content)
    archives = _write_archives(step, extraction, names - missing.keys())
    _remove_others(step.output, [*files, *archives])
    return notes


def _write_archives(step: Step, extraction: Extraction, names: Collection[str]) -> list[str]:
    """Writes the data of these dispatches, one after the other: each may be large. Returns the names of the files."""
    written = []
    for dispatch in extraction.lock.dispatches:
        data = extraction.archive(dispatch) if dispatch.name in names else None
        if data is not None:
            written.append(f"{dispatch.name}.irpa")
            write_if_changed(step.output / written[-1], data)
    return written


def _remove_others(folder: Path, names: Collection[str]) -> None:
    """Removes what an earlier run wrote to a folder and this one did not. Nobody else's files are touched."""
    record = folder / WRITTEN
    try:
        before = record.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        before = []
    for name in before:
        if name and name not in names and name == Path(name).name:
            remove(folder / name)
    write_if_changed(record, "".join(f"{name}\n" for name in sorted(names)))


def _locked(lock: Lock, step: Step) -> BackendDispatches:
    """What the lock lists for a backend. Raises CheckFailed where the build file does not list the same."""
    place = Place(str(step.lock_path))
    if step.listed is not None and step.listed != _listed_by(lock, step.backend):
        message = "the build file was generated from another lock: it lists other dispatches, calls or files"
        raise CheckFailed(Problem(message, place, step.generate_command))
    if step.backend not in lock.backends:
        hint = step.renew or renew_command(step.lock_path)
        raise LockError(Problem(f"the lock has no backend {step.backend!r}", place, hint))
    return lock.backends[step.backend]


def _extract(program: Program, lock: Lock, step: Step, locked: BackendDispatches) -> Extraction:
    """Extraction at the calls that the lock lists. Raises CheckFailed where the program does not take them any more."""
    try:
        recorded = locked_sizes(program, locked, lock.calls)
        profiles = [call.profile for call in lock.calls if call.profile is not None]
        root = step.root or step.lock_path.parent.parent
        data = data_plan(lock.data.settings, root, ProfilesOf(profiles, program, locked.backend, locked))
        return extract(program, lock.calls, locked.backend, locked, recorded, data, cold_memory=lock.cold_memory)
    except DataError:
        raise
    except ModelError as error:
        reasons = [f"model {lock.model} does not take the calls that its lock lists"]
        reasons += [f"  {problem.message}\n    at {problem.place}" for problem in error.problems]
        raise CheckFailed(Problem("\n".join(reasons), Place(str(step.lock_path)), step.renew_command)) from error


def listed_digest(dispatches: Iterable[str], calls: Iterable[str], files: Iterable[str] = ()) -> str:
    """SHA-256 of names as a build file lists them: a line each, sorted, an empty line between those of a kind.

    `_iree_dispatch_listed` of the CMake rules computes the same.

    Args:
      dispatches: Names of dispatches.
      calls: Names of calls of the whole model.
      files: Those of `_listed_files`.
    """
    kinds = ["\n".join(sorted(names)) for names in (dispatches, calls, files)]
    return hashlib.sha256("\n\n".join(kinds if kinds[2] else kinds[:2]).encode()).hexdigest()


def listed_in(path: Path) -> str:
    """The `listed_digest` of names in a file: a line each, an empty line between those of a kind.

    Raises ModelError when the file cannot be read.
    """
    try:
        dispatches, _, others = path.read_text(encoding="utf-8").partition("\n\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ModelError(Problem(f"cannot read the names of dispatches: {reason}", Place(str(path)))) from None
    calls, _, files = others.partition("\n\n")
    return listed_digest(dispatches.splitlines(), calls.splitlines(), files.splitlines())


def _listed_by(lock: Lock, backend: str) -> str | None:
    """The digest of what a lock lists for a backend; None: nothing."""
    if backend not in lock.backends:
        return None
    dispatches = lock.backends[backend].dispatches
    calls = [call for call in lock.calls if call.is_run]
    files = _listed_files(lock.files, dispatches, calls)
    return listed_digest((dispatch.name for dispatch in dispatches), (call.name for call in calls), files)


def _listed_files(data: Iterable[str], dispatches: Iterable[Dispatch], calls: Iterable[Call]) -> Iterator[str]:
    """What build files list besides names: files that the step reads, and that it writes because they are read."""
    yield from (f"data={path}" for path in data)
    yield from (f"archive={dispatch.name}" for dispatch in dispatches if dispatch.archive)
    yield from (f"input={name}" for call in calls for name in call.files)


def call_flags(call: Call, folder: str) -> Iterator[str]:
    """The flags of `iree-benchmark-module` and `iree-run-module` that make a call, one per line of a flag file.

    Args:
      call: The call.
      folder: Path of the folder that `call.files` are in.
    """
    yield f"--function={call.function}"
    for value in call.inputs:
        start, _, name = value.rpartition("@")
        yield f"--input={start}@{folder}/{name}" if name in call.files else f"--input={value}"
