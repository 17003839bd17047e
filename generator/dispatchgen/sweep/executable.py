"""From a dispatch to its executable, ready to be run at all sizes of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.manifest.names import show
from dispatchgen.sweep.compiled import Compiled, Compiler
from dispatchgen.sweep.module import EXPORT, sweep_module
from dispatchgen.sweep.points import Track
from dispatchgen.sweep.workgroups import Workgroups, workgroups_of


@dataclass(frozen=True)
class Runnable:
    """A compiled executable, and how it is run."""

    files: Compiled
    format: str  #: As `--executable_format=` takes it, e.g. `embedded-elf-x86_64`.
    entry_point: int  #: Ordinal of the export.
    #: By the workload: the workgroups by evaluation, or why that cannot tell.
    workgroups: Mapping[tuple[int, ...], Workgroups | str]

    def may_run(self, workload: tuple[int, ...]) -> bool:
        """Whether there is anything to run, as far as that is known."""
        found = self.workgroups[workload]
        return isinstance(found, str) or 0 not in found


def prepare(compiler: Compiler, program: Program, track: Track) -> Runnable:
    """Compiles the executable of a dispatch, once for all sizes.

    Args:
      program: The configured module.

    Raises:
      ModelError: the dispatch does not compile, or cannot be run by itself.
      ToolError: the compiler crashed or ran past the time limit.
    """
    dispatch = track.dispatch
    source = program.exports[dispatch.executable, dispatch.export]
    workloads = list(dict.fromkeys(sized.benchmark.workload for sized in track.sized))
    device = next(iter(program.devices.values()))  # a backend is one device
    files = compiler.compile(sweep_module(source, device, len(workloads[0])))
    with ir.read_module(files.targets, compiler.tools.compiler_version) as module:
        (executable,) = read_executables(module)
        reason = why_not_alone(executable)
        if reason is not None:
            raise ModelError(Problem(f"dispatch {show(dispatch.name)} cannot be swept: {reason}"))
        (export,) = (each for each in executable.exports if each.name == EXPORT)
        return Runnable(
            files=files,
            format=dict(executable.target_keys)["format"],
            entry_point=export.ordinal,
            workgroups=_workgroups(Program(module), executable.symbol, workloads),
        )


def why_not_alone(executable: Executable) -> str | None:
    """Why an executable cannot be run by itself; None: it can."""
    if executable.host_code:
        return "the host computes constants or a condition when it loads its executable"
    if any("condition_fallback" in op.attributes for op in ir.walk(executable.operation, "hal.executable.export")):
        return "which export of its executable runs depends on the workload"
    return None


def _workgroups(
    targets: Program, executable: str, workloads: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Workgroups | str]:
    """The workgroups of each workload, from a module in the phase `executable-targets`."""
    found: dict[tuple[int, ...], Workgroups | str] = {}
    for workload in workloads:
        try:
            found[workload] = workgroups_of(targets, targets.exports[executable, EXPORT], workload)
        except ModelError as error:
            found[workload] = error.problems[0].message
    return found
