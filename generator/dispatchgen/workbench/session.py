"""Models on backends up to their configured modules, for commands that hand parts of them to people."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from dispatchgen.errors import Problem, SubstitutionError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.files import work_folder
from dispatchgen.iree import ir
from dispatchgen.iree.configure import DEFAULT_TIMEOUT, configure, import_source, run_compiler, source_path
from dispatchgen.iree.flags import compile_flags
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.chosen import with_locked_shapes
from dispatchgen.lock.compare import added_functions, compare
from dispatchgen.lock.data import ProfilesOf, data_plan
from dispatchgen.lock.profiles import profile_calls, read_profiles, recorded_sizes
from dispatchgen.lock.schema import Lock
from dispatchgen.lock.store import read_lock, renew_command
from dispatchgen.manifest.suite import Backend, Model, Selector, Suite
from dispatchgen.selection.select import select_dispatches


@dataclass(frozen=True)
class Subject:
    """A model on a backend, and what compiles it."""

    tools: CompilerTools
    suite: Suite
    model: Model
    backend: Backend
    source: Path  #: The program as MLIR: the source itself, or what the importer made of it.
    folder: Path  #: For temporary files.
    timeout: float  #: Of one process, in seconds.

    def flags(self, folder: Path | None = None) -> list[str]:
        """The compile flags. Paths in them are absolute, or relative to `folder`, in which the compiler is to run."""
        files = self.model.flag_files.get(self.backend.id, ())
        return [self._moved(flag, files, folder) for flag in compile_flags(self.model, self.backend)]

    def _moved(self, flag: str, files: Sequence[str], folder: Path | None) -> str:
        name, _, value = flag.partition("=")
        return f"{name}={self.path(value, folder)}" if value in files else flag

    def path(self, file: str, folder: Path | None = None) -> str:
        """A path that is relative to the suite's folder, made absolute or relative to `folder`."""
        path = (self.suite.root / file).absolute()
        return str(path) if folder is None else Path(os.path.relpath(path, folder.absolute())).as_posix()


@dataclass(frozen=True)
class Session(Subject):
    """What a model dispatches on a backend. Valid until the next one: until then the module it reads is open."""

    sources: Path | None  #: The program in the phase `executable-sources`, where it was asked for.
    program: Program
    calls: tuple[Call, ...]
    extraction: Extraction
    lock: Lock | None  #: The model's, where there is one: dispatches have its names.

    @property
    def dispatches(self) -> Sequence[Dispatch]:
        """The dispatches, in the order of the program."""
        return self.extraction.lock.dispatches

    @cached_property
    def benchmark_modules(self) -> dict[str, str]:
        """The benchmark module of each dispatch, by name."""
        return dict(self.extraction.modules())

    def export(self, dispatch: Dispatch) -> Export:
        """The export that a dispatch runs."""
        return self.program.exports[dispatch.executable, dispatch.export]

    def note(self) -> str | None:
        """What the user should know of the names; None: they are the lock's."""
        place = f"{self.model.name} on {self.backend.name}"
        renew = renew_command(self.suite.lock_path(self.model), self.suite.manifest)
        locked = self.lock.backends.get(self.backend.id) if self.lock is not None else None
        if self.lock is None or locked is None:
            return f"{place}: it is not locked, the names are those of a new lock: {renew}"
        difference = compare(locked, self.extraction.lock, added_functions(self.lock, self.program.entries))
        return f"{place}: its dispatches are not as locked: {renew}" if difference.needs_new_lock else None


def sessions(
    tools: CompilerTools, suite: Suite, *, with_sources: bool = False, timeout: float = DEFAULT_TIMEOUT
) -> Generator[Session, None, None]:
    """Every model of a suite on each of its backends, one after the other; an iree-compile per phase.

    Args:
      with_sources: Whether `Session.sources` is wanted.
      timeout: Time limit of each process, in seconds.

    Raises:
      DispatchgenError: a model cannot be compiled, or the compiler fails; a lock cannot be read.
    """
    for model in suite.models:
        path = suite.lock_path(model)
        lock = read_lock(path) if path.exists() else None
        with work_folder() as folder:
            source = import_source(tools, suite, model, folder, timeout)
            for backend_id in model.backends:
                backend = suite.backend(backend_id)
                work_dir = folder / backend.id
                work_dir.mkdir()
                subject = Subject(tools, suite, model, backend, source, work_dir, timeout)
                yield from _session(subject, lock, with_sources)


def _session(subject: Subject, lock: Lock | None, with_sources: bool) -> Iterator[Session]:
    sources = _compile_to_sources(subject) if with_sources else None
    configured = _configure(subject, sources)
    locked = lock.backends.get(subject.backend.id) if lock is not None else None
    with ir.read_module(configured, subject.tools.compiler_version) as module:
        program = Program(module)
        model = with_locked_shapes(program, subject.model, source_path(subject.suite, subject.model), lock)
        calls = (*calls_of(program, model), *profile_calls(model))
        profiles = read_profiles(subject.suite, subject.model)
        version = subject.tools.compiler_version
        recorded = recorded_sizes(program, subject.model, subject.backend, profiles, version)
        files = [each.file for each in subject.model.profiles]
        data = data_plan(subject.model.data, subject.suite.root, ProfilesOf(files, program, subject.backend.id))
        memory = subject.model.cold_memory
        extraction = extract(program, calls, subject.backend.id, locked, recorded, data, cold_memory=memory)
        yield Session(**vars(subject), sources=sources, program=program, calls=calls, extraction=extraction, lock=lock)


def _compile_to_sources(subject: Subject) -> Path:
    """Compiles the program up to the phase `executable-sources`."""
    output = subject.folder / "sources.mlir"
    command = [str(subject.tools.iree_compile), str(subject.source.absolute()), "-o", str(output)]
    command += ["--compile-to=executable-sources", *compile_flags(subject.model, subject.backend)]
    run_compiler(command, subject.model, subject.backend, subject.source, subject.suite.root, subject.timeout)
    return output


def _configure(subject: Subject, sources: Path | None) -> Path:
    """The configured module, from the program or, to the same effect, from its `executable-sources`."""
    model, source = subject.model, subject.source
    if sources is not None:
        model, source = with_flags(model, subject.backend, "--compile-from=executable-sources"), sources
    return configure(subject.tools, subject.suite, model, subject.backend, subject.folder, subject.timeout, source)


def with_flags(model: Model, backend: Backend, *flags: str) -> Model:
    """A model that is compiled for a backend with these flags after all others."""
    own = model.compile_flags.get(backend.id, ())
    return replace(model, compile_flags={**model.compile_flags, backend.id: (*own, *flags)})


@dataclass
class Selection:
    """The dispatches that a command line names, looked for in one session after the other; no text: all of them."""

    texts: tuple[str, ...]
    _problems: dict[str, list[Problem]] = field(default_factory=dict)  #: Text -> that a session has no such dispatch.
    _found: set[str] = field(default_factory=set)

    def of(self, session: Session) -> list[Dispatch]:
        """Those of a session, in the order of the program."""
        if not self.texts:
            return list(session.dispatches)
        names: set[str] = set()
        for text in self.texts:
            try:
                found = select_dispatches([Selector(text)], session.dispatches, session.extraction.lock.skipped)
                names |= {dispatch.name for dispatch in found}
                self._found.add(text)
            except SubstitutionError as error:
                place = f"model {session.model.name} on backend {session.backend.name}"
                problems = [replace(problem, message=f"{place}: {problem.message}") for problem in error.problems]
                self._problems.setdefault(text, []).extend(problems)
        return [dispatch for dispatch in session.dispatches if dispatch.name in names]

    def check(self) -> None:
        """Raises SubstitutionError where a text names a dispatch of no session."""
        missing = [problem for text in self.texts if text not in self._found for problem in self._problems[text]]
        if missing:
            raise SubstitutionError(*missing)
