"""A compiled executable, made once and kept: any number of sizes run it."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import ModelError, Problem
from dispatchgen.files import sha256_of, work_folder, write_if_changed
from dispatchgen.iree.configure import run_compiler
from dispatchgen.iree.tools import CompilerTools
from dispatchgen.manifest.suite import Backend, Model
from dispatchgen.sweep.module import EXECUTABLE
from dispatchgen.sweep.read_files import files_read


@dataclass(frozen=True)
class Compiled:
    """The files of a compiled `sweep_module`."""

    targets: Path  #: The module in the phase `executable-targets`, whose exports count their workgroups.
    module: Path  #: The compiled module.
    executable: Path  #: The executable in it, as the device takes it.


@dataclass(frozen=True)
class Compiler:
    """What compiles the executables of a model on a backend."""

    tools: CompilerTools
    model: Model
    backend: Backend
    flags: Sequence[str]  #: All but input, output and phase.
    root: Path  #: Where relative paths in the flags and in the program start.
    cache: Path  #: Where compiled executables are kept.
    timeout: float  #: Of one process, in seconds.

    def compile(self, text: str) -> Compiled:
        """Compiles a `sweep_module`, unless the same compiler did so before with the same flags and files.

        Raises:
          ModelError: the dispatch does not compile.
          ToolError: the compiler crashed or ran past the time limit.
          OutputError: the files cannot be written.
        """
        folder = self.cache / self._key(text)
        kept = Compiled(folder / "targets.mlir", folder / "module.vmfb", folder / "executable.bin")
        if not all(file.is_file() for file in (kept.targets, kept.module, kept.executable)):
            with work_folder() as work:
                targets, module = self._phases(text, work)
                write_if_changed(kept.executable, _executable_in(module))
                write_if_changed(kept.targets, targets.read_bytes())
                write_if_changed(kept.module, module.read_bytes())
        return kept

    def _key(self, text: str) -> str:
        """A name for all that the compiled files depend on."""
        parts = [text, *self.flags, self.tools.compiler_version, *self._digests(text)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def _digests(self, text: str) -> Iterator[str]:
        for path in files_read(text, self.flags, self.root):
            try:
                yield sha256_of(path)
            except OSError:  # the compiler says what is wrong, where it needs the file
                yield ""

    def _phases(self, text: str, folder: Path) -> tuple[Path, Path]:
        """Compiles in two steps: the first ends where exports say how they count workgroups."""
        source, targets, module = folder / "sweep.mlir", folder / "targets.mlir", folder / "module.vmfb"
        source.write_text(text)
        self._run(source, targets, "--compile-from=executable-configurations", "--compile-to=executable-targets")
        self._run(targets, module, "--compile-from=executable-targets", "--iree-vm-emit-polyglot-zip=true")
        return targets, module

    def _run(self, source: Path, output: Path, *phases: str) -> None:
        paths = [str(source.absolute()), "-o", str(output.absolute())]
        command = [str(self.tools.iree_compile), *paths, *self.flags, *phases]
        run_compiler(command, self.model, self.backend, source, self.root, self.timeout)


def _executable_in(module: Path) -> bytes:
    """The executable in a compiled module, which is a zip file too."""
    with zipfile.ZipFile(module) as archive:
        names = [name for name in archive.namelist() if name.startswith(EXECUTABLE)]
        if len(names) != 1:
            raise ModelError(Problem(f"the compiled module has {len(names)} executables; one is expected"))
        return archive.read(names[0])
