"""What `dispatchgen doctor` finds out: which tools there are, whether they fit together, which devices answer, and what
of this machine changes times without being controlled.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from dispatchgen import __version__
from dispatchgen.buildtree.programs import find_build_programs
from dispatchgen.errors import Problem, ToolError
from dispatchgen.iree import messages, process
from dispatchgen.iree.tools import (
    UNKNOWN_VERSION,
    check_version,
    compiler_version,
    explicit_folder,
    find_program,
    missing,
    program_version,
    release_of,
    versions_differ,
    wheel_version,
)

_SECONDS = 60.0
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


class Verdict(Enum):
    """What a finding means for the main job: lock, build, run."""

    OK = "ok"
    NOTE = "note"  #: Something optional that is not there.
    WARNING = "warning"  #: It may work, and may give wrong results or unclear errors.
    ERROR = "error"  #: The main job cannot work.


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    verdict: Verdict
    text: str
    hint: str | None = None
    version: str | None = None
    path: str | None = None


def diagnose(host_bin_dir: Path | None = None) -> Iterator[Finding]:
    """Looks at everything that the main job needs, and yields what it finds. Raises nothing that a user can cause."""
    from dispatchgen.results.uncontrolled import disturbances, start_watch

    folder = explicit_folder(host_bin_dir)
    watch = start_watch()
    yield Finding(
        "dispatchgen", Verdict.OK, f"{__version__}, Python {_python()}", version=__version__, path=sys.executable
    )
    compiler = _compiler(folder)
    yield compiler
    yield _bindings(compiler)
    benchmark = _runtime_program("iree-benchmark-module", folder)
    yield benchmark
    yield _runtime_program("iree-run-module", folder)
    yield from _build_programs()
    yield _onnx()
    if benchmark.path is not None:
        yield from _devices(Path(benchmark.path))
    yield from _machine()
    for sentence in disturbances(watch):
        yield _uncontrolled(sentence)


def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _compiler(folder: Path | None) -> Finding:
    path = find_program("iree-compile", folder)
    if path is None:
        return _error("iree-compile", missing("iree-compile", folder))
    try:
        version = compiler_version(path)
        check_version(path, version)
    except ToolError as error:
        return _error("iree-compile", error.problems[0])
    return Finding("iree-compile", Verdict.OK, f"{version}, {path}", version=version, path=str(path))


def _bindings(compiler: Finding) -> Finding:
    """The Python bindings, which read what the compiler writes."""
    subject = "Python bindings"
    version = wheel_version("iree.compiler")
    if version is None:
        text = f"the Python package iree.compiler is not installed for {sys.executable}"
        return Finding(subject, Verdict.ERROR, text, "pip install iree-base-compiler")
    if compiler.version is None or release_of(compiler.version) is None or release_of(version) is None:
        return Finding(subject, Verdict.OK, f"{version}; cannot be compared with iree-compile", version=version)
    if versions_differ(compiler.version, version):
        release = compiler.version.split(" ", 1)[0]
        text = f"{version}, but iree-compile is {release}: they may not read the IR it writes"
        hint = f"pip install iree-base-compiler=={re.sub(r'rc.*', '', release)}, or another iree-compile"
        return Finding(subject, Verdict.WARNING, text, hint, version)
    return Finding(subject, Verdict.OK, f"{version}, as iree-compile", version=version)


def _runtime_program(program: str, folder: Path | None) -> Finding:
    path = find_program(program, folder)
    if path is None:
        return _error(program, missing(program, folder))
    version = program_version(path)
    return Finding(program, Verdict.OK, f"{version or 'version unknown'}, {path}", version=version, path=str(path))


def _build_programs() -> Iterator[Finding]:
    try:
        programs = find_build_programs()
    except ToolError as error:
        for problem in error.problems:
            yield _error(problem.message.split(" ", 1)[0], problem)
        return
    for name, path in (("cmake", programs.cmake), ("ninja", programs.ninja)):
        match = _VERSION.search(process.run([str(path), "--version"], timeout=_SECONDS).stdout)
        version = match[0] if match else UNKNOWN_VERSION
        yield Finding(name, Verdict.OK, f"{version}, {path}", version=version, path=str(path))


def _onnx() -> Finding:
    if importlib.util.find_spec("onnx") is None:
        text = "the Python package onnx is not installed: .onnx models cannot be imported"
        return Finding("ONNX importer", Verdict.NOTE, text, "pip install dispatchgen[onnx]")
    version = importlib.metadata.version("onnx")
    return Finding("ONNX importer", Verdict.OK, f"onnx {version}", version=version)


def _devices(iree_benchmark_module: Path) -> Iterator[Finding]:
    """A finding per driver of the runtime: its devices, or why it has none."""
    drivers = process.run([str(iree_benchmark_module), "--list_drivers"], timeout=_SECONDS, check=False)
    for driver in messages.driver_names(drivers.stdout):
        subject = f"driver {driver}"
        try:
            command = [str(iree_benchmark_module), f"--list_devices={driver}"]
            result = process.run(command, timeout=_SECONDS, check=False)
        except ToolError as error:
            yield Finding(subject, Verdict.WARNING, error.problems[0].message)
            continue
        devices = result.stdout.split()
        if result.returncode == 0 and devices:
            yield Finding(subject, Verdict.OK, ", ".join(devices))
        elif result.returncode < 0:
            yield Finding(subject, Verdict.WARNING, process.how_it_ended(result.returncode))
        else:
            yield Finding(subject, Verdict.NOTE, messages.status_message(result.stderr + result.stdout) or "no device")


def _machine() -> Iterator[Finding]:
    """This machine, as results tell of it, and what of it changes times."""
    from dispatchgen.results.environment import read_machine, slug
    from dispatchgen.results.uncontrolled import uncontrolled

    machine = read_machine(None, [])
    parts = [machine.cpu.model, f"{machine.cpu.cores} processors", machine.virtual_machine, machine.container]
    yield Finding("machine", Verdict.OK, f"{', '.join(filter(None, parts))}; its baselines: {slug(machine)}.json")
    for sentence in uncontrolled(machine, pinned=None):
        yield _uncontrolled(sentence)


def _uncontrolled(sentence: str) -> Finding:
    """What is not controlled; its topic is in front of a colon."""
    topic, _, text = sentence.partition(": ")
    return Finding(topic, Verdict.NOTE, text)


def _error(subject: str, problem: Problem) -> Finding:
    return Finding(subject, Verdict.ERROR, problem.message, problem.hint)
