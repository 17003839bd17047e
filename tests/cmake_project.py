"""Small suites that tests of the CMake rules configure and build, with the real tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from dispatchgen.iree.tools import find_tools
from dispatchgen.lock.store import read_lock, write_lock
from dispatchgen.lock.update import make_lock
from dispatchgen.manifest.suite import Backend, Device, Model, Preset, RunSettings, Source, Suite
from dispatchgen.render.cmake import render_cmake
from support import REPOSITORY, TIMEOUT, cli_environment

Generator = Literal["Ninja", "Unix Makefiles"]
GENERATORS: tuple[Generator, ...] = ("Ninja", "Unix Makefiles")

HOST = Backend(
    name="host",
    id="host",
    target_device="local",
    local_backend="llvm-cpu",
    compile_flags=("--iree-llvmcpu-target-cpu=generic",),
    devices=(Device("local-sync", "local-sync"),),
)
#: What the rules say of each step (COMMENT), with the product where a step has several.
_STEP = re.compile(r"(Importing) (\S+)|(Configuring|Extracting|Compiling) (\w+/\S+)|Noting (the code)")


def layers_program(widths: Sequence[int]) -> str:
    """A program of dense layers, one dispatch each: `widths` are the widths of the input and of each layer."""
    shapes = [f"tensor<{inner}x{outer}xf32>" for inner, outer in pairwise(widths)]
    arguments = ", ".join(f"%w{i}: {shape}" for i, shape in enumerate(shapes))
    lines = [f"func.func @main(%x0: tensor<4x{widths[0]}xf32>, {arguments}) -> tensor<4x{widths[-1]}xf32> {{"]
    lines.append("  %zero = arith.constant 0.0 : f32")
    for i, (inner, outer) in enumerate(pairwise(widths)):
        result = f"tensor<4x{outer}xf32>"
        lines += [
            f"  %e{i} = tensor.empty() : {result}",
            f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {result}) -> {result}",
            f"  %x{i + 1} = linalg.matmul ins(%x{i}, %w{i} : tensor<4x{inner}xf32>, {shapes[i]})",
            f"    outs(%f{i} : {result}) -> {result}",
        ]
    lines += [f"  return %x{len(widths) - 1} : tensor<4x{widths[-1]}xf32>", "}", ""]
    return "\n".join(lines)


def layers_model(name: str, **settings: object) -> Model:
    """The model of a `layers_program` in `models/<name>.mlir`."""
    values: dict[str, object] = {"backends": ("host",), "run": RunSettings(min_time="1x"), **settings}
    return Model(name=name, id=name, source=Source(f"models/{name}.mlir", "mlir"), **values)  # type: ignore[arg-type]


@dataclass
class Project:
    """A suite in a folder, and a build of it."""

    folder: Path
    generator: Generator = "Ninja"
    models: list[Model] = field(default_factory=list)
    backends: tuple[Backend, ...] = (HOST,)
    presets: tuple[Preset, ...] = ()
    definitions: Mapping[str, str | Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def build_dir(self) -> Path:
        return self.folder / "build"

    @property
    def suite(self) -> Suite:
        return Suite(self.folder / "benchmarks.yaml", self.backends, tuple(self.models), self.presets)

    def write_layers(self, name: str, widths: Sequence[int], comment: str = "") -> None:
        """Writes the program of a model that `layers_model` describes."""
        path = self.folder / "models" / f"{name}.mlir"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(comment + layers_program(widths))

    def lock(self, *names: str) -> None:
        """Makes or renews the locks of these models; none: of all."""
        tools = find_tools()
        for model in self.models:
            if not names or model.id in names:
                path = self.suite.lock_path(model)
                previous = read_lock(path) if path.exists() else None
                write_lock(path, make_lock(tools, self.suite, model, previous))

    def generate(self) -> str:
        """Writes the CMakeLists.txt, as a fresh file only when its text changes. Returns the text."""
        locks = {model.id: read_lock(self.suite.lock_path(model)) for model in self.models}
        text = render_cmake(self.suite, locks)
        path = self.folder / "CMakeLists.txt"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return text

    def dispatches(self, model: str, backend: str = "host") -> dict[str, str]:
        """Dispatch -> hash of its content, as the model's lock lists them."""
        lock = read_lock(self.folder / "locks" / f"{model}.json")
        return {dispatch.name: dispatch.content for dispatch in lock.backends[backend].dispatches}

    def configure(self, *, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs CMake."""
        definitions = {"Python3_EXECUTABLE": sys.executable, **self.definitions}
        return self._run(
            "cmake",
            *("-S", str(self.folder), "-B", str(self.build_dir), "-G", self.generator),
            *(f"-D{name}={value}" for name, value in definitions.items()),
            check=check,
        )

    def build(
        self, target: str = "iree-dispatch-benchmarks", *, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Builds a target."""
        return self._run("cmake", "--build", str(self.build_dir), "--target", target, "-j2", check=check)

    def steps(self, target: str = "iree-dispatch-benchmarks") -> list[str]:
        """Builds a target; returns the steps that ran, from the build's own log, sorted."""
        output = self.build(target).stdout
        return sorted(" ".join(filter(None, match.groups())) for match in _STEP.finditer(output))

    def test(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs ctest, which may fail."""
        return self._run("ctest", "--test-dir", str(self.build_dir), "--output-on-failure", *arguments, check=False)

    def _run(self, program: str, *arguments: str, check: bool) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [find_program(program), *arguments],
            env={**cli_environment(), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert not check or result.returncode == 0, result.stdout
        return result


def copy_checkout(folder: Path) -> Path:
    """Copies the package and the rules; returns the folder for PYTHONPATH."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("generator", "genrules"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignore)
    return folder / "generator"


def find_program(name: str) -> str:
    """cmake or ctest: the one beside this interpreter first, as the project pins it."""
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    path = shutil.which(name, path=search)
    assert path is not None, f"no {name}: run the tests with `make test`"
    return path
