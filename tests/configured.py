"""What the tests of extraction share: configured modules, made by the real compiler once per session."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import REPOSITORY, TIMEOUT, IreeTools

#: The packages that `make models` installs.
_MODELS = REPOSITORY / ".venv" / "models"

#: As dispatchgen compiles by default, spelled out: tests do not trust what they check.
FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
    "--iree-scheduling-optimize-bindings=false",
    "--iree-llvmcpu-debug-symbols=false",
)


class Configured:
    """Makes configured modules and compiles them, each once."""

    def __init__(self, tools: IreeTools, folder: Path):
        self.tools = tools
        self.folder = folder

    def module(self, source: Path, flags: Sequence[str] = ()) -> Path:
        """The configured module of a program."""
        extra = ["--iree-input-type=torch"] if source.stem == "torchsym" else []
        output = self.folder / f"{source.stem}{abs(hash(tuple(flags)))}.mlir"
        if not output.exists():
            command: list[str | Path] = [
                self.tools.compile,
                *FLAGS,
                *flags,
                *extra,
                "--compile-to=executable-configurations",
            ]
            subprocess.run([*command, source, "-o", output], check=True, timeout=TIMEOUT)
        return output

    def compiled(self, configured: Path) -> Path:
        """The compiled module of a configured module, or of a benchmark module."""
        output = configured.with_suffix(".vmfb")
        if not output.exists():
            command: list[str | Path] = [
                self.tools.compile,
                *FLAGS,
                "--compile-from=executable-configurations",
                configured,
                "-o",
                output,
            ]
            subprocess.run(command, check=True, timeout=TIMEOUT)
        return output


def onnx_model(package: str, path: str, output: Path) -> Path:
    """A model that an installed package ships, imported to MLIR."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    _import(Path(next(iter(spec.submodule_search_locations))) / path, output)
    return output


def dynamic_model(path: str, folder: Path) -> Path:
    """A model in a package that `make models` installs, imported to MLIR; skips the test where it was not made."""
    if not (_MODELS / ".installed").is_file():
        pytest.skip("no models: make models")
    output = folder / f"{Path(path).stem}.mlir"
    _import(_MODELS / path, output)
    return output


def _import(source: Path, output: Path) -> None:
    if not output.exists():
        command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", str(source), "--opset-version=17"]
        command += ["-o", str(output)]
        subprocess.run(command, check=True, timeout=TIMEOUT)
