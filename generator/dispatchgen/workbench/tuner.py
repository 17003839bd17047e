"""What IREE's tuner for AMD GPUs (amdsharktuner) needs of a model, in files.

The tuner changes how the *root operation* of a dispatch is lowered, compiles the benchmark module with each choice and
runs it. It wants the benchmark module, with the root operation marked by `--iree-codegen-add-tuner-attributes`, the
compile flags and, to tune in the whole model, the program and the flags that call it. Flag files hold a flag a line and
nothing else, not even an empty line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.iree import ir
from dispatchgen.manifest.fills import DataSettings
from dispatchgen.manifest.names import show
from dispatchgen.manifest.suite import Input, Model, Suite
from dispatchgen.workbench.session import Session, with_flags
from dispatchgen.workbench.tuner_readme import Page

#: Devices that the tuner knows.
_DEVICES = ("hip", "amdgpu")
#: Marks the root operation.
_TUNER_FLAG = "--iree-codegen-add-tuner-attributes"
#: The attribute that it leaves on it.
_ROOT_OP = "root_op"
#: The tuner passes this flag itself, in front of those of the flag file: the last one would win.
_SPEC_FLAG = "--iree-codegen-tuning-spec-path="
#: How the benchmark file of a dispatch ends, as in IREE's own dumps.
_BENCHMARK = "_benchmark.mlir"
_COMPILE_FLAGS = "compile_flags.txt"


@dataclass(frozen=True)
class Exported:
    """What is written of a model on a backend, and what is not."""

    files: dict[str, str | bytes]  #: By name.
    skipped: dict[str, str]  #: Name of a dispatch -> why the tuner cannot tune it.


def tunable(suite: Suite) -> Suite:
    """The suite with the backends that the tuner can tune for, whose models are compiled with tuner attributes.

    Raises ManifestError where there is none.
    """
    backends = {backend.id: backend for backend in suite.backends if backend.target_device in _DEVICES}
    if not backends:
        found = ", ".join(f"{show(backend.name)} ({backend.target_device})" for backend in suite.backends)
        message = f"the tuner is for AMD GPUs, and none of the backends is: {found}"
        hint = f"a backend whose target_device is one of {', '.join(_DEVICES)}"
        raise ManifestError(Problem(message, Place(str(suite.manifest)), hint))
    models = []
    for model in suite.models:
        own = tuple(backend for backend in model.backends if backend in backends)
        for backend in own:
            model = with_flags(model, backends[backend], _TUNER_FLAG)
        # The tuner runs benchmark modules alone, without files of data.
        models += [replace(model, backends=own, data=DataSettings(), inputs=_without_fills(model))] if own else []
    return replace(suite, backends=tuple(backends.values()), models=tuple(models))


def _without_fills(model: Model) -> dict[str | None, tuple[Input, ...]]:
    """The inputs of a model, where values are not given: zeros."""
    return {name: tuple(replace(each, fill=None) for each in inputs) for name, inputs in model.inputs.items()}


def export(session: Session, dispatches: Sequence[Dispatch], folder: Path) -> Exported:
    """The files of a session for `folder`, in which the tuner is to run."""
    skipped = {dispatch.name: reason for dispatch in dispatches if (reason := _obstacle(session, dispatch)) is not None}
    names = [dispatch.name for dispatch in dispatches if dispatch.name not in skipped]
    if not names:
        return Exported({}, skipped)
    model = f"model{session.source.suffix}"
    files: dict[str, str | bytes] = {f"{name}{_BENCHMARK}": session.benchmark_modules[name] for name in names}
    files[model] = session.source.read_bytes()
    files[_COMPILE_FLAGS] = _lines(_compile_flags(session, folder))
    for call in session.calls:
        files[_flag_file(call)] = _lines(_call_flags(session, call, folder))
    files["README.md"] = _readme(session, names, skipped, model)
    return Exported(files, skipped)


def _lines(flags: Iterable[str]) -> str:
    return "".join(f"{flag}\n" for flag in flags)


def _flag_file(call: Call) -> str:
    return f"{call.name}.flags"


def _compile_flags(session: Session, folder: Path) -> Iterator[str]:
    """The compile flags, but for those that the tuner gives itself."""
    for flag in session.flags(folder):
        if flag != _TUNER_FLAG and not flag.startswith(_SPEC_FLAG):
            yield flag


def _call_flags(session: Session, call: Call, folder: Path) -> Iterator[str]:
    yield f"--function={call.function}"
    yield from (f"--input={value}" for value in call.inputs)
    for parameter in session.model.parameters:
        scope, equals, path = parameter.rpartition("=")
        yield f"--parameters={scope}{equals}{session.path(path, folder)}"


def _obstacle(session: Session, dispatch: Dispatch) -> str | None:
    """Why the tuner cannot tune a dispatch; None: it can."""
    from iree.compiler.dialects import iree_codegen, linalg

    roots = [op for op in ir.walk(session.export(dispatch).executable_op) if _ROOT_OP in op.attributes]
    if len(roots) != 1:
        return f"the compiler marks {len(roots)} root operations in it; the tuner needs one"
    root = roots[0]
    is_tunable = linalg.isa_contraction_op, linalg.isa_convolution_op, iree_codegen.isa_attention_op
    if not any(is_of_kind(root) for is_of_kind in is_tunable):
        return f"{root.name} here is no contraction, convolution or attention; the tuner tunes those"
    if any("?" in str(operand.type) for operand in root.operands):
        return "its sizes are dynamic; the tuner needs those of a program compiled for one shape"
    return None


def _readme(session: Session, names: Iterable[str], skipped: Mapping[str, str], program: str) -> str:
    """What to do with the files."""
    devices = tuple(device.uri if "://" in device.uri else f"{device.uri}://0" for device in session.backend.devices)
    page = Page(
        model=session.model.name,
        backend=session.backend.name,
        compiler=session.tools.compiler_version,
        devices=devices or (f"{session.backend.target_device}://0",),
        benchmarks=tuple(f"{name}{_BENCHMARK}" for name in names),
        program=program,
        compile_flags=_COMPILE_FLAGS,
        call_flags=tuple(_flag_file(call) for call in session.calls),
        spec_flags=tuple(flag for flag in session.flags() if flag.startswith(_SPEC_FLAG)),
        skipped=skipped,
    )
    return page.text()
