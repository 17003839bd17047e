"""Profiles of a model, from runs that are recorded now or were recorded before."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from dispatchgen.errors import DataError, ModelError, Place, Problem, ProfileError, ToolError
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call
from dispatchgen.files import work_folder, write_if_changed
from dispatchgen.iree import ir
from dispatchgen.iree.configure import configure, import_source, run_compiler, source_path
from dispatchgen.iree.flags import compile_flags, import_flags, parameter_values
from dispatchgen.iree.recorder import Recorder, record
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.lock.data import data_plan
from dispatchgen.lock.make import made_from
from dispatchgen.lock.modules import call_flags
from dispatchgen.lock.schema import MadeFrom
from dispatchgen.lock.store import read_lock
from dispatchgen.manifest.fills import DataSettings
from dispatchgen.manifest.names import did_you_mean, make_label, show, show_all
from dispatchgen.manifest.suite import Model, Suite
from dispatchgen.profile.histogram import Compiled, Histogram, read_histogram
from dispatchgen.profile.merge import merge_profiles
from dispatchgen.profile.schema import Profile, Run
from dispatchgen.workbench.session import Subject

#: The compiled model, in the folder of temporary files.
_MODULE = "model.vmfb"
#: What to do where a run crashed.
_CRASHED = "check the inputs: kernels crash at positions that are out of bounds, among others"


@dataclass(frozen=True)
class Wanted:
    """What is to be captured: recordings; or calls with inputs, at a shape, or at all shapes."""

    recordings: tuple[Path, ...] = ()
    inputs: tuple[str, ...] = ()  #: Values of `--input=` of one call.
    shape: str | None = None  #: Label of the only shape.
    function: str | None = None  #: The only entry function.
    keep_data: bool = False


@dataclass
class Captured:
    """A profile, the bytes that were kept, and what there is to say."""

    profile: Profile
    kept: dict[str, bytes] = field(default_factory=dict)  #: By SHA-256.
    notes: list[str] = field(default_factory=list)


def capture(
    tools: CompilerTools, dump_replay: Path, suite: Suite, wanted: Wanted, recorder: Recorder | None, timeout: float
) -> Captured:
    """Makes the profile of a model on a backend.

    Args:
      dump_replay: The program iree-dump-replay.
      suite: Of one model and one backend.
      recorder: What runs the model; needed unless there are recordings.
      timeout: Time limit of each process of the compiler, in seconds.

    Raises:
      DispatchgenError: the model cannot be compiled or called, the device is not there, a recording cannot be read or
        is of something else.
    """
    (model,) = suite.models
    backend = suite.backend(model.backends[0])
    with work_folder() as folder:
        source = import_source(tools, suite, model, folder, timeout)
        subject = Subject(tools, suite, model, backend, source, folder, timeout)
        with _compiled(subject) as compiled:
            histograms = list(_histograms(subject, compiled, dump_replay, wanted, recorder))
    origin = made_from(tools.compiler_version, suite, replace(model, profiles=()))
    profiles = [(Path(run.what), _profile(subject, origin, run, histogram)) for run, histogram, _ in histograms]
    captured = Captured(merge_profiles(profiles))
    for run, histogram, note in histograms:
        captured.kept |= histogram.kept
        captured.notes += [] if note is None else [note]
        if histogram.others:
            captured.notes.append(f"{run.what}: {histogram.others} dispatches are of other programs, and left out")
    return captured


def _profile(subject: Subject, origin: MadeFrom, run: Run, histogram: Histogram) -> Profile:
    return Profile(
        model=subject.model.id,
        backend=subject.backend.id,
        source=origin.source,
        flags=(
            *(import_flags(subject.model) if _is_imported(subject.model) else ()),
            *compile_flags(subject.model, subject.backend),
        ),
        compiler=origin.compiler,
        runs=(run,),
        dispatches=histogram.dispatches,
    )


def _is_imported(model: Model) -> bool:
    return model.source.format == "onnx"


@contextmanager
def _compiled(subject: Subject) -> Iterator[Compiled]:
    """The program with the modules that recordings may be of."""
    suite, model, backend = subject.suite, subject.model, subject.backend
    configured = configure(subject.tools, suite, model, backend, subject.folder, subject.timeout, subject.source)
    flags = compile_flags(model, backend)
    own_flags = ["--compile-from=executable-configurations", *subject.flags(subject.folder)]
    given = model.source.path if model.source.package is None else str(source_path(suite, model))
    source = str(subject.source) if _is_imported(model) else given
    with ir.read_module(configured, subject.tools.compiler_version) as module:
        yield Compiled(
            program=Program(module),
            modules=(
                cache(partial(_compile, subject, configured.name, _MODULE, subject.folder, own_flags)),
                cache(partial(_compile, subject, source, "given.vmfb", suite.root, flags)),
            ),
            compiler=subject.tools.compiler_version,
            command=_command(model, given, flags),
        )


def _command(model: Model, source: str, flags: Sequence[str]) -> str:
    """How to compile the model in the suite's folder."""
    imported = f"{model.id}.mlir"
    steps = [["iree-import-onnx", source, "-o", imported, *import_flags(model)]] if _is_imported(model) else []
    steps.append(["iree-compile", imported if steps else source, "-o", f"{model.id}.vmfb", *flags])
    return " && ".join(map(shlex.join, steps))


def _compile(subject: Subject, source: str, output: str, cwd: Path, flags: Sequence[str]) -> bytes:
    """The module that iree-compile makes. The code for GPUs has the name of the source as it was given."""
    path = subject.folder.absolute() / output
    command = [str(subject.tools.iree_compile), source, "-o", str(path), *flags]
    run_compiler(command, subject.model, subject.backend, subject.source, cwd, subject.timeout)
    return path.read_bytes()


def _histograms(
    subject: Subject, compiled: Compiled, dump_replay: Path, wanted: Wanted, recorder: Recorder | None
) -> Iterator[tuple[Run, Histogram, str | None]]:
    """Each run with what it did, and what there is to say of it."""
    for path in wanted.recordings:
        histogram = read_histogram(compiled, path, dump_replay, keep_data=wanted.keep_data)
        yield Run(what=path.name, dispatches=histogram.count), histogram, None
    if wanted.recordings:
        return
    assert recorder is not None
    module = subject.folder / _MODULE
    compiled.modules[0]()
    calls = _calls(subject, compiled.program, wanted)
    _write_inputs(subject, compiled.program, calls)
    for call in calls:
        recording = subject.folder / "run.ireereplay"
        flags = [*call_flags(call, str(subject.folder)), *_parameters(subject)]
        crash = record(recorder, module, flags, recording, with_data=wanted.keep_data)
        try:
            histogram = read_histogram(compiled, recording, dump_replay, keep_data=wanted.keep_data)
        except ProfileError:
            if crash is not None:
                raise ToolError(replace(crash, hint=_CRASHED)) from None
            raise
        recording.unlink()
        if crash is not None and not histogram.has_whole_call:
            raise ToolError(replace(crash, hint=_CRASHED))
        note = "iree-run-module crashed after the call, when all was recorded" if crash is not None else None
        yield Run(what=_described(call, recorder), dispatches=histogram.count), histogram, note


def _write_inputs(subject: Subject, program: Program, calls: Sequence[Call]) -> None:
    """Writes the files that hold inputs of the calls. Raises DataError where kernels cannot bear what inputs hold."""
    data = data_plan(DataSettings(), subject.suite.root)
    try:
        held = extract(program, calls, subject.backend.id, data=data, any_sizes=False).held
    except DataError:
        raise
    except ModelError:
        if any(call.files for call in calls):
            raise
        return  # IREE's tools read inputs in more forms than evaluation does, and say themselves what does not fit.
    for name, content in held.files.items():
        write_if_changed(subject.folder / name, content)


def _parameters(subject: Subject) -> Iterator[str]:
    return (f"--parameters={value}" for value in parameter_values(subject.model, subject.suite.root))


def _described(call: Call, recorder: Recorder) -> str:
    return f"{call.function}({', '.join(call.inputs)}) on {recorder.device.id}"


def _calls(subject: Subject, program: Program, wanted: Wanted) -> list[Call]:
    """The calls to record. Raises ModelError where there are none."""
    if wanted.inputs:
        function = _function(subject, program, wanted)
        return [Call(name="given", function=function, shape="given", symbols={}, inputs=wanted.inputs)]
    model = replace(subject.model, profiles=(), auto=None)
    calls = [*calls_of(program, model), *_locked_calls(subject)]
    label = make_label(wanted.shape) if wanted.shape is not None else None
    known = {call.shape: None for call in calls}
    if label is not None and label not in known:
        assert wanted.shape is not None
        message = f"model {show(model.name)} has no shape {show(wanted.shape)}"
        hint = did_you_mean(label, list(known)) or "give --input instead"
        if "=" in wanted.shape:
            hint = "--shape with a label of the manifest or the lock; --input for other sizes"
        raise ModelError(Problem(message, _place(subject), hint))
    chosen = {
        call.name: call
        for call in reversed(calls)
        if label in (None, call.shape) and wanted.function in (None, call.function)
    }
    if not chosen:
        message = f"model {show(model.name)} has nothing to call"
        if wanted.function is not None:
            message += f" in {show(wanted.function)}; it calls {show_all({call.function: None for call in calls})}"
        raise ModelError(Problem(message, _place(subject), "give --input for each of the function's inputs"))
    return list(reversed(chosen.values()))


def _locked_calls(subject: Subject) -> list[Call]:
    """The calls that the model's lock has: also those at shapes that were chosen when it was made."""
    path = subject.suite.lock_path(subject.model)
    return [call for call in read_lock(path).calls if call.is_run] if path.exists() else []


def _function(subject: Subject, program: Program, wanted: Wanted) -> str:
    """The function that the inputs are for."""
    name = wanted.function or subject.model.entry
    there = program.entries
    if name is None and len(there) == 1:
        return there[0]
    if name in there:
        return name
    found = "the model has several entry functions" if name is None else f"there is no entry function {show(name)}"
    hint = did_you_mean(name, there) if name is not None else "--function with one of them"
    raise ModelError(Problem(f"{found}: {show_all(there)}", _place(subject), hint))


def _place(subject: Subject) -> Place:
    return Place(str(subject.suite.manifest), subject.model.line)
