"""Substitutes beside the kernels that they replace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dispatchgen.results.estimate import estimate
from dispatchgen.results.lean import Call, Results, Substitution, Timing

#: Most rows that are shown.
MOST_VARIANTS = 300
_SAME = {"text": "the compiler's own kernel, word for word", "code": "compiles to the compiler's own code"}


@dataclass(frozen=True)
class Ratio:
    """A time by another, with its confidence interval where there are enough rounds."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Variant:
    """What a substitution replaces at one call: a dispatch, or with an empty `benchmark` the whole model."""

    where: str
    substitution: str
    benchmark: str
    file: str
    original: float | None
    seconds: float | None
    ratio: Ratio | None
    note: str  #: Why there is no ratio, or what it is of; may be empty.


def variants(results: Sequence[Results]) -> list[Variant]:
    """All of them, at most `MOST_VARIANTS`."""
    found: list[Variant] = []
    for result in results:
        for call in result.calls:
            for substitution in call.substitutions:
                if len(found) < MOST_VARIANTS:
                    found += _variants(call, substitution)
    return found[:MOST_VARIANTS]


def count(results: Sequence[Results]) -> int:
    """How many there are."""
    return sum(
        len(substitution.dispatches) + 1
        for result in results
        for call in result.calls
        for substitution in call.substitutions
    )


def _variants(call: Call, substitution: Substitution) -> Iterator[Variant]:
    where = f"{call.model} on {call.backend}, {call.device.id}, {call.call}"
    for each in substitution.dispatches:
        yield Variant(
            where,
            substitution.name,
            each.benchmark,
            each.file,
            each.original.seconds if each.original is not None else None,
            each.timing.seconds if each.timing is not None else None,
            ratio_of(each.timing, each.original),
            each.failure or _SAME.get(each.same or "", ""),
        )
    whole, own = substitution.whole_model, call.whole_model
    note = "the program is the compiler's own, byte for byte" if substitution.same else ""
    yield Variant(
        where,
        substitution.name,
        "",
        "",
        own.timing.seconds if own.timing is not None else None,
        whole.timing.seconds if whole.timing is not None else None,
        ratio_of(whole.timing, own.timing),
        whole.failure or note,
    )


def ratio_of(new: Timing | None, base: Timing | None) -> Ratio | None:
    """The ratio of times that were measured in the same rounds, round by round. None: there are not both."""
    if new is None or base is None or base.seconds <= 0:
        return None
    by_round = dict(zip(base.rounds, base.fastest, strict=False))
    pairs = [
        time / by_round[number]
        for number, time in zip(new.rounds, new.fastest, strict=False)
        if by_round.get(number, 0.0) > 0
    ]
    if not pairs:
        return Ratio(new.seconds / base.seconds)
    found = estimate(pairs)
    return Ratio(found.seconds, found.low, found.high)
