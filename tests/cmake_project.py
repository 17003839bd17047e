"""Small suites that tests of the CMake rules configure and build, with the real tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dispatchgen.render.cmake import render_cmake
from suite_folder import SuiteFolder
from support import cli_environment, run_program

Generator = Literal["Ninja", "Unix Makefiles"]
GENERATORS: tuple[Generator, ...] = ("Ninja", "Unix Makefiles")

#: What the rules say of each step (COMMENT), with the product where a step has several.
_STEP = re.compile(
    r"(Importing) (\S+)|(Configuring|Extracting|Building|Copying|Substituting|Compiling) (\w+/\S+)|Noting (the code)"
)


@dataclass
class Project(SuiteFolder):
    """A suite in a folder, and a build of it with CMake."""

    generator: Generator = "Ninja"
    definitions: Mapping[str, str | Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def build_dir(self) -> Path:
        return self.folder / "build"

    def generate(self) -> str:
        """Writes the CMakeLists.txt, as a fresh file only when its text changes. Returns the text."""
        text = render_cmake(self.suite, self.locks())
        path = self.folder / "CMakeLists.txt"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return text

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
        self, target: str = "iree-dispatch-benchmarks", *, check: bool = True, keep_going: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Builds a target; with `keep_going` also what does not need a step that failed."""
        options = (["--", "-k", "0"] if self.generator == "Ninja" else ["--", "-k"]) if keep_going else []
        return self._run("cmake", "--build", str(self.build_dir), "--target", target, "-j2", *options, check=check)

    def steps(self, target: str = "iree-dispatch-benchmarks") -> list[str]:
        """Builds a target; returns the steps that ran, from the build's own log, sorted."""
        output = self.build(target).stdout
        return sorted(" ".join(filter(None, match.groups())) for match in _STEP.finditer(output))

    def test(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs ctest, which may fail."""
        return self._run("ctest", "--test-dir", str(self.build_dir), "--output-on-failure", *arguments, check=False)

    def _run(self, program: str, *arguments: str, check: bool) -> subprocess.CompletedProcess[str]:
        environment = {**cli_environment(), **self.environment}
        return run_program([find_program(program), *arguments], env=environment, check=check)


def find_program(name: str) -> str:
    """cmake or ctest: the one beside this interpreter first, as the project pins it."""
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    path = shutil.which(name, path=search)
    assert path is not None, f"no {name}: run the tests with `make test`"
    return path
