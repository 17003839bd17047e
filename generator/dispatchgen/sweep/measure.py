"""Measuring a compiled executable at the sizes of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dispatchgen.buffers.contents import Content
from dispatchgen.errors import CheckFailed, Problem
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.schema import Benchmark
from dispatchgen.manifest.suite import Device
from dispatchgen.results import measurements
from dispatchgen.results.benchmark import EXECUTABLE, Runner, run_executable
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.measurements import RoundSample
from dispatchgen.results.schema import Timing
from dispatchgen.results.task import Outcome
from dispatchgen.sweep.data import binding_flags
from dispatchgen.sweep.executable import Runnable
from dispatchgen.sweep.points import Sized
from dispatchgen.sweep.schema import Point
from dispatchgen.sweep.workgroups import Workgroups, ask_runtime


@dataclass(frozen=True)
class Measured:
    """What a point gave."""

    point: Point
    host: Host | None
    hung: bool = False  #: Whether it did not end in time.


@dataclass(frozen=True)
class Measurer:
    """What runs executables on a device."""

    runner: Runner  #: Its program is iree-benchmark-executable.
    iree_run_module: Path
    data: DataPlan | None  #: What bindings hold; None: zeros.
    folder: Path  #: For temporary files.

    @property
    def device(self) -> Device:
        """Where executables run."""
        return self.runner.device

    def measure(
        self, executable: Runnable, sized: Sized, held: Sequence[Content], why_not: str | None = None
    ) -> Measured:
        """Measures a point.

        Args:
          executable: What to run.
          sized: The sizes.
          held: What the bindings hold.
          why_not: Why it is not to be run; None: it is.

        Raises CheckFailed where the device is not there.
        """
        benchmark = sized.benchmark
        workgroups, failure = self._workgroups(executable, benchmark.workload) if why_not is None else (None, why_not)
        outcome = Outcome()
        if workgroups is not None and 0 not in workgroups:
            flags = [
                f"--batch_size={self.batch_size}",
                f"--executable_format={executable.format}",
                f"--executable_file={executable.files.executable}",
                f"--entry_point={executable.entry_point}",
                f"--workgroup_count={','.join(map(str, workgroups))}",
                *(f"--constant={value}" for _, value in benchmark.constants),
                *(f"--binding={flag}" for flag in binding_flags(held, benchmark.bindings, self.folder)),
            ]
            outcome = run_executable(self.runner, flags, self.folder / "result.json")
            self._check_present(outcome.absent)
            failure = outcome.failures.get(EXECUTABLE)
        timing = self._timing(outcome)
        size = sum(benchmark.bindings)
        point = Point(
            **_where(sized),
            workload=benchmark.workload,
            constants=benchmark.constants,
            bindings=benchmark.bindings,
            data=tuple(map(str, held)),
            workgroups=workgroups,
            timing=timing,
            bytes_per_second=size / timing.seconds if timing and timing.seconds > 0 else None,
            failure=failure,
        )
        return Measured(point, outcome.host, outcome.hung is not None)

    @property
    def batch_size(self) -> int:
        """Dispatches per timed call."""
        size = self.runner.settings.batch_size
        return size if isinstance(size, int) else 1

    def _timing(self, outcome: Outcome) -> Timing | None:
        """The timing of one round."""
        sample = outcome.samples.get(EXECUTABLE)
        if sample is None:
            return None
        return measurements.Measured((RoundSample(0, 0.0, self.batch_size, sample),)).timing

    def _workgroups(self, executable: Runnable, workload: tuple[int, ...]) -> tuple[Workgroups | None, str | None]:
        """The workgroup count, or why there is none that evaluation and the runtime agree on."""
        evaluated = executable.workgroups[workload]
        if isinstance(evaluated, str):
            return None, evaluated
        answer = ask_runtime(self.iree_run_module, executable.files.module, self.device, workload, self.runner.timeout)
        self._check_present(answer.absent)
        if answer.workgroups is None:
            return None, answer.failure
        if answer.workgroups != evaluated:
            ours, theirs = ("x".join(map(str, each)) for each in (evaluated, answer.workgroups))
            return None, f"its workgroup count is {ours} by evaluation and {theirs} by the runtime"
        return evaluated, None

    def _check_present(self, absent: str | None) -> None:
        if absent is not None:
            message = f"device {self.device.id} ({self.device.uri}) is absent: {absent}"
            raise CheckFailed(Problem(message, hint="`dispatchgen doctor` lists the devices that there are"))


def _where(sized: Sized) -> dict[str, Any]:
    """The fields of a point that are not of its sizes."""
    call, count = next(iter(sized.benchmark.counts.items()))
    return {"symbols": dict(sized.shape.symbols), "call": call, "variant": sized.variant, "count": count}


def measure_all(
    measurer: Measurer, executable: Runnable, sized: Sequence[Sized], on_start: Callable[[Sized], None]
) -> list[Measured]:
    """Measures each point; sizes and data that several points have in common are measured once.

    After one that does not end in time, none is: the others are most likely larger.
    """
    done: dict[tuple[object, ...], Measured] = {}
    found = []
    why_not = None
    for each in sized:
        on_start(each)
        held = each.held(measurer.data)
        key = (*sizes(each.benchmark), held)
        if key not in done:
            done[key] = measurer.measure(executable, each, held, why_not)
            if done[key].hung:
                why_not = f"it was not run, because {each.shape.label} did not end in time"
        found.append(replace(done[key], point=done[key].point.model_copy(update=_where(each))))
    return found


def sizes(benchmark: Benchmark) -> tuple[object, ...]:
    """What tells two measurements of a dispatch apart, besides the data."""
    return benchmark.workload, benchmark.constants, benchmark.bindings
