"""Where things are in a build tree; `docs/architecture.md` states the layout, this module knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: Step of the build -> what people read.
IMPORT, CONFIGURE, EXTRACT, COMPILE = "import", "configure", "extract", "compile"
#: Steps of a substitution alone: building or copying an object, putting substitutes in the place of dispatches, in
#: benchmark modules and in the whole program, and compiling the module that compares a substitute with its original.
OBJECT, SUBSTITUTE, SUBSTITUTE_MODEL, COMPILE_CHECK = "object", "substitute", "substitute-model", "compile-check"
#: Steps that dispatchgen's own commands do.
OWN_STEPS = frozenset({EXTRACT, SUBSTITUTE, SUBSTITUTE_MODEL})


@dataclass(frozen=True)
class Step:
    """A command of the build: which step of which model it is. What is None does not apply, or could not be told."""

    step: str
    model: str | None = None  #: Id.
    backend: str | None = None  #: Id.
    dispatch: str | None = None  #: Name; None with `compile`: the whole model.
    substitution: str | None = None  #: Id of the substitution or combination.

    def __str__(self) -> str:
        where = [
            self.model,
            f"on {self.backend}" if self.backend else None,
            f"with {self.substitution}" if self.substitution else None,
            f": {self.dispatch}" if self.dispatch else None,
        ]
        name = " ".join(part for part in where if part).replace(" :", ":")
        return f"{name}: {self.step}" if name else self.step


@dataclass(frozen=True)
class BuildTree:
    """The files that a build makes below `binary_dir`, the folder that CMake is given as `-B`."""

    binary_dir: Path

    def folder(self, model: str, backend: str) -> Path:
        """Folder of a model on a backend; both are ids."""
        return self.binary_dir / model / backend

    def configured(self, model: str, backend: str) -> Path:
        """The configured module."""
        return self.folder(model, backend) / "configured.mlir"

    def index(self, model: str, backend: str) -> Path:
        """The `BackendDispatches` that extraction wrote: what was found in this build."""
        return self.folder(model, backend) / "dispatches" / "index.json"

    def archive(self, model: str, backend: str, dispatch: str) -> Path:
        """The data of a dispatch, where they lie beside its benchmark module (`Dispatch.archive`)."""
        return self.folder(model, backend) / "dispatches" / f"{dispatch}.irpa"

    def flag_file(self, model: str, backend: str, call: str) -> Path:
        """Flag file (`--function=`, `--input=`) of a call of the whole model."""
        return self.folder(model, backend) / "dispatches" / f"{call}.flags"

    def sizes(self, model: str, backend: str) -> Path:
        """Folder with the flag files and inputs of calls at sizes that nothing lists; each run has its own."""
        return self.folder(model, backend) / "sizes"

    def dispatch_module(self, model: str, backend: str, dispatch: str, substitution: str | None = None) -> Path:
        """Compiled benchmark module of a dispatch, or of what a substitution puts in its place."""
        return _within(self.folder(model, backend), substitution) / f"{dispatch}.vmfb"

    def model_module(self, model: str, backend: str, substitution: str | None = None) -> Path:
        """The whole model, compiled, or what a substitution or combination makes of it."""
        return _within(self.folder(model, backend), substitution) / "model.vmfb"

    def record(self, model: str, backend: str, substitution: str, dispatch: str) -> Path:
        """The `Substituted` that is recorded of a substitute."""
        return _within(self.folder(model, backend), substitution) / "dispatches" / f"{dispatch}.json"

    def check_spec(self, model: str, backend: str, substitution: str, dispatch: str) -> Path:
        """The `CheckSpec` of a substitute's check module."""
        return _within(self.folder(model, backend), substitution) / "dispatches" / f"{dispatch}.check.json"

    def check_module(self, model: str, backend: str, substitution: str, dispatch: str) -> Path:
        """Compiled module that compares a substitute with its original."""
        return _within(self.folder(model, backend), substitution) / f"{dispatch}.check.vmfb"

    def result(self, model: str, backend: str, device: str, name: str, substitution: str | None = None) -> Path:
        """What iree-benchmark-module writes of a dispatch or a call on a device."""
        return _within(self.binary_dir / "results" / model / backend / device, substitution) / f"{name}.json"

    def step_of(self, output: str) -> Step:
        """Which step makes an output (or its stamp), which Ninja names absolutely or relative to `binary_dir`."""
        path = PurePosixPath(output.removesuffix(".stamp"))
        if path.is_absolute() and path.is_relative_to(self.binary_dir.as_posix()):
            path = path.relative_to(self.binary_dir.as_posix())
        match path.parts:
            case (model, "imported.mlir"):
                return Step(IMPORT, model)
            case (model, backend, "configured.mlir"):
                return Step(CONFIGURE, model, backend)
            case (model, backend, "model.vmfb"):
                return Step(COMPILE, model, backend)
            case (model, backend, name) if name.endswith(".vmfb"):
                return Step(COMPILE, model, backend, name.removesuffix(".vmfb"))
            case (model, backend, "substitutions", substitution, *below) if model != "results" and below:
                return _substitution_step(model, backend, substitution, below)
            case (model, backend, "dispatches", *_) if model != "results":
                return Step(EXTRACT, model, backend)
            case _:
                return Step(f"making {output}")


def _within(folder: Path, substitution: str | None) -> Path:
    """The folder of a substitution, which is laid out like the one that it is in."""
    return folder if substitution is None else folder / "substitutions" / substitution


def _substitution_step(model: str, backend: str, substitution: str, below: Sequence[str]) -> Step:
    """Which step makes a file in the folder of a substitution."""

    def step(name: str, dispatch: str | None = None) -> Step:
        return Step(name, model, backend, dispatch, substitution)

    match below:
        case ["tuned.mlir"]:
            return step(CONFIGURE)
        case ["configured.mlir"]:
            return step(SUBSTITUTE_MODEL)
        case ["model.vmfb"]:
            return step(COMPILE)
        case [name] if name.endswith(".check.vmfb"):
            return step(COMPILE_CHECK, name.removesuffix(".check.vmfb"))
        case [name] if name.endswith(".vmfb"):
            return step(COMPILE, name.removesuffix(".vmfb"))
        case ["dispatches", name]:
            dispatch = name.partition(".")[0]
            # A tuned program has all its substitutes.
            return step(SUBSTITUTE, None if dispatch == "tuned" else dispatch)
        case _:
            # An object that a command builds is named after the substitution, one that is copied after its dispatch.
            name = PurePosixPath(*below).name.partition(".")[0]
            return step(OBJECT, None if name == substitution else name)
