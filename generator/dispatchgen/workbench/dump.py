"""Parts of a model to start editing from: a dispatch as it is in one stage of the compilation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from dispatchgen.errors import Problem, ToolError
from dispatchgen.extract.origin import origin_line
from dispatchgen.extract.schema import Dispatch
from dispatchgen.iree import ir
from dispatchgen.iree.configure import run_compiler
from dispatchgen.iree.resources import module_of, operation_asm
from dispatchgen.manifest.suite import Backend, Model, Suite
from dispatchgen.workbench.session import Session

Stage = Literal["source", "configuration", "benchmark", "assembly"]
#: What the manifest takes a dumped file as.
SubstituteKind = Literal["source", "configuration", "object"]

#: Ends of the names of IREE's intermediate and binary files that people read, the lowest level first.
_ASSEMBLY_SUFFIXES = (".s", ".rocmasm", ".ptx", ".spirv.mlir", ".metal", ".mlir")


@dataclass(frozen=True)
class Dumped:
    """A file that holds a dispatch in some stage."""

    model: Model
    backend: Backend
    dispatch: str
    name: str
    text: str
    kind: SubstituteKind | None  #: None: the manifest cannot name it.
    archive: bytes | None = None  #: Of a benchmark module: the data that lie beside it, `<name>.irpa`.


def dump(session: Session, dispatches: Sequence[Dispatch], stage: Stage) -> Iterator[Dumped]:
    """Each dispatch in a stage. Symbols are IREE's own, but for a benchmark module, which has the stable names.

    What can be edited and measured begins with a line that says what it was dumped from.

    Raises:
      ModelError, ToolError: as the compiler fails; it leaves no assembly for the backend.
    """
    if stage == "source":
        texts = _sources(session)
    for dispatch in dispatches:
        name = f"{dispatch.name}.mlir"
        kind: SubstituteKind | None = None
        archive: bytes | None = None
        if stage == "source":
            text, kind = origin_line(dispatch) + texts[dispatch.executable], "source"
        elif stage == "configuration":
            name, kind = f"configured_{name}", "configuration"
            text = origin_line(dispatch) + _text(session.export(dispatch).executable_op)
        elif stage == "benchmark":
            name, text = f"{dispatch.name}.benchmark.mlir", session.benchmark_modules[dispatch.name]
            archive = session.extraction.archive(dispatch)
        else:
            suffix, text = _assembly(session, dispatch)
            name, kind = f"{dispatch.name}{suffix}", "object" if suffix == ".ptx" else None
        yield Dumped(session.model, session.backend, dispatch.name, name, text, kind, archive)


def _text(operation: ir.Operation) -> str:
    return f"{operation_asm(operation)}\n"


def _sources(session: Session) -> dict[str, str]:
    """The executables of a program in the phase `executable-sources`, by symbol."""
    assert session.sources is not None
    with ir.read_module(session.sources, session.tools.compiler_version) as module:
        return {ir.symbol(op): _text(op) for op in ir.body(module) if op.name == "hal.executable"}


def _assembly(session: Session, dispatch: Dispatch) -> tuple[str, str]:
    """What the compiler's last stage that people can read makes of a dispatch: end of the file's name, and text."""
    folder = session.folder / f"{dispatch.name}.assembly"
    folder.mkdir()
    (folder / "executable.mlir").write_text(_standalone(session, dispatch), encoding="utf-8")
    # Assembly names the input as it is given: relative, it is the same on every machine.
    command = [str(session.tools.iree_compile), "executable.mlir", "-o", "output.mlir"]
    command += ["--compile-from=executable-configurations", "--compile-to=hal", *session.flags()]
    command += [f"--iree-hal-dump-executable-{files}-to=dump" for files in ("intermediates", "binaries")]
    run_compiler(command, session.model, session.backend, folder / "executable.mlir", folder, session.timeout)
    files = sorted((folder / "dump").iterdir()) if (folder / "dump").is_dir() else []
    for suffix in _ASSEMBLY_SUFFIXES:
        candidates = [file for file in files if file.name.endswith(suffix)]
        # Some backends write a file per export, named after it.
        named = [file for file in candidates if dispatch.export in file.name]
        if candidates:
            return suffix, (named or candidates)[0].read_text(encoding="utf-8")
    there = ", ".join(sorted({file.suffix for file in files})) or "nothing"
    message = f"the compiler leaves no assembly on backend {session.backend.name}, only {there}"
    raise ToolError(Problem(f"model {session.model.name}: {message}", hint="another --stage"))


def _standalone(session: Session, dispatch: Dispatch) -> str:
    """A module of the configured executable of a dispatch and nothing that runs it."""
    from iree.compiler import ir as mlir

    executable = session.export(dispatch).executable_op.clone()
    # What is private and not used is removed before code generation.
    executable.attributes["sym_visibility"] = mlir.StringAttr.get("public")
    parts = [_text(device) for device in session.program.devices.values()]
    return module_of([*parts, _text(executable)])


def place(files: Iterable[Dumped], folder: Path) -> dict[Path, Dumped]:
    """Where files go: into `folder`, in a folder per model and per backend where they are of several."""
    found = list(files)
    by_model = len({file.model.id for file in found}) > 1
    by_backend = len({file.backend.id for file in found}) > 1
    placed = {}
    for file in found:
        parts = [file.model.id] if by_model else []
        parts += [file.backend.id] if by_backend else []
        placed[folder.joinpath(*parts, file.name)] = file
    return placed


def manifest_part(files: Mapping[Path, Dumped], suite: Suite) -> str | None:
    """What the manifest of a suite says to measure files as substitutions, as YAML; None: it can name none of them.

    A file outside the suite's folder, where the manifest cannot name it, is named as if it lay in it.
    """
    backends = {model.id: model.backends for model in suite.models}
    several = len({file.backend.id for file in files.values()}) > 1
    models: dict[str, dict[str, dict[str, object]]] = {}
    for path, file in files.items():
        if file.kind is None:
            continue
        name = Path(file.name).stem + (f"_{file.backend.id}" if several else "")
        substitution: dict[str, object] = {"dispatch": file.dispatch, file.kind: suite.relative(path) or file.name}
        if len(backends[file.model.id]) > 1:
            substitution["backends"] = [file.backend.name]
        models.setdefault(file.model.name, {"substitutions": {}})["substitutions"][name] = substitution
    return yaml.safe_dump({"models": models}, sort_keys=False, allow_unicode=True) if models else None


def outside(files: Mapping[Path, Dumped], suite: Suite) -> list[Path]:
    """The files that the manifest of a suite could name if they lay below the suite's folder."""
    return [path for path, file in files.items() if file.kind is not None and suite.relative(path) is None]
