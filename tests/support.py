"""What tests share besides fixtures: the types of the fixtures in `conftest`, and IREE's tools.

The tools that tests compare against are found here without dispatchgen's own code, so that no test
trusts what it checks.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil

REPOSITORY = Path(__file__).resolve().parent.parent

#: Seconds until a program that a test started counts as hanging; far above what any of them takes, and below the limit
#: of a whole test (`faulthandler_timeout` in pyproject.toml), which ends the process that runs the tests.
TIMEOUT = 300.0

#: Options of `dispatchgen run` that run each benchmark once.
ONCE = ("--rounds", "1", "--repetitions", "1", "--batch-size", "1", "--min-time", "1x")


@dataclass(frozen=True)
class IreeTools:
    """IREE's native programs, as the wheels of this interpreter ship them."""

    compiler_dir: Path
    runtime_dir: Path

    @property
    def compile(self) -> Path:
        return self.compiler_dir / "iree-compile"

    @property
    def opt(self) -> Path:
        return self.compiler_dir / "iree-opt"

    @property
    def lld(self) -> Path:
        return self.compiler_dir / "iree-lld"

    @property
    def benchmark_module(self) -> Path:
        return self.runtime_dir / "iree-benchmark-module"

    @property
    def run_module(self) -> Path:
        return self.runtime_dir / "iree-run-module"

    @property
    def dump_replay(self) -> Path:
        return self.runtime_dir / "iree-dump-replay"

    @property
    def version(self) -> tuple[int, int]:
        """The release, e.g. `(3, 13)`, from what `iree-compile --version` prints."""
        command = [str(self.compile), "--version"]
        text = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
        match = re.search(r"IREE compiler version (\d+)\.(\d+)", text)
        assert match, text
        return int(match[1]), int(match[2])


def _package_dir(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"no Python package {package!r}: run the tests with `make test`"
    assert spec.submodule_search_locations, f"{package!r} is a module, not a package"
    return Path(next(iter(spec.submodule_search_locations)))


@functools.cache
def find_iree_tools() -> IreeTools:
    """IREE's programs of this interpreter's wheels."""
    return IreeTools(
        compiler_dir=_package_dir("iree.compiler") / "_mlir_libs",
        runtime_dir=_package_dir("iree.runtime").parent / "_runtime_libs",
    )


@functools.cache
def has_lavapipe() -> bool:
    """Whether Vulkan on the CPU (Mesa's lavapipe, which calls itself llvmpipe) answers to IREE's runtime."""
    command = [str(find_iree_tools().run_module), "--dump_devices=vulkan"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return "llvmpipe" in done.stdout


#: What Bazel is called: Debian's first, whose `bazel` is a script around it.
_BAZEL_NAMES = ("bazel-4", "bazel")


def find_bazel() -> str | None:
    """Bazel's program: the one that $BAZEL names, or the first on PATH; None: there is none."""
    names = [name] if (name := os.environ.get("BAZEL")) else _BAZEL_NAMES
    return next(filter(None, map(shutil.which, names)), None)


def has_iree_source() -> bool:
    """Whether IREE_SOURCE_DIR names a source tree of IREE."""
    return Path(os.environ.get("IREE_SOURCE_DIR", "/nonexistent"), "CMakeLists.txt").is_file()


def hear_interrupts() -> None:
    """Makes this process and those that it starts hear Ctrl-C, which shells let their background jobs ignore."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own; whatever is left of the session at the end of the context is killed.

    Args:
      options: Of `subprocess.Popen`; the environment is `cli_environment()` where none is given.
    """
    options = {"env": cli_environment(), "text": True, "start_new_session": True, **options}
    process: subprocess.Popen[str] = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        for pid in _session_members(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(TIMEOUT)
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            pipe.close()


def kill_all(process: subprocess.Popen[str]) -> None:
    """Kills a process, and what it started: that would hold its files otherwise, until it has ended."""
    process.send_signal(signal.SIGSTOP)  # starts no more
    below = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait(TIMEOUT)
    for child in below:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    assert all(is_gone(child.pid) for child in below)


def _session_members(session: int) -> list[int]:
    members = []
    for pid in psutil.pids():
        with suppress(ProcessLookupError):
            if os.getsid(pid) == session:
                members.append(pid)
    return members


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Waits until a condition holds that a running process brings about."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert process.poll() is None, f"it ended with exit code {process.returncode}"
        assert time.monotonic() < deadline, f"it did not come about in {TIMEOUT:g} s"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; waits a little, since whoever adopts an orphan has yet to reap it."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@dataclass(frozen=True)
class CliResult:
    """What a finished `dispatchgen` left."""

    code: int
    stdout: str
    stderr: str


class RunCli(Protocol):
    """Runs `dispatchgen` with these arguments in a process of its own; `env` adds to the environment."""

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> CliResult: ...


def cli_environment() -> dict[str, str]:
    """An environment in which `python -m dispatchgen` is this checkout's, and its output plain and 200 columns wide."""
    environment = dict(os.environ)
    search = [str(REPOSITORY / "generator"), *filter(None, [environment.get("PYTHONPATH")])]
    environment.update(PYTHONPATH=os.pathsep.join(search), COLUMNS="200", NO_COLOR="1", TERM="dumb")
    return environment


def run_program(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Runs a program of a build system; stdout and stderr are one text. `env` is all of the environment."""
    result = subprocess.run(
        command,
        cwd=cwd,
        env=cli_environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    assert not check or result.returncode == 0, result.stdout
    return result


def run_cli(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = TIMEOUT
) -> CliResult:
    """See RunCli."""
    process = subprocess.run(
        [sys.executable, "-m", "dispatchgen", *map(str, arguments)],
        cwd=cwd,
        env={**cli_environment(), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    return CliResult(process.returncode, process.stdout, process.stderr)
