"""Running iree-benchmark-module on one module and telling how it went."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import OutputError, Place, Problem, TimeLimitError, ToolError
from dispatchgen.extract.buffer import SCOPE
from dispatchgen.iree import messages, process
from dispatchgen.manifest.suite import Device
from dispatchgen.results import benchmark_json
from dispatchgen.results.schema import Settings
from dispatchgen.results.task import Outcome, Sample

#: Longest part of a failed program's output that is kept, in characters.
_REASON_LIMIT = 600
#: What is special in POSIX extended regular expressions. To escape anything else, `]` included, is an error for the
#: benchmark library; `re.escape` does.
_SPECIAL = re.compile(r"[\\^$.|?*+()\[{]")
#: The key of what `run_executable` runs.
EXECUTABLE = "executable"


@dataclass(frozen=True)
class Runner:
    """How benchmarks are run on one device."""

    program: Path  #: iree-benchmark-module.
    device: Device
    settings: Settings  #: Of these, `min_time` and `repetitions`.
    timeout: float | None = None  #: Of one process, in seconds.


@dataclass(frozen=True)
class _Process:
    """How one process ended."""

    file: benchmark_json.BenchmarkFile | None = None
    failure: str | None = None
    absent: str | None = None
    is_killed: bool = False  #: Whether it ran past the time limit. Then `file` is what it had done by then.


def module_flags(module: Path, archive: Path | None) -> list[str]:
    """The flags of IREE's programs for the module of a dispatch, and for its data where they lie beside it."""
    return [f"--module={module}", *([f"--parameters={SCOPE}={archive}"] if archive is not None else [])]


def run_dispatches(
    runner: Runner,
    module: Path,
    functions: Sequence[str],
    output: Path,
    *,
    every: bool,
    archive: Path | None = None,
    batch_size: int = 1,
) -> Outcome:
    """Runs benchmark functions of a dispatch's module, in one process.

    Where one of them fails, or the process crashes, each function is run alone: after a failure, iree-benchmark-module
    reports all that follow as failed too. After one that does not end in time, none is run.

    Args:
      functions: Names of the functions.
      output: The JSON file to write.
      every: Whether these are all functions of the module: then no filter is needed.
      archive: The data of the module's buffers; None: the module makes them.
      batch_size: Dispatches per call; times are per dispatch all the same.
    """

    def each_alone(functions: Sequence[str]) -> Outcome:
        return _each_alone(
            functions,
            lambda one: run_dispatches(
                runner, module, [one], output, every=False, archive=archive, batch_size=batch_size
            ),
        )

    arguments = [*module_flags(module, archive), f"--batch_size={batch_size}"]
    selection = [] if every else [f"--benchmark_filter={filter_of(functions)}"]
    ended = _run(runner, [*arguments, *selection], output)
    if ended.absent is not None:
        return Outcome(absent=ended.absent)
    outcome = Outcome() if ended.file is None else _outcome(ended.file, functions, batch_size)
    if ended.is_killed:
        done = Outcome(outcome.samples, host=outcome.host)
        left = [function for function in functions if function not in done.samples]
        if done.samples and left:  # it came some way: it may have been slow, and all the rest end in time alone
            return _joined(done, each_alone(left))
        return _hung(functions, ended.failure or "")
    if ended.file is not None and (len(functions) == 1 or not outcome.failures):
        return outcome
    if len(functions) == 1:
        return Outcome(failures={functions[0]: ended.failure or ""})
    return each_alone(functions)


def _each_alone(functions: Sequence[str], run: Callable[[str], Outcome]) -> Outcome:
    """Runs each function in a process of its own, up to the first that does not end in time."""
    found = Outcome()
    for number, function in enumerate(functions):
        found = _joined(found, run(function))
        if found.hung is not None:
            return _joined(found, Outcome(failures=dict.fromkeys(functions[number + 1 :], found.hung)))
    return found


def _joined(first: Outcome, second: Outcome) -> Outcome:
    """What two processes gave."""
    return Outcome(
        samples={**first.samples, **second.samples},
        failures={**first.failures, **second.failures},
        host=first.host or second.host,
        hung=first.hung or second.hung,
    )


def _hung(functions: Sequence[str], reason: str) -> Outcome:
    """The first of these functions did not end in time."""
    first, *others = functions
    hung = f"it was not run, because {first} did not end in time"
    return Outcome(failures={first: reason, **dict.fromkeys(others, hung)}, hung=hung)


def run_sized(
    runner: Runner,
    module: Path,
    function: str,
    sizes: Iterable[int],
    output: Path,
    archive: Path | None = None,
    batch_size: int = 1,
) -> Outcome:
    """Runs a function of a dispatch's module that takes the batch size and sizes.

    It is no benchmark to iree-benchmark-module, which times the whole call: of as many dispatches as the batch has.
    """
    inputs = [f"--input={value}" for value in (batch_size, *sizes)]
    ended = _run(runner, [*module_flags(module, archive), f"--function={function}", *inputs], output)
    if ended.is_killed:
        return _hung([function], ended.failure or "")
    if ended.file is None:
        return Outcome(failures={function: ended.failure or ""}, absent=ended.absent)
    outcome = _outcome(ended.file, [function])
    return replace(outcome, samples={name: _per_run(sample, batch_size) for name, sample in outcome.samples.items()})


def _per_run(sample: Sample, batch_size: int) -> Sample:
    return Sample(
        tuple(seconds / batch_size for seconds in sample.real),
        tuple(seconds / batch_size for seconds in sample.cpu),
        sample.iterations,
    )


def run_model(
    runner: Runner, module: Path, function: str, flag_file: Path, parameters: Iterable[str], output: Path
) -> Outcome:
    """Runs a function of the whole model with the inputs of a flag file.

    `--batch_size=` is left at 1: a function that is not a dispatch benchmark is called once per batch by
    iree-benchmark-module 3.13, and its time divided by the batch size.

    Args:
      parameters: Values of `--parameters=`.
    """
    arguments = [f"--module={module}", f"--flagfile={flag_file}", *(f"--parameters={value}" for value in parameters)]
    ended = _run(runner, arguments, output)
    if ended.is_killed:
        return _hung([function], ended.failure or "")
    if ended.file is None:
        return Outcome(failures={function: ended.failure or ""}, absent=ended.absent)
    return _outcome(ended.file, [function])


def run_executable(runner: Runner, arguments: Sequence[str], output: Path) -> Outcome:
    """Runs iree-benchmark-executable, the program of `runner`, at one workgroup count.

    It names what it runs after the count; here that is `EXECUTABLE`.
    """
    ended = _run(runner, arguments, output)
    file = ended.file
    if file is None or ended.is_killed:
        hung = ended.failure if ended.is_killed else None
        return Outcome(failures={EXECUTABLE: ended.failure or ""}, absent=ended.absent, hung=hung)
    samples, failures = list(file.samples.values()), list(file.failures.values())
    return Outcome(
        samples={EXECUTABLE: samples[0]} if samples else {},
        failures={EXECUTABLE: failures[0]} if failures else {},
        host=file.host,
    )


def filter_of(functions: Iterable[str]) -> str:
    """Value of `--benchmark_filter=` that selects exactly these functions."""
    names = "|".join(_SPECIAL.sub(r"\\\g<0>", function) for function in functions)
    return f"^BM_({names})/"


def _outcome(file: benchmark_json.BenchmarkFile, functions: Iterable[str], batch_size: int = 1) -> Outcome:
    """What a file has of these functions; the library counts each dispatch of a batch as an iteration."""
    names = list(functions)
    samples = {name: file.samples[name] for name in names if name in file.samples}
    missing = {
        name: "the module has no benchmark of that name"
        for name in names
        if name not in file.samples and name not in file.failures
    }
    return Outcome(
        samples={name: replace(each, iterations=each.iterations // batch_size) for name, each in samples.items()},
        failures={name: file.failures[name] for name in names if name in file.failures} | missing,
        host=file.host,
    )


def _run(runner: Runner, arguments: Sequence[str], output: Path) -> _Process:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.unlink(missing_ok=True)  # never read what an earlier run left
    except OSError as error:
        raise OutputError(Problem(f"cannot write the result: {error.strerror}", Place(str(output)))) from error
    command = [str(runner.program), f"--device={runner.device.uri}", *arguments, *_timing_flags(runner.settings)]
    command += [*runner.device.run_flags, f"--benchmark_out={output}", "--benchmark_out_format=json"]
    try:
        result = process.run(command, timeout=runner.timeout, check=False)
    except TimeLimitError as error:
        return _Process(_done(output), error.problems[0].message.splitlines()[0], is_killed=True)
    except ToolError as error:
        return _Process(failure=error.problems[0].message.splitlines()[0])
    text = f"{result.stderr}\n{result.stdout}"
    if result.returncode != 0 and messages.device_is_absent(text):
        return _Process(absent=messages.status_message(text) or process.shorten(text, _REASON_LIMIT))
    if messages.matched_no_benchmark(text):
        return _Process(failure="the module has no such benchmark: iree-benchmark-module ran nothing")
    try:
        file = benchmark_json.read(output)
    except benchmark_json.UnreadableResult as error:
        return _Process(failure=_failure(result, str(error)))
    if result.returncode != 0 and not file.failures:
        return _Process(failure=_failure(result, ""))
    return _Process(file=file)


def _done(output: Path) -> benchmark_json.BenchmarkFile | None:
    """What a process had written when it was killed."""
    try:
        return benchmark_json.read(output, is_cut=True)
    except benchmark_json.UnreadableResult:
        return None


def _timing_flags(settings: Settings) -> list[str]:
    flags = [f"--benchmark_repetitions={settings.repetitions}"]
    if settings.min_time is not None:
        flags.append(f"--benchmark_min_time={settings.min_time}")
    return flags


def _failure(result: process.Result, otherwise: str) -> str:
    """Why a process failed, in a line where the runtime gives a status."""
    if result.returncode == 0:
        return otherwise
    ended = f"{Path(result.command[0]).name}: {process.how_it_ended(result.returncode)}"
    # The runtime prints its status to stderr since 3.13, to stdout before.
    status = messages.status_message(f"{result.stderr}\n{result.stdout}")
    status = process.shorten(status or _without_banner(result.stderr), _REASON_LIMIT)
    return f"{ended}: {status}" if status else ended


def _without_banner(stderr: str) -> str:
    """`stderr` without the lines on the machine that the benchmark library always prints."""
    banner = re.compile(
        r"^(\d{4}-\d\d-\d\dT|Running |Run on |CPU Caches:|  L\d |Load Average:|\*\*\*WARNING\*\*\* ).*$"
    )
    return "\n".join(line for line in stderr.splitlines() if not banner.match(line))
