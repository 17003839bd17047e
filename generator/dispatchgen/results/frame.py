"""What results say before anything is measured: the rows of a call, with their counts and what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatchgen.extract.schema import INITIALIZER, Benchmark, Call, Dispatch, Skipped
from dispatchgen.manifest.data_sections import fill_of
from dispatchgen.manifest.fills import words
from dispatchgen.manifest.suite import Device
from dispatchgen.results.schema import (
    CallResult,
    Coverage,
    DeviceUsed,
    DispatchResult,
    OmittedSizes,
    SkippedDispatch,
    SubstitutedDispatch,
    SubstitutionResult,
    WholeModel,
)
from dispatchgen.results.scope import acting, count_at, is_timed
from dispatchgen.results.subject import Subject
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant


def device_used(device: Device) -> DeviceUsed:
    """A device as the results name it."""
    return DeviceUsed(id=device.id, uri=device.uri, run_flags=device.run_flags)


def call_frame(subject: Subject, call: Call) -> CallResult:
    """A call of a model on a device; what cannot be measured has its failure."""
    index, at_sizes = subject.index, subject.at_sizes
    rows, skipped = tuple(_rows(subject, call.name)), _at(call, index.skipped)
    exports = {(row.executable, row.export) for row in rows}
    everything = {
        (dispatch.executable, dispatch.export)
        for dispatch in index.dispatches
        if any(call.name in benchmark.counts for benchmark in dispatch.benchmarks)
    } | {(skip.executable, skip.export) for skip in skipped}
    left_out = len(everything - exports - {(skip.executable, skip.export) for skip in skipped})
    fills = {number: words(fill_of(fill)) for number, fill in call.fills.items()}
    return CallResult(
        model=subject.model.id,
        backend=index.backend,
        device=device_used(subject.device),
        call=call.name,
        function=call.function,
        shape=call.shape,
        symbols=call.symbols,
        inputs=call.inputs,
        fills=fills if at_sizes is None else at_sizes.fills(call, fills),
        overrides=call.overrides,
        settings=subject.runner.settings,
        dispatches=rows,
        initializers=tuple(_rows(subject, INITIALIZER)),
        skipped=skipped,
        uncounted=_at(call, index.uncounted),
        omitted=tuple(
            OmittedSizes(name=dispatch.name, covered=dispatch.covered(call.name), **vars(dispatch.omitted[call.name]))
            for dispatch in index.dispatches
            if call.name in dispatch.omitted and subject.is_wanted(dispatch.name)
        ),
        whole_model=_whole_model(subject, call),
        sum_seconds=None,
        sum_by_model=None,
        coverage=Coverage(dispatches=len(everything), measured=0, skipped=0, failed=0, left_out=left_out),
        substitutions=tuple(_substitution(subject, variant, call) for variant in subject.variants)
        if subject.is_listed(call)
        else (),
    )


def _at(call: Call, skips: Iterable[Skipped]) -> tuple[SkippedDispatch, ...]:
    return tuple(
        SkippedDispatch(executable=skip.executable, export=skip.export, operation=skip.operation, reason=skip.reason)
        for skip in skips
        if not {call.name, INITIALIZER}.isdisjoint(skip.calls)
    )


def _rows(subject: Subject, call: str) -> Iterator[DispatchResult]:
    for dispatch, benchmarks in subject.dispatches():
        for benchmark in benchmarks:
            if call in benchmark.counts:
                yield _row(subject, dispatch, benchmark, benchmark.counts[call])


def _row(subject: Subject, dispatch: Dispatch, benchmark: Benchmark, count: int | None) -> DispatchResult:
    sized, failure = subject.sized.get(benchmark.name), subject.why_not(dispatch.name)
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
        timing=None,
        total_seconds=None,
        share=None,
        failure=failure if "warm" in subject.caches else None,
        cold_failure=(failure or subject.why_not_cold(benchmark)) if "cold" in subject.caches else None,
        compiled=subject.compiled(dispatch.name, None),
        function=None if sized is None else sized.function,
    )


def _whole_model(subject: Subject, call: Call) -> WholeModel:
    if not call.is_run:
        return WholeModel(timing=None)
    return WholeModel(timing=None, failure=subject.why_not(None), compiled=subject.compiled(None, None))


def _substitution(subject: Subject, variant: Variant, call: Call) -> SubstitutionResult:
    whole = subject.proofs.models[variant.id]
    return SubstitutionResult(
        name=variant.name,
        id=variant.id,
        members=tuple(member.id for member in variant.members),
        acting=tuple(part.id for part in acting(variant, call)),
        dispatches=tuple(_substitutes(subject, variant, call)),
        whole_model=WholeModel(
            timing=None,
            failure=whole.failure if call.is_run else None,
            compiled=subject.compiled(None, variant.id) if call.is_run else None,
        ),
        same=whole.same and call.is_run,
        timed=is_timed(variant, call),
        ratio=None,
    )


def _substitutes(subject: Subject, variant: Variant, call: Call) -> Iterator[SubstitutedDispatch]:
    for target in variant.targets:
        for benchmark in target.dispatch.benchmarks:
            count = count_at(benchmark, call)
            if count != 0:
                yield _substitute(subject, variant, target, benchmark, count)


def _substitute(
    subject: Subject, variant: Variant, target: Target, benchmark: Benchmark, count: int | None
) -> SubstitutedDispatch:
    name = target.dispatch.name
    proof = subject.proofs.dispatches[variant.id, name]
    record = proof.record
    return SubstitutedDispatch(
        name=name,
        benchmark=benchmark.name,
        operation=target.dispatch.operation,
        kind=target.kind,
        file=target.file,
        sha256=None if record is None else record.sha256,
        same=proof.same,
        target_differences=() if record is None else record.target_differences,
        notes=() if record is None else record.notes,
        count=count,
        original=None,
        timing=None,
        ratio=None,
        agreement=None,
        failure=proof.failure if "warm" in subject.caches else None,
        cold_failure=(proof.failure or subject.why_not_cold(benchmark)) if "cold" in subject.caches else None,
        compiled=subject.compiled(name, variant.id),
    )
