"""From a recording of a program to its histogram: which sizes each dispatch ran with, and how often."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.errors import Place, Problem, ProfileError
from dispatchgen.extract.extraction import content_of
from dispatchgen.extract.interface import interface_of
from dispatchgen.extract.names import operation_of
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.values import Unknown
from dispatchgen.iree.replay import Range, RecordedDispatch, RecordedExecutable, Recording
from dispatchgen.profile.contents import Contents
from dispatchgen.profile.merge import add_up, symbol_order
from dispatchgen.profile.schema import Entry, ProfiledDispatch
from dispatchgen.profile.workload import Workloads

#: How many names of functions a message has.
_NAMES_SHOWN = 3
_Key = tuple[str, str]  #: Executable and export.
#: Push constants and binding lengths: what a recording says of sizes.
_Sizes = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Compiled:
    """A program, with what the compiler makes of it: the executables of recordings are compared with that."""

    program: Program
    modules: Sequence[Callable[[], bytes]]  #: Compiled modules that recordings may be of, made when they are asked for.
    compiler: str  #: Version text of the compiler.
    command: str  #: Compiles a module whose recordings fit.

    def hold(self, code: bytes) -> bool:
        """Whether an executable with this code is in one of the modules."""
        return any(code in module() for module in self.modules)


@dataclass(frozen=True)
class Histogram:
    """What a recording says of the dispatches of a program."""

    dispatches: tuple[ProfiledDispatch, ...]
    count: int  #: How many dispatches ran.
    others: int  #: How many dispatches of other programs ran.
    kept: Mapping[str, bytes]  #: What bindings held, by SHA-256; empty where that was not asked for.
    has_whole_call: bool  #: Whether one of IREE's tools recorded it, and the call ended.


def read_histogram(compiled: Compiled, path: Path, dump_replay: Path, *, keep_data: bool = False) -> Histogram:
    """Reads a recording. What ran while the module was loaded is not counted.

    Args:
      path: The recording.
      dump_replay: The program iree-dump-replay.
      keep_data: Whether to keep what bindings held.

    Raises:
      ProfileError: it cannot be read, is of another program or of another compilation of it, or has no dispatch.
    """
    with Recording(path) as recording:
        reader = _Reader(compiled, recording, Contents() if keep_data else None, Workloads(compiled.program))
        for event in recording.events(dump_replay, with_data=keep_data):
            if isinstance(event, RecordedDispatch):
                reader.add(event)
            elif reader.contents is not None:
                reader.contents.apply(event)
        return reader.finish()


@dataclass
class _Seen:
    """Sizes of a dispatch, as they were first seen."""

    workgroups: tuple[int, int, int] | None
    data: tuple[str | None, ...]
    count: int = 0


@dataclass
class _Reader:
    """The state of reading one recording. It grows with the number of different sizes."""

    compiled: Compiled
    recording: Recording
    contents: Contents | None
    workloads: Workloads
    exports: dict[tuple[Range, str], Export | None] = field(default_factory=dict)  #: By the code, and the function.
    seen: dict[_Key, dict[_Sizes, _Seen]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    written: dict[_Key, Sequence[bool]] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)

    def add(self, dispatch: RecordedDispatch) -> None:
        """Counts a dispatch."""
        function = (dispatch.executable.code, dispatch.export)
        if function not in self.exports:
            self.exports[function] = self._export(dispatch.executable, dispatch.export)
        export = self.exports[function]
        if export is None:
            self.others[dispatch.export] += 1
        elif not dispatch.during_load:
            self._count(export, dispatch)
        if self.contents is not None:
            self.contents.forget(dispatch, self._written(export) or [True] * len(dispatch.bindings))

    def _written(self, export: Export | None) -> Sequence[bool]:
        """Which bindings a dispatch may write; empty: not known."""
        if export is None:
            return ()
        key = (export.executable, export.name)
        if key not in self.written:
            interface = interface_of(self.compiled.program, *key)
            self.written[key] = interface.written if interface is not None else ()
        return self.written[key]

    def _export(self, executable: RecordedExecutable, name: str) -> Export | None:
        """The program's export that a function of a recorded executable is; None: it is of another program."""
        exports = [export for export in self.compiled.program.exports.values() if export.name == name]
        code = self.recording.bytes_of(executable.code)
        if len(exports) == 1 and self.compiled.hold(code):
            return exports[0]
        if exports:
            raise self._other_code(executable, code)
        return None

    def _other_code(self, executable: RecordedExecutable, code: bytes) -> ProfileError:
        names = _shown(executable.functions)
        message = f"the recording is of another compilation of the model: the code of {names} is not what iree-compile "
        message += f"{self.compiled.compiler} makes of it with the manifest's flags"
        if not self.compiled.hold(executable.format.encode()):
            message += f"; it is for another target, {executable.format}"
        elif b".debug_info" in code and not self.compiled.hold(b".debug_info"):
            message += "; it has debug symbols (--iree-llvmcpu-debug-symbols), theirs has none"
        else:
            message += ": it was another version of the compiler, other flags, or another version of the source"
        hint = f"record a run of the module that this makes: {self.compiled.command}"
        return ProfileError(Problem(message, Place(str(self.recording.path)), hint))

    def _count(self, export: Export, dispatch: RecordedDispatch) -> None:
        lengths = tuple(binding.length for binding in dispatch.bindings)
        known = tuple(length for length in lengths if length is not None)
        if len(known) != len(lengths):
            message = f"the recording does not say how long the bindings of {export.name} are"
            raise ProfileError(Problem(message, Place(str(self.recording.path))))
        sizes = self.seen.setdefault((export.executable, export.name), {})
        seen = sizes.get((dispatch.constants, known))
        if seen is None:
            seen = sizes[dispatch.constants, known] = _Seen(dispatch.workgroups, tuple(self._data(dispatch)))
        seen.count += 1

    def _data(self, dispatch: RecordedDispatch) -> Iterator[str | None]:
        """What the bindings of a dispatch hold, by SHA-256; nothing where that was not asked for."""
        if self.contents is None:
            return
        for binding in dispatch.bindings:
            data = self.contents.read(binding, self.recording)
            digest = None if data is None else hashlib.sha256(data).hexdigest()
            if data is not None and digest is not None:
                self.kept[digest] = data
            yield digest

    def finish(self) -> Histogram:
        """The histogram. Raises ProfileError where nothing of the program ran."""
        if not self.seen:
            raise ProfileError(self._nothing())
        return Histogram(
            dispatches=tuple(self._profiled(key, self.seen[key]) for key in sorted(self.seen, key=symbol_order)),
            count=sum(seen.count for sizes in self.seen.values() for seen in sizes.values()),
            others=self.others.total(),
            kept=self.kept,
            has_whole_call=self.recording.has_whole_call,
        )

    def _nothing(self) -> Problem:
        place = Place(str(self.recording.path))
        if not self.others:
            hint = "call the model while recording; what runs while it is loaded is not counted"
            return Problem("no dispatch ran in the recording", place, hint)
        exports = [export.name for export in self.compiled.program.exports.values()]
        message = f"the recording is of another model: it ran {_shown(self.others)}; the model has {_shown(exports)}"
        return Problem(message, place, f"record a run of the module that this makes: {self.compiled.command}")

    def _profiled(self, key: _Key, sizes: Mapping[_Sizes, _Seen]) -> ProfiledDispatch:
        export = self.compiled.program.exports[key]
        return ProfiledDispatch(
            executable=export.executable,
            export=export.name,
            operation=operation_of(export.name),
            content=content_of(self.compiled.program, export),
            entries=add_up(self._entry(export, *each, seen) for each, seen in sizes.items()),
        )

    def _entry(self, export: Export, constants: tuple[int, ...], bindings: tuple[int, ...], seen: _Seen) -> Entry:
        workload = self.workloads.of(export, constants)
        if isinstance(workload, Unknown):
            message = f"the workload of {export.name} cannot be told: {workload.reason}"
            raise ProfileError(Problem(message, Place(str(self.recording.path))))
        return Entry(
            count=seen.count,
            workload=workload,
            constants=constants,
            bindings=bindings,
            workgroups=seen.workgroups,
            data=seen.data if any(seen.data) else (),
        )


def _shown(names: Iterable[str]) -> str:
    """The first of the names, for a message."""
    listed = list(names)
    rest = len(listed) - _NAMES_SHOWN
    return ", ".join(listed[:_NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
