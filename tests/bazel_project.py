"""Small suites that tests of the Bazel rules build, with the real tools and without the network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from dispatchgen.render.bazel import render_bazel
from suite_folder import SuiteFolder
from support import REPOSITORY, cli_environment, find_bazel, run_program

#: The actions of the rules, by their mnemonics, and running a test.
CONFIGURE, EXTRACT, COMPILE, IMPORT = (f"IreeDispatch{step}" for step in ("Configure", "Extract", "Compile", "Import"))
OBJECT, SUBSTITUTE, SUBSTITUTE_MODEL = (f"IreeDispatch{step}" for step in ("Object", "Substitute", "SubstituteModel"))
TEST = "TestRunner"

#: What Bazel 4 downloads for each test rule, in stand-ins: nothing of it is used without coverage.
_STUBS = {
    "remote_coverage_tools": 'filegroup(name = "coverage_report_generator", srcs = ["unused.sh"], '
    'visibility = ["//visibility:public"])\n'
}
#: A file system in memory: the many links of a sandbox take a tenth of the time there.
_MEMORY = "/dev/shm"
#: Seconds after which a server ends that nobody shut down.
_IDLE_SECONDS = 120
#: In the outputs of an action: the folder that `bazel-bin` or `bazel-testlogs` leads to.
_OUTPUT_ROOT = re.compile(r"^bazel-out/[^/]+/(?:bin|testlogs)/")


@dataclass(frozen=True)
class Spawn:
    """A process that a build started, or the answer of a cache to it."""

    mnemonic: str
    output: str  #: The first of its outputs, from `bazel-bin` on; of a test its folder in `bazel-testlogs`.
    cached: bool  #: Whether a disk or remote cache answered.
    entry: Mapping[str, Any] = field(repr=False, compare=False)  #: All that the log says of it.

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.output}"


@dataclass
class BazelProject(SuiteFolder):
    """A suite in a folder that is a workspace of Bazel. A context manager: at the end the server is shut down."""

    state: Path | None = None  #: For Bazel's own files; default: beside the folder.
    rules: Path = REPOSITORY / "genrules" / "bazel"
    packages: Sequence[str] = ()  #: Python packages that ship models.
    environment: Mapping[str, str | None] = field(default_factory=dict)  #: None: not set.
    options: Sequence[str] = ()  #: Of all builds and tests.

    def __enter__(self) -> BazelProject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown()

    @property
    def bazel_bin(self) -> Path:
        """The folder of what was built."""
        return self.folder / "bazel-bin"

    def write_workspace(self) -> None:
        """Makes the folder a workspace, for Bazels with WORKSPACE and with MODULE.bazel."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "WORKSPACE").write_text(
            'workspace(name = "suite")\n'
            f'local_repository(name = "dispatchgen", path = "{self.rules}")\n'
            'load("@dispatchgen//:repositories.bzl", "iree_tools_repository")\n'
            f'iree_tools_repository(name = "iree_tools", packages = {self._packages})\n'
        )
        (self.folder / "MODULE.bazel").write_text(
            'module(name = "suite")\n'
            'bazel_dep(name = "dispatchgen")\n'
            f'local_path_override(module_name = "dispatchgen", path = "{self.rules}")\n'
            'iree_tools = use_extension("@dispatchgen//:extensions.bzl", "iree_tools")\n'
            f"iree_tools.packages(names = {self._packages})\n"
            'use_repo(iree_tools, "iree_tools")\n'
        )

    @property
    def _packages(self) -> str:
        return json.dumps(list(self.packages))

    def generate(self) -> str:
        """Writes the BUILD.bazel. Returns its text."""
        text = render_bazel(self.suite, self.locks())
        (self.folder / "BUILD.bazel").write_text(text)
        return text

    def build(self, *targets: str, options: Sequence[str] = (), check: bool = True) -> subprocess.CompletedProcess[str]:
        """Builds targets, by default all suites."""
        return self.bazel("build", *options, "--", *(targets or ["//:iree-dispatch-benchmarks"]), check=check)

    def test(self, *targets: str, options: Sequence[str] = (), check: bool = True) -> subprocess.CompletedProcess[str]:
        """Builds and runs tests, by default all smoke tests."""
        options = ["--test_output=errors", *options]
        return self.bazel("test", *options, "--", *(targets or ["//:iree-dispatch-benchmarks.smoke"]), check=check)

    def spawns(self, command: str, *targets: str, options: Sequence[str] = (), check: bool = True) -> list[Spawn]:
        """Builds or tests; returns what ran for it, from Bazel's execution log, in no order that means anything."""
        log = self._state / "execution.json"
        run = {"build": self.build, "test": self.test}[command]
        run(*targets, options=[*options, f"--execution_log_json_file={log}"], check=check)
        return list(_read_log(log))

    def steps(self, command: str = "build", *targets: str, options: Sequence[str] = ()) -> list[str]:
        """Builds or tests; returns what ran for it, without what a cache answered, sorted."""
        return sorted(str(spawn) for spawn in self.spawns(command, *targets, options=options) if not spawn.cached)

    def test_output(self, target: str) -> str:
        """What a test of the top package printed."""
        return (self.folder / "bazel-testlogs" / target / "test.log").read_text()

    def undeclared_output(self, target: str, name: str = "benchmark.json") -> Any:
        """The JSON that a test of the top package left in its undeclared outputs, zipped or not."""
        folder = self.folder / "bazel-testlogs" / target / "test.outputs"
        if (folder / "outputs.zip").is_file():
            with zipfile.ZipFile(folder / "outputs.zip") as archive:
                return json.loads(archive.read(name))
        return json.loads((folder / name).read_text())

    def bazel(self, command: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command of Bazel in the folder. stdout and stderr are one text."""
        program = find_bazel()
        assert program is not None, "no Bazel: mark the test `bazel`"
        if not (self.folder / "WORKSPACE").exists():
            self.write_workspace()
        environment = {**cli_environment(), "VIRTUAL_ENV": sys.prefix, **self.environment}
        return run_program(
            [program, *self.startup_options(), command, *arguments],
            cwd=self.folder,
            env={name: value for name, value in environment.items() if value is not None},
            check=check,
        )

    def shutdown(self) -> None:
        """Ends the server, which would see no change of the environment, and would outlive the tests."""
        if self._state.exists():
            self.bazel("shutdown", check=False)

    @property
    def _state(self) -> Path:
        return self.state if self.state is not None else self.folder.parent / f"{self.folder.name}.bazel"

    def startup_options(self) -> list[str]:
        """What comes between the program and the command: an rc file of the project's own, and where Bazel works."""
        rc = self._state / "bazelrc"
        lines = ["build --color=no --curses=no --show_progress=no --nosandbox_debug"]
        if os.access(_MEMORY, os.W_OK):
            lines.append(f"build --sandbox_base={_MEMORY}")
        for name, build_file in _STUBS.items():
            stub = self._state / "stubs" / name
            stub.mkdir(parents=True, exist_ok=True)
            _write(stub / "WORKSPACE", "")
            _write(stub / "unused.sh", "")
            _write(stub / "BUILD.bazel", build_file)
            lines.append(f"build --override_repository={name}={stub}")
        lines += [f"build {_rc_word(option)}" for option in self.options]
        _write(rc, "\n".join([*lines, ""]))
        return [
            # Debian's Bazel needs the system's rc file: it says where the rest of Bazel is.
            *("--nohome_rc", "--noworkspace_rc", f"--bazelrc={rc}"),
            *(f"--output_user_root={self._state / 'root'}", f"--max_idle_secs={_IDLE_SECONDS}"),
        ]


def _read_log(path: Path) -> Iterator[Spawn]:
    """The spawns in an execution log, which is JSON values one after the other."""
    text = path.read_text()
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text):
        entry, position = decoder.raw_decode(text, position)
        outputs = sorted(entry.get("listedOutputs") or [file["path"] for file in entry.get("actualOutputs", ())])
        output = _OUTPUT_ROOT.sub("", outputs[0]) if outputs else ""
        # After a test Bazel may start another process that describes it in XML.
        if entry["mnemonic"] != TEST or Path(output).name != "test.xml":
            yield Spawn(
                mnemonic=entry["mnemonic"],
                output=str(Path(output).parent) if entry["mnemonic"] == TEST else output,
                cached=bool(entry.get("remoteCacheHit") or entry.get("cacheHit")) or "cache hit" in entry["runner"],
                entry=entry,
            )
        while position < len(text) and text[position].isspace():
            position += 1


def _write(path: Path, text: str) -> None:
    """Writes a file only when its text changes: another time would make Bazel look at it again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _rc_word(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
