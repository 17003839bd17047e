"""From what was run in the place of a model's own kernels to the results of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatchgen.extract.schema import Benchmark, Call
from dispatchgen.results.assemble import Measured
from dispatchgen.results.schema import SubstitutedDispatch, SubstitutionResult, Timing, WholeModel
from dispatchgen.results.scope import acting, count_at, is_timed
from dispatchgen.results.substitutes import Substitute, SubstitutedModel
from dispatchgen.selection.select import Target
from dispatchgen.selection.variants import Variant


def substitution_result(
    variant: Variant,
    call: Call,
    measured: Measured,
    substitutes: Mapping[str, Substitute],
    original: WholeModel,
    model: SubstitutedModel,
) -> SubstitutionResult:
    """A variant at a call, beside the original.

    Args:
      measured: The original's benchmarks.
      substitutes: By the dispatch's name; of a combination none.
      original: The original's whole model.
      model: The variant's.
    """
    timing = model.outcome.timings.get(call.function)
    return SubstitutionResult(
        name=variant.name,
        members=tuple(member.id for member in variant.members),
        acting=tuple(part.id for part in acting(variant, call)),
        dispatches=tuple(_rows(variant, call, measured, substitutes)),
        whole_model=WholeModel(timing=timing, failure=model.outcome.failures.get(call.function)),
        same=model.same,
        ratio=_ratio(timing, original.timing) if is_timed(variant, call) else None,
    )


def _rows(
    variant: Variant, call: Call, measured: Measured, substitutes: Mapping[str, Substitute]
) -> Iterator[SubstitutedDispatch]:
    for target in variant.targets:
        substitute = substitutes.get(target.dispatch.name, Substitute())
        for benchmark in target.dispatch.benchmarks:
            count = count_at(benchmark, call)
            if count != 0:
                yield _row(target, benchmark, count, measured, substitute)


def _row(
    target: Target,
    benchmark: Benchmark,
    count: int | None,
    measured: Measured,
    substitute: Substitute,
) -> SubstitutedDispatch:
    original = measured.timings.get(benchmark.name)
    timing = substitute.outcome.timings.get(benchmark.name)
    is_measured = timing is not None or substitute.same is not None
    record = substitute.record
    return SubstitutedDispatch(
        name=target.dispatch.name,
        benchmark=benchmark.name,
        operation=target.dispatch.operation,
        kind=target.kind,
        file=target.file,
        sha256=None if record is None else record.sha256,
        same=substitute.same,
        target_differences=() if record is None else record.target_differences,
        notes=() if record is None else record.notes,
        count=count,
        original=original,
        timing=timing,
        ratio=_ratio(timing, original),
        agreement=substitute.agreements.get(benchmark.name),
        failure=None if is_measured else substitute.outcome.failures.get(benchmark.name, "it was not run"),
    )


def _ratio(timing: Timing | None, original: Timing | None) -> float | None:
    return timing.seconds / original.seconds if timing and original and original.seconds else None
