"""A model's part of a build tree, made step by step as the rules make it, with the substitutes that a test names.

Compile commands run in the folder of what they compile, with relative paths: so what is the same gives the same bytes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.iree import ir
from dispatchgen.substitute.configure import Compiler
from dispatchgen.substitute.program import write_program
from dispatchgen.substitute.replacement import Substitute
from dispatchgen.substitute.schema import Kind, Substituted
from dispatchgen.substitute.step import Step, write_substitutes
from support import IreeTools

#: Flags of a target; the rest is as dispatchgen compiles by default.
TARGETS = {
    "llvm-cpu": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
        "--iree-llvmcpu-debug-symbols=false",
    ),
    "vmvx": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"),
    "vulkan": ("--iree-hal-target-device=vulkan",),
    "cuda": ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"),
    "hip": ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"),
}
_FLAGS = ("--iree-scheduling-optimize-bindings=false", "--iree-vm-bytecode-module-strip-source-map=true")
_COMPILE_FROM = "--compile-from=executable-configurations"


@dataclass(frozen=True)
class Built:
    """A model on a target: `configured.mlir`, `dispatches/`, and iree-compile's own dumps of executables."""

    folder: Path
    tools: IreeTools
    flags: tuple[str, ...]
    dispatches: dict[str, Dispatch]

    @property
    def configured(self) -> Path:
        return self.folder / "configured.mlir"

    @property
    def only(self) -> str:
        """The name of the only dispatch."""
        (name,) = self.dispatches
        return name

    def configure(self, source: Path, output: Path, flags: Sequence[str] = ()) -> Path:
        """Configures a model, relative paths in flags starting at the working folder."""
        command: list[str | Path] = [self.tools.compile, source, "-o", output, *self.flags, *flags]
        subprocess.run([*command, "--compile-to=executable-configurations"], check=True)
        return output

    def extract(self, calls: Sequence[Sequence[str]], function: str = "main") -> dict[str, Dispatch]:
        """Writes `dispatches/`, at these calls of a function, each given by its inputs."""
        with ir.read_module(self.configured) as module:
            made = [
                Call(name=f"c{i}", function=function, shape=f"c{i}", symbols={}, inputs=tuple(inputs))
                for i, inputs in enumerate(calls)
            ]
            extraction = extract(Program(module), made, "backend")
            (self.folder / "dispatches").mkdir(exist_ok=True)
            for name, text in extraction.modules():
                (self.folder / "dispatches" / f"{name}.mlir").write_text(text)
        (self.folder / "dispatches" / "index.json").write_text(extraction.lock.model_dump_json())
        return {dispatch.name: dispatch for dispatch in extraction.lock.dispatches}

    def dump(self, dispatch: str, kind: str) -> Path:
        """The dispatch's executable as iree-compile dumps it: `source` or `configuration`."""
        (path,) = (self.folder / kind).glob(f"*_{self.dispatches[dispatch].executable.replace('$', '?')}.mlir")
        return path

    def edited(self, dispatch: str, kind: str, old: str, new: str) -> Path:
        """The dispatch's executable as iree-compile dumps it, with a piece of text replaced."""
        text = self.dump(dispatch, kind).read_text()
        assert old in text
        path = self.folder / "edited" / kind / f"{dispatch}.mlir"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new))
        return path

    def variant(self, substitution: str) -> Path:
        """The folder of a substitution."""
        return self.folder / "substitutions" / substitution

    def substitute(
        self,
        substitution: str,
        kind: Kind,
        file: Path,
        *dispatches: str,
        entry: str | None = None,
        workgroups: str | None = None,
        any_target: bool = False,
        tolerance: float | None = None,
        flags: Sequence[str] = (),
    ) -> list[str]:
        """Writes the benchmark modules of a substitution; returns the notes."""
        return write_substitutes(
            Step(
                Substitute(substitution, kind, file, entry, workgroups, any_target),
                self.folder / "dispatches",
                dispatches,
                self.variant(substitution) / "dispatches",
                Compiler(self.tools.compile, (*self.flags, *flags)),
                tolerance,
            )
        )

    def record(self, substitution: str, dispatch: str) -> Substituted:
        path = self.variant(substitution) / "dispatches" / f"{dispatch}.json"
        return Substituted.model_validate_json(path.read_bytes())

    def substitute_program(self, substitution: str, *members: str) -> Path:
        """Writes the whole program of a substitution, or of a combination of `members`, and returns it."""
        executables = [
            path
            for member in members or (substitution,)
            for path in sorted((self.variant(member) / "dispatches").glob("*.executable.mlir"))
        ]
        output = self.variant(substitution) / "configured.mlir"
        write_program(self.configured, self.folder / "dispatches" / "index.json", output, executables)
        return output

    def compile(self, module: str, substitution: str | None = None, flags: Sequence[str] = ()) -> Path:
        """Compiles a module, given relative to the model's folder or to that of the substitution.

        What is not of a substitution is compiled once.
        """
        folder = self.folder if substitution is None else self.variant(substitution)
        output = folder / f"{Path(module).stem}.vmfb"
        if substitution is None and not flags and output.exists():
            return output
        search = [] if substitution is None else ["--iree-hal-executable-object-search-path=.."]
        command: list[str | Path] = [
            self.tools.compile,
            module,
            "-o",
            output,
            _COMPILE_FROM,
            *self.flags,
            *search,
            *flags,
        ]
        subprocess.run(command, cwd=folder, check=True, stderr=subprocess.PIPE)
        return output

    def run(self, vmfb: Path, *inputs: str, device: str = "local-sync") -> str:
        """What the program's `@main` returns."""
        command = [str(self.tools.run_module), f"--module={vmfb}", f"--device={device}", "--function=main"]
        command += [f"--input={value}" for value in inputs]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def build(
    tools: IreeTools, folder: Path, source: Path, target: str, *calls: Sequence[str], function: str = "main"
) -> Built:
    """Configures a model and extracts its dispatches at these calls of a function, each given by its inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = (*TARGETS[target], *_FLAGS)
    built = Built(folder, tools, flags, {})
    dumps = [f"--iree-hal-dump-executable-{kind}s-to={folder / kind}" for kind in ("source", "configuration")]
    built.configure(source, built.configured, dumps)
    return replace(built, dispatches=built.extract(calls, function))
