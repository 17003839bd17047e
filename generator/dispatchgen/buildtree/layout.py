"""Where things are in a build tree; `docs/architecture.md` states the layout, this module knows it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: Step of the build -> what people read.
IMPORT, CONFIGURE, EXTRACT, COMPILE = "import", "configure", "extract", "compile"


@dataclass(frozen=True)
class Step:
    """A command of the build: which step of which model it is. What is None does not apply, or could not be told."""

    step: str
    model: str | None = None  #: Id.
    backend: str | None = None  #: Id.
    dispatch: str | None = None  #: Name; None with `compile`: the whole model.

    def __str__(self) -> str:
        where = [
            self.model,
            f"on {self.backend}" if self.backend else None,
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

    def index(self, model: str, backend: str) -> Path:
        """The `BackendDispatches` that extraction wrote: what was found in this build."""
        return self.folder(model, backend) / "dispatches" / "index.json"

    def flag_file(self, model: str, backend: str, call: str) -> Path:
        """Flag file (`--function=`, `--input=`) of a call of the whole model."""
        return self.folder(model, backend) / "dispatches" / f"{call}.flags"

    def dispatch_module(self, model: str, backend: str, dispatch: str) -> Path:
        """Compiled benchmark module of a dispatch."""
        return self.folder(model, backend) / f"{dispatch}.vmfb"

    def model_module(self, model: str, backend: str) -> Path:
        """The whole model, compiled."""
        return self.folder(model, backend) / "model.vmfb"

    def result(self, model: str, backend: str, device: str, name: str) -> Path:
        """What iree-benchmark-module writes of a dispatch or a call on a device."""
        return self.binary_dir / "results" / model / backend / device / f"{name}.json"

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
            case (model, backend, "dispatches", *_) if model != "results":
                return Step(EXTRACT, model, backend)
            case _:
                return Step(f"making {output}")
