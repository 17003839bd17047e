"""From the frame of a run and what was measured to its results: times, totals, shares, sums, ratios and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dispatchgen.results.measurements import Measured, Measurements, timing_of
from dispatchgen.results.proof import SAME_TEXT
from dispatchgen.results.schema import (
    CallResult,
    Coverage,
    DeviceUsed,
    DispatchResult,
    NotRun,
    Results,
    SkippedDispatch,
    SubstitutedDispatch,
    SubstitutionResult,
    Timing,
    WholeModel,
)
from dispatchgen.results.task import Target

#: Why a row has no time that no measurement is about.
NOT_RUN = "it was not run"


def fill(frame: Results, measurements: Measurements, *, build: str = "") -> Results:
    """The frame with what was measured.

    Rows that have a failure keep it. What is on a device that is absent goes from `calls` to `not_run`.

    Args:
      frame: What was known before, as `prepare` or a journal has it. Rows that were taken out, as a shard does, count
        as left out.
      measurements: By target and benchmark; of a whole model, the call stands for the benchmark.
      build: `Target.build` of what is filled in.
    """
    calls: list[CallResult] = []
    absent: dict[tuple[str, str, DeviceUsed], tuple[str, list[CallResult]]] = {}
    for call in frame.calls:
        reason = measurements.absent.get((call.backend, call.device.id))
        if reason is None:
            calls.append(_Filler(call, measurements, build).call_result())
        else:
            absent.setdefault((call.model, call.backend, call.device), (reason, []))[1].append(call)
    not_run = [
        NotRun(
            model=model,
            backend=backend,
            device=device,
            cause="absent-device",
            reason=reason,
            notes=tuple(dict.fromkeys(note for call in of_device for note in _notes(call))),
        )
        for (model, backend, device), (reason, of_device) in absent.items()
    ]
    return frame.model_copy(
        update={
            "environment": frame.environment.model_copy(update={"host": measurements.host}),
            "measuring": frame.measuring.model_copy(
                update={"spent_seconds": measurements.spent_seconds, "rounds": measurements.rounds}
            ),
            "calls": tuple(calls),
            "not_run": (*frame.not_run, *not_run),
        }
    )


@dataclass(frozen=True)
class _Filler:
    """Fills in a call."""

    call: CallResult
    measurements: Measurements
    build: str

    def measured(
        self,
        kind: Literal["dispatch", "model"],
        benchmark: str,
        variant: str = "",
        caches: Literal["warm", "cold"] = "warm",
    ) -> Measured | None:
        """What was measured of a row; None: nothing was to be."""
        call = self.call
        target = Target(call.model, call.backend, call.device.id, kind, variant, caches, self.build)
        return self.measurements.measured.get((target, benchmark))

    def call_result(self) -> CallResult:
        """The call with its times."""
        call = self.call
        rows = [self.dispatch(row) for row in call.dispatches]
        coverage = _coverage(rows, call.skipped, call.coverage.dispatches)
        sum_seconds = None if coverage.left_out else _sum(rows)
        whole = self.whole_model(call.whole_model) if call.function else call.whole_model
        # Where sizes are overridden the model computes its own: its time may be that of others.
        model_seconds = whole.timing.seconds if whole.timing and not call.overrides else None
        initializers = [self.dispatch(row) for row in call.initializers]
        originals = {row.benchmark: row.timing for row in (*initializers, *rows)}
        return call.model_copy(
            update={
                "dispatches": _with_shares(rows, sum_seconds if model_seconds is None else model_seconds),
                "initializers": _with_shares(initializers, None),
                "whole_model": whole,
                "sum_seconds": sum_seconds,
                "sum_by_model": sum_seconds / model_seconds if sum_seconds is not None and model_seconds else None,
                "coverage": coverage,
                "substitutions": tuple(self.substitution(each, originals, whole.timing) for each in call.substitutions),
            }
        )

    def dispatch(self, row: DispatchResult) -> DispatchResult:
        """A dispatch with its times."""
        measured = self.measured("dispatch", row.benchmark)
        timing, failure = _time(row.failure, measured)
        cold = self.measured("dispatch", row.benchmark, caches="cold")
        return row.model_copy(
            update={
                "timing": timing,
                "total_seconds": None if timing is None or row.count is None else timing.seconds * row.count,
                "failure": failure,
                "cold": None if cold is None else timing_of(cold),
                "overhead_seconds": None if measured is None else measured.overhead,
            }
        )

    def whole_model(self, whole: WholeModel, variant: str = "") -> WholeModel:
        """A whole model with its time."""
        if whole.left_out:
            return whole
        if whole.left_out:
            return whole
        timing, failure = _time(whole.failure, self.measured("model", self.call.call, variant))
        return whole.model_copy(update={"timing": timing, "failure": failure})

    def substitution(
        self, result: SubstitutionResult, originals: dict[str, Timing | None], original: Timing | None
    ) -> SubstitutionResult:
        """A substitution with its times beside those of what it replaces."""
        whole = result.whole_model
        if self.call.function and result.acting and not result.same:
            whole = self.whole_model(whole, result.id)
        return result.model_copy(
            update={
                "dispatches": tuple(
                    self.substitute(row, result.id, originals.get(row.benchmark)) for row in result.dispatches
                ),
                "whole_model": whole,
                "ratio": _ratio(whole.timing, original) if result.timed else None,
            }
        )

    def substitute(self, row: SubstitutedDispatch, variant: str, original: Timing | None) -> SubstitutedDispatch:
        """A substitute with its time."""
        timing, failure = None, row.failure
        if row.same is None:
            timing, failure = _time(row.failure, self.measured("dispatch", row.benchmark, variant))
        update = {"original": original, "timing": timing, "failure": failure, "ratio": _ratio(timing, original)}
        return row.model_copy(update=update)


def _time(failure: str | None, measured: Measured | None) -> tuple[Timing | None, str | None]:
    """A row's time, or why it has none.

    Args:
      failure: Why it could not be measured.
      measured: What was measured.
    """
    if failure is None and measured is not None:
        failure = measured.failure
        timing = timing_of(measured) if failure is None else None
        if timing is not None:
            return timing, None
    return None, failure or NOT_RUN


def _ratio(timing: Timing | None, original: Timing | None) -> float | None:
    return timing.seconds / original.seconds if timing and original and original.seconds else None


def _sum(rows: Iterable[DispatchResult]) -> float | None:
    totals = [row.total_seconds for row in rows if row.total_seconds is not None]
    return sum(totals) if totals else None


def _with_shares(rows: Iterable[DispatchResult], whole: float | None) -> tuple[DispatchResult, ...]:
    """The rows with their share of `whole` (in seconds), the most expensive first, what failed last."""
    shared = [
        row.model_copy(update={"share": row.total_seconds / whole}) if row.total_seconds is not None and whole else row
        for row in rows
    ]
    return tuple(
        sorted(shared, key=lambda row: (row.total_seconds is None, -(row.total_seconds or 0.0), row.benchmark))
    )


def _coverage(rows: Sequence[DispatchResult], skipped: Sequence[SkippedDispatch], dispatches: int) -> Coverage:
    """Counts dispatches (exports); one counts as measured only if each of its workloads at this call was.

    Args:
      dispatches: All that the call runs.
    """
    exports = {(row.executable, row.export) for row in rows}
    failed = {(row.executable, row.export) for row in rows if row.timing is None}
    skipped_exports = {(skip.executable, skip.export) for skip in skipped}
    return Coverage(
        dispatches=dispatches,
        measured=len(exports - failed - skipped_exports),
        skipped=len(skipped_exports - failed),
        failed=len(failed),
        left_out=dispatches - len(exports | skipped_exports),
    )


def _notes(call: CallResult) -> Iterator[str]:
    """What is to be known of the substitutions of a call that is not run; as `proof.notes`."""
    for result in call.substitutions:
        for row in result.dispatches:
            if row.same is not None:
                yield f"{result.name}: same {row.name}: {SAME_TEXT[row.same]}"
            yield from (f"{result.name}: {row.name}: {note}" for note in row.notes)
        if result.same:
            yield f"{result.name}: whole model: the compiler's own, byte for byte"
