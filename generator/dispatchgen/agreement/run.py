"""Whether a substitute computes what the compiler's own kernel does: both run on the same data, the outputs compared.

`agreement.module` says what a check module takes and returns, `agreement.regions` what the data is, `agreement.compare`
what agrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.agreement import regions
from dispatchgen.agreement.compare import Comparison, compare
from dispatchgen.agreement.spec import CheckedBenchmark, CheckSpec, Output, outputs
from dispatchgen.errors import TimeLimitError, ToolError
from dispatchgen.files import work_folder
from dispatchgen.iree import messages, process
from dispatchgen.iree.flags import run_module_flags

#: Longest part of a failed program's output that is kept, in characters.
_REASON_LIMIT = 600


@dataclass(frozen=True)
class Checker:
    """How check modules are run."""

    program: Path  #: iree-run-module.
    device: str  #: Value of `--device=`.
    run_flags: tuple[str, ...] = ()  #: As benchmarks have them; what iree-run-module does not know is left out.
    timeout: float | None = None  #: Of one process, in seconds.


@dataclass(frozen=True)
class Agreed:
    """How the outputs of the kernels compare in one benchmark."""

    benchmark: str
    worst: float | None  #: Largest error of two elements; None: nothing was compared as numbers.
    failure: str | None  #: How they differ, or why that is not known; None: they agree.
    absent: bool = False  #: Whether the device is not there; then `failure` is the tool's own text.
    note: str | None = None  #: What makes the comparison say little, a line each.
    hung: bool = False  #: Whether a kernel did not end in time.


def check(checker: Checker, module: Path, spec: CheckSpec, tolerance: float | None = None) -> Iterator[Agreed]:
    """Runs the benchmarks of a check module, each in a process of its own, and compares what the kernels wrote.

    Where the device is absent, or after a benchmark that did not end in time, nothing more is run: each that is left
    has the reason as its failure.

    Args:
      checker: How they are run.
      module: The compiled check module.
      spec: What its functions take and return.
      tolerance: Replaces the spec's.

    Raises OutputError where there is no temporary folder to work in.
    """
    tolerance = spec.tolerance if tolerance is None else tolerance
    left: Agreed | None = None
    for benchmark in spec.benchmarks:
        agreed = left or _check(checker, module.absolute(), benchmark, spec.guard, tolerance)
        left = left or _of_the_rest(agreed)
        yield replace(agreed, benchmark=benchmark.name)


def _of_the_rest(agreed: Agreed) -> Agreed | None:
    """What is to be said of all that follow; None: they are run."""
    if agreed.hung:
        return replace(agreed, failure=f"it was not run, because {agreed.benchmark} did not end in time")
    return agreed if agreed.absent else None


def _check(checker: Checker, module: Path, benchmark: CheckedBenchmark, guard: int, tolerance: float) -> Agreed:
    before = [regions.buffer(binding, number, guard) for number, binding in enumerate(benchmark.bindings)]
    returned = list(outputs(benchmark))
    with work_folder() as folder:
        command = _command(checker, module, benchmark.name, before, returned)
        for number, data in enumerate(before):
            (folder / _input(number)).write_bytes(data)
        try:
            result = process.run(command, timeout=checker.timeout, check=False, cwd=folder)
        except ToolError as error:
            reason = error.problems[0].message.splitlines()[0]
            return Agreed(benchmark.name, None, reason, hung=isinstance(error, TimeLimitError))
        text = f"{result.stderr}\n{result.stdout}"
        if result.returncode != 0:
            absent = messages.device_is_absent(text)
            return Agreed(benchmark.name, None, text.strip() if absent else _failure(result, text), absent)
        after = {output: _read(folder / _output(output)) for output in returned}
    for output, written in after.items():
        expected = len(before[output.binding])
        if len(written) != expected:
            message = f"iree-run-module wrote {len(written)} bytes of binding {output.binding}, not {expected}"
            return Agreed(benchmark.name, None, message)
    return _agreed(benchmark, compare(benchmark, before, after, guard, tolerance))


def _command(
    checker: Checker, module: Path, function: str, before: Sequence[bytes], returned: Sequence[Output]
) -> list[str]:
    """What runs a function on files of the working folder."""
    flags = run_module_flags(checker.run_flags)
    command = [str(checker.program), f"--device={checker.device}", *flags, f"--module={module}"]
    command.append(f"--function={function}")
    for number, data in enumerate(before):
        command += 2 * [f"--input={len(data)}xi8=@{_input(number)}"]
    return [*command, *(f"--output=@{_output(output)}" for output in returned)]


def _input(number: int) -> str:
    return f"in{number}.bin"


def _output(output: Output) -> str:
    return f"{output.kernel}{output.binding}.bin"


def _read(file: Path) -> bytes:
    """The content of a file; nothing where there is none."""
    return file.read_bytes() if file.exists() else b""


def _failure(result: process.Result, text: str) -> str:
    reason = messages.status_message(text) or process.shorten(result.stderr, _REASON_LIMIT)
    ended = f"iree-run-module: {process.how_it_ended(result.returncode)}"
    return f"{ended}: {reason}" if reason else ended


def _agreed(benchmark: CheckedBenchmark, comparison: Comparison) -> Agreed:
    notes = list(regions.zeros(benchmark))
    if not comparison.changed:
        notes.append("the compiler's kernel left its outputs as they were: little was compared")
    return Agreed(
        benchmark.name,
        worst=comparison.worst,
        failure="\n".join(comparison.differences) or None,
        note="\n".join(notes) or None,
    )
