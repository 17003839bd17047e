"""From what was timed to the result of a call: counts, shares, the sum against the whole model, coverage."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.extract.schema import INITIALIZER, BackendDispatches, Benchmark, Call, Dispatch, Skipped
from dispatchgen.manifest.data_sections import fill_of
from dispatchgen.manifest.fills import words
from dispatchgen.results.schema import (
    CallResult,
    Coverage,
    DeviceUsed,
    DispatchResult,
    OmittedSizes,
    Settings,
    SkippedDispatch,
    SubstitutionResult,
    Timing,
    WholeModel,
)


@dataclass(frozen=True)
class Measured:
    """What a device gave for the benchmarks of a model on a backend."""

    timings: Mapping[str, Timing]  #: By the benchmark's name.
    failures: Mapping[str, str]  #: By the benchmark's name.

    def failure(self, benchmark: str) -> str | None:
        """Why a benchmark was not measured; None: it was."""
        return None if benchmark in self.timings else self.failures.get(benchmark, "it was not run")


def call_result(
    *,
    model: str,
    device: DeviceUsed,
    settings: Settings,
    lock: BackendDispatches,
    call: Call,
    measured: Measured,
    whole_model: WholeModel,
    only: Collection[str] | None = None,
    substitutions: Sequence[SubstitutionResult] = (),
) -> CallResult:
    """The result of one call of a model.

    Args:
      only: Names of the dispatches that were to be run; None: all of them.
      substitutions: What was run beside them.
    """
    everything = {(d.executable, d.export) for d in lock.dispatches if any(call.name in b.counts for b in d.benchmarks)}
    if only is not None:
        lock = lock.model_copy(update={"dispatches": tuple(each for each in lock.dispatches if each.name in only)})
    rows = _rows(lock, call.name, measured)
    left_out = len(everything - {(row.executable, row.export) for row in rows})
    sum_seconds = None if left_out else _sum(rows)
    # Where sizes are overridden the model computes its own: its time may be that of others.
    model_seconds = whole_model.timing.seconds if whole_model.timing and not call.overrides else None
    skipped = _at(call, lock.skipped)
    return CallResult(
        model=model,
        backend=lock.backend,
        device=device,
        call=call.name,
        function=call.function,
        shape=call.shape,
        symbols=call.symbols,
        inputs=call.inputs,
        fills={index: words(fill_of(fill)) for index, fill in call.fills.items()},
        overrides=call.overrides,
        settings=settings,
        dispatches=_with_shares(rows, sum_seconds if model_seconds is None else model_seconds),
        initializers=_with_shares(_rows(lock, INITIALIZER, measured), None),
        skipped=skipped,
        uncounted=_at(call, lock.uncounted),
        omitted=tuple(
            OmittedSizes(name=dispatch.name, covered=dispatch.covered(call.name), **vars(dispatch.omitted[call.name]))
            for dispatch in lock.dispatches
            if call.name in dispatch.omitted
        ),
        whole_model=whole_model,
        sum_seconds=sum_seconds,
        sum_by_model=sum_seconds / model_seconds if sum_seconds is not None and model_seconds else None,
        coverage=_coverage(rows, skipped, left_out),
        substitutions=tuple(substitutions),
    )


def _at(call: Call, skips: Iterable[Skipped]) -> tuple[SkippedDispatch, ...]:
    return tuple(
        SkippedDispatch(executable=skip.executable, export=skip.export, operation=skip.operation, reason=skip.reason)
        for skip in skips
        if not {call.name, INITIALIZER}.isdisjoint(skip.calls)
    )


def benchmarks_of(dispatch: Dispatch, calls: Iterable[str]) -> list[Benchmark]:
    """The benchmarks of a dispatch that these calls run, and those of loading the model."""
    wanted = {*calls, INITIALIZER}
    return [benchmark for benchmark in dispatch.benchmarks if not wanted.isdisjoint(benchmark.counts)]


def _rows(lock: BackendDispatches, call: str, measured: Measured) -> list[DispatchResult]:
    return [
        _row(dispatch, benchmark, benchmark.counts[call], measured)
        for dispatch in lock.dispatches
        for benchmark in dispatch.benchmarks
        if call in benchmark.counts
    ]


def _row(dispatch: Dispatch, benchmark: Benchmark, count: int | None, measured: Measured) -> DispatchResult:
    timing = measured.timings.get(benchmark.name)
    return DispatchResult(
        name=dispatch.name,
        benchmark=benchmark.name,
        operation=dispatch.operation,
        executable=dispatch.executable,
        variant=dispatch.variant,
        export=dispatch.export,
        content=dispatch.content,
        workload=benchmark.workload,
        constants=benchmark.constants,
        bindings=benchmark.bindings,
        data=benchmark.data,
        count=count,
        timing=timing,
        total_seconds=None if timing is None or count is None else timing.seconds * count,
        share=None,
        failure=measured.failure(benchmark.name),
    )


def _sum(rows: Sequence[DispatchResult]) -> float | None:
    totals = [row.total_seconds for row in rows if row.total_seconds is not None]
    return sum(totals) if totals else None


def _with_shares(rows: Sequence[DispatchResult], whole: float | None) -> tuple[DispatchResult, ...]:
    """The rows with their share of `whole` (in seconds), the most expensive first, what failed last."""
    shared = [
        row.model_copy(update={"share": row.total_seconds / whole}) if row.total_seconds is not None and whole else row
        for row in rows
    ]
    return tuple(
        sorted(shared, key=lambda row: (row.total_seconds is None, -(row.total_seconds or 0.0), row.benchmark))
    )


def _coverage(rows: Sequence[DispatchResult], skipped: Sequence[SkippedDispatch], left_out: int) -> Coverage:
    """Counts dispatches (exports); one counts as measured only if each of its workloads at this call was."""
    exports = {(row.executable, row.export) for row in rows}
    failed = {(row.executable, row.export) for row in rows if row.timing is None}
    skipped_exports = {(skip.executable, skip.export) for skip in skipped}
    return Coverage(
        dispatches=len(exports | skipped_exports) + left_out,
        measured=len(exports - failed - skipped_exports),
        skipped=len(skipped_exports - failed),
        failed=len(failed),
        left_out=left_out,
    )
