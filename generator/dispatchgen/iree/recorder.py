"""Running a compiled module under recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import Problem, ToolError
from dispatchgen.iree import messages, process
from dispatchgen.iree.flags import run_module_flags
from dispatchgen.manifest.suite import Device


@dataclass(frozen=True)
class Recorder:
    """What records runs."""

    iree_run_module: Path
    device: Device
    timeout: float  #: Of one run, in seconds.


def record(recorder: Recorder, module: Path, flags: Sequence[str], output: Path, *, with_data: bool) -> Problem | None:
    """Calls a function of a module once and records what the device is asked to do.

    Args:
      module: The compiled module.
      flags: `--function=`, `--input=`, `--parameters=`.
      output: The recording.
      with_data: Whether what is read of parameter archives is to be in the recording. It is large then.

    Returns why the program crashed, if it did: IREE 3.13's crashes at the end of every recorded run on Vulkan, when all
    is recorded. Whether it is the recording tells.

    Raises ToolError: the device is not there, the run failed or ran past the time limit.
    """
    command = [str(recorder.iree_run_module), f"--module={module}", f"--device={recorder.device.uri}", *flags]
    command += [*run_module_flags(recorder.device.run_flags), f"--device_replay_output={output}"]
    command += ["--device_replay_file_policy=capture-ranges"] if with_data else []
    result = process.run(command, timeout=recorder.timeout, check=False)
    if result.returncode == 0:
        return None
    text = f"{result.stderr}\n{result.stdout}"
    if messages.device_is_absent(text):
        reason = messages.status_message(text) or process.shorten(text)
        message = f"the device {recorder.device.id} ({recorder.device.uri}) is not there: {reason}"
        raise ToolError(Problem(message, hint="dispatchgen doctor says which devices answer"))
    if result.returncode < 0 and output.is_file():
        return process.failure(result)
    raise ToolError(process.failure(result))
