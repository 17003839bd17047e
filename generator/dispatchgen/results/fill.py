"""From the frame of a run and what was measured to its results: times, totals, shares, sums, ratios and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from dispatchgen.results.caches import Cache, measured_caches
from dispatchgen.results.measurements import Measured, Measurements
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
        caches: Cache = "warm",
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
        originals = {row.benchmark: row for row in (*initializers, *rows)}
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
        is_sized = row.function is not None
        times = self.times(row, "", ("warm",) if is_sized and row.cold_failure is None else self.caches)
        timing = times["timing"] if "warm" in self.caches else times["cold"]
        measured = self.measured("dispatch", row.benchmark, caches=self.caches[0])
        return row.model_copy(
            update={
                **times,
                "total_seconds": None if timing is None or row.count is None else timing.seconds * row.count,
                "overhead_seconds": None if measured is None else measured.overhead,
            }
        )

    @property
    def caches(self) -> Sequence[Cache]:
        """What of dispatches was to be measured."""
        return measured_caches(self.call.settings.caches)

    def times(self, row: DispatchResult | SubstitutedDispatch, variant: str, caches: Sequence[Cache]) -> _Times:
        """The times of a row, or why it has none; of what was not to be measured it has neither."""
        found = _Times(timing=None, failure=None, cold=None, cold_failure=None)
        if "warm" in caches:
            measured = self.measured("dispatch", row.benchmark, variant)
            found["timing"], found["failure"] = _time(row.failure, measured)
        if "cold" in caches:
            measured = self.measured("dispatch", row.benchmark, variant, "cold")
            found["cold"], found["cold_failure"] = _time(row.cold_failure, measured)
        return found

    def whole_model(self, whole: WholeModel, variant: str = "") -> WholeModel:
        """A whole model with its time."""
        if whole.left_out:
            return whole
        timing, failure = _time(whole.failure, self.measured("model", self.call.call, variant))
        return whole.model_copy(update={"timing": timing, "failure": failure})

    def substitution(
        self, result: SubstitutionResult, originals: Mapping[str, DispatchResult], original: Timing | None
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

    def substitute(
        self, row: SubstitutedDispatch, variant: str, original: DispatchResult | None
    ) -> SubstitutedDispatch:
        """A substitute with its times."""
        timing, cold = (None, None) if original is None else (original.timing, original.cold)
        row = row.model_copy(update={"original": timing})
        if row.same is not None:
            return row
        times = self.times(row, variant, self.caches)
        ratios = {"ratio": _ratio(times["timing"], timing), "cold_ratio": _ratio(times["cold"], cold)}
        return row.model_copy(update={**times, **ratios})


class _Times(TypedDict):
    """Fields of a row."""

    timing: Timing | None
    failure: str | None
    cold: Timing | None
    cold_failure: str | None


def _time(failure: str | None, measured: Measured | None) -> tuple[Timing | None, str | None]:
    """A row's time, or why it has none.

    Args:
      failure: Why it could not be measured.
      measured: What was measured.
    """
    if failure is None and measured is not None:
        failure = measured.failure
        timing = measured.timing if failure is None else None
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


def _is_measured(row: DispatchResult) -> bool:
    """Whether all of a row was measured that was to be."""
    return row.failure is None and row.cold_failure is None and not (row.timing is None and row.cold is None)


def _coverage(rows: Sequence[DispatchResult], skipped: Sequence[SkippedDispatch], dispatches: int) -> Coverage:
    """Counts dispatches (exports); one counts as measured only if each of its workloads at this call was.

    Args:
      dispatches: All that the call runs.
    """
    exports = {(row.executable, row.export) for row in rows}
    failed = {(row.executable, row.export) for row in rows if not _is_measured(row)}
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
