"""How many workgroups a workload takes: by evaluation of the export's count region, and by IREE's VM.

The region is only there once the compiler has generated code, in the phase `executable-targets`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dispatchgen.errors import ModelError, Problem, ToolError
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator
from dispatchgen.extract.program import Export, Program
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import messages, process
from dispatchgen.iree.flags import run_module_flags
from dispatchgen.manifest.suite import Device
from dispatchgen.sweep.module import COUNT_FUNCTION

Workgroups: TypeAlias = tuple[int, int, int]

_RESULT = re.compile(r"^result\[\d+\]: i64=(-?\d+)$", re.MULTILINE)


def workgroups_of(program: Program, export: Export, workload: Sequence[int]) -> Workgroups:
    """The workgroups in x, y and z, by evaluation of the count region.

    Args:
      program: A module in the phase `executable-targets`.
      export: Of that program.
      workload: The workload operands.

    Raises ModelError where the count depends on what evaluation does not know.
    """
    region = export.export_op.regions[0]
    if not len(region.blocks):
        raise ModelError(Problem(f"the export {export.name} does not say how many workgroups it takes"))
    counts = Evaluator(program, HANDLERS).run_region(region, [Unknown("the device"), *workload])
    known = [count for count in counts if isinstance(count, int)]
    if len(known) != 3:
        unknown = next(count for count in counts if not isinstance(count, int))
        reason = unknown.reason if isinstance(unknown, Unknown) else unknown
        raise ModelError(Problem(f"the workgroup count of {export.name} depends on {reason}"))
    x, y, z = known
    return x, y, z


@dataclass(frozen=True)
class Answer:
    """What the runtime said; one of these is set."""

    workgroups: Workgroups | None = None
    failure: str | None = None
    absent: str | None = None  #: Why the device is not there.


def ask_runtime(
    iree_run_module: Path, module: Path, device: Device, workload: Sequence[int], timeout: float | None
) -> Answer:
    """The workgroups as the compiled `sweep_module` counts them."""
    flags = run_module_flags(device.run_flags)
    command = [str(iree_run_module), f"--device={device.uri}", *flags, f"--module={module}"]
    command.append(f"--function={COUNT_FUNCTION}")
    try:
        result = process.run([*command, *(f"--input={value}" for value in workload)], timeout=timeout, check=False)
    except ToolError as error:
        return Answer(failure=error.problems[0].message.splitlines()[0])
    output = f"{result.stderr}\n{result.stdout}"
    counts = [int(value) for value in _RESULT.findall(result.stdout)]
    if result.returncode == 0 and len(counts) == 3:
        return Answer(workgroups=(counts[0], counts[1], counts[2]))
    status = messages.status_message(output) or process.shorten(output)
    if messages.device_is_absent(output):
        return Answer(absent=status)
    return Answer(failure=f"iree-run-module: {process.how_it_ended(result.returncode)}: {status}")
