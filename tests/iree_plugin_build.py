"""Suites as plug-ins of a build of IREE: configuring and building it, and counting what it does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cmake_project import Project, find_program
from dispatchgen.render.cmake import render_iree_plugin
from support import run_program

_STEP = re.compile(r"(Importing|Configuring|Extracting|Compiling) (dispatch_benchmarks/\S+)")


def write_plugin(project: Project) -> None:
    """Makes a suite's folder a plug-in."""
    project.generate()
    (project.folder / "iree_runtime_plugin.cmake").write_text(render_iree_plugin(project.suite))


@dataclass
class PluginBuild:
    """A build of IREE, or of what stands in for it, with suites as plug-ins."""

    source: Path
    build_dir: Path
    plugins: list[Path]
    definitions: Mapping[str, str | Path] = field(default_factory=dict)

    def configure(self, *, check: bool = True) -> str:
        """Runs CMake; returns what it said."""
        definitions = {"IREE_CMAKE_PLUGIN_PATHS": ";".join(map(str, self.plugins)), **self.definitions}
        options = [f"-D{name}={value}" for name, value in definitions.items()]
        return self._run(
            "cmake", "-S", str(self.source), "-B", str(self.build_dir), "-G", "Ninja", *options, check=check
        )

    def build(self, target: str = "iree-dispatch-benchmarks") -> str:
        """Builds a target; returns the log."""
        return self._run("cmake", "--build", str(self.build_dir), "--target", target, "-j2")

    def steps(self, target: str = "iree-dispatch-benchmarks") -> list[str]:
        """Builds a target; returns the steps of dispatchgen's rules that ran, sorted."""
        return sorted(" ".join(match.groups()) for match in _STEP.finditer(self.build(target)))

    def commands(self, target: str) -> str:
        """The commands that a target needs."""
        return self._run("ninja", "-C", str(self.build_dir), "-t", "commands", target)

    def targets(self) -> set[str]:
        """Names of all targets that a user may build."""
        listing = self._run("ninja", "-C", str(self.build_dir), "-t", "targets", "all")
        return {line.partition(":")[0] for line in listing.splitlines() if line.endswith(": phony")}

    def test(self, *arguments: str, folder: str = ".") -> str:
        """Runs the tests that a folder of the build tree has, which may fail; returns the log."""
        return self._run("ctest", "--test-dir", str(self.build_dir / folder), *arguments, check=False)

    def _run(self, program: str, *arguments: str, check: bool = True) -> str:
        return run_program([find_program(program), *arguments], check=check).stdout


def has_c_compiler() -> bool:
    """Whether CMake finds a C compiler on PATH."""
    return any(shutil.which(name) for name in ("cc", "gcc", "clang"))


def passed(log: str) -> int:
    """How many tests passed; 0 where not all did."""
    match = re.search(r"100% tests passed(?:, 0 tests failed)? out of (\d+)", log)
    return int(match[1]) if match else 0
