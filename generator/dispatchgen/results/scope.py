"""What of a variant is there in a call: most replace dispatches that some calls alone run."""

from __future__ import annotations

from collections.abc import Collection

from dispatchgen.extract.schema import INITIALIZER, Benchmark, Call
from dispatchgen.selection.variants import Variant


def count_at(benchmark: Benchmark, call: Call) -> int | None:
    """How often a call runs a benchmark, or the loading of the model does; None: it does, how often cannot be told."""
    return next((benchmark.counts[at] for at in (call.name, INITIALIZER) if at in benchmark.counts), 0)


def acting(variant: Variant, call: Call) -> list[Variant]:
    """The parts of a variant that replace something that a call runs, or the loading of the model."""
    return _running(variant, (call.name, INITIALIZER))


def is_timed(variant: Variant, call: Call) -> bool:
    """Whether a variant replaces something that is part of the time of a call."""
    return bool(_running(variant, (call.name,)))


def _running(variant: Variant, calls: Collection[str]) -> list[Variant]:
    return [
        part
        for part in variant.parts
        if any(
            benchmark.counts.get(call, 0) != 0
            for target in part.targets
            for benchmark in target.dispatch.benchmarks
            for call in calls
        )
    ]
