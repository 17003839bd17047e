"""What result files hold that no run writes: files that were edited, put together by hand, or damaged."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from dispatchgen.results import lean, schema

_T = TypeVar("_T", bound=Hashable)

#: A run that takes less has not been measured, in seconds: ratios of such times are no numbers any more.
SHORTEST = 1e-15
#: The longest time, in seconds, as `lean.Seconds` has it.
_LONGEST = 1e9
#: Years that times of runs can be of: in any time zone, they are times.
_YEARS = range(1970, 9999)


def damage(results: lean.Results) -> Iterator[str]:
    """What is wrong with results whose types and bounds `lean` has checked; for people."""
    for name, text in (("started", results.started), ("finished", results.finished)):
        if text is not None and not is_time(text):
            yield f"`{name}` is no time: {text!r}"
    yield from _parts(results)
    for place in _repeated(list(map(_place, results.calls))):
        yield f"the call {place} is there more than once"
    for call in results.calls:
        for what in _rows(call):
            yield f"{_place(call)}: {what}"


def damage_in_full(results: schema.Results) -> Iterator[str]:
    """What is wrong with what only whole results have, for people: they have no other `damage`."""
    for call in results.calls:
        for name, timing in _timings(call):
            if timing is not None and not _has_all(timing):
                rounds = f"{len(timing.rounds)} rounds"
                yield f"{_place(call)}: {name}: `at`, `real` and `cpu` are not those of {rounds}"


def first_error(error: ValidationError) -> str:
    """The first of pydantic's errors, in a line."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{first['msg']} - at `{'.'.join(map(str, first['loc']))}`"


def time_of(text: str) -> datetime:
    """A time of results, ISO 8601. Raises ValueError."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))  # Python 3.10 does not know Z


def is_time(text: str) -> bool:
    """Whether a text is a time that a run can be of."""
    try:
        time = time_of(text)
    except ValueError:
        return False
    return time.tzinfo is not None and time.year in _YEARS


def _place(call: lean.Call | schema.CallResult) -> str:
    return f"{call.model} on {call.backend}, {call.device.id}, {call.call}"


def _parts(results: lean.Results) -> Iterator[str]:
    """What is wrong with the small parts that `lean` does not look into."""
    parts: list[tuple[str, type[BaseModel], object]] = [("measuring", schema.Measuring, results.measuring)]
    parts += [("settings", schema.Settings, call.settings) for call in results.calls]
    parts += [("not_run", schema.NotRun, each) for each in results.not_run]
    parts += [("build_failures", schema.BuildFailure, each) for each in results.build_failures]
    parts += [("build", schema.BuildStep, each) for each in results.build]
    for name, model, data in parts:
        try:
            model.model_validate(data)
        except ValidationError as error:
            yield f"`{name}`: {first_error(error)}"


def _rows(call: lean.Call) -> Iterator[str]:
    variants = call.substitutions
    groups: list[tuple[lean.Dispatch | lean.Substituted, ...]] = [call.dispatches, call.initializers]
    groups += [each.dispatches for each in variants]
    for group in groups:
        for name in _repeated([each.benchmark for each in group]):
            yield f"{name} is there more than once"
        for each in group:
            for timing in (each.timing, each.cold):
                if timing is not None and (wrong := _wrong(timing)):
                    yield f"{each.benchmark}: {wrong}"
    for other in (other for each in variants for other in each.dispatches):
        if other.original is not None and (wrong := _wrong(other.original)):
            yield f"{other.benchmark}: {wrong}"
    for name in _repeated([each.id for each in variants]):
        yield f"the substitution {name} is there more than once"
    for whole in (call.whole_model, *(each.whole_model for each in variants)):
        if whole.timing is not None and (wrong := _wrong(whole.timing)):
            yield f"the whole model: {wrong}"


def _wrong(timing: lean.Timing) -> str | None:
    """What is wrong with a timing. There may be hundreds of thousands: the usual case is told fast."""
    fastest = timing.fastest
    if not fastest or len(timing.rounds) != len(fastest):
        return f"{len(timing.rounds)} rounds have {len(fastest)} times"
    if min(timing.seconds, *fastest) < SHORTEST and any(0 < each < SHORTEST for each in (timing.seconds, *fastest)):
        return f"a time is shorter than {SHORTEST:g} s"
    if timing.low is not None and timing.high is not None and timing.low > timing.high:
        return "the ends of its interval are in the wrong order"
    return None


def _timings(call: schema.CallResult) -> Iterator[tuple[str, schema.Timing | None]]:
    for row in (*call.dispatches, *call.initializers):
        yield from ((row.benchmark, timing) for timing in (row.timing, row.cold))
    for variant in call.substitutions:
        for other in variant.dispatches:
            yield from ((other.benchmark, timing) for timing in (other.original, other.timing, other.cold))
    for whole in (call.whole_model, *(variant.whole_model for variant in call.substitutions)):
        yield "the whole model", whole.timing


def _has_all(timing: schema.Timing) -> bool:
    """Whether each round has its start and repetitions, whose times can be times."""
    if not len(timing.rounds) == len(timing.at) == len(timing.real) == len(timing.cpu):
        return False
    repetitions = all(real and len(real) == len(cpu) for real, cpu in zip(timing.real, timing.cpu, strict=True))
    times = itertools.chain(timing.at, *timing.real, *timing.cpu)
    return repetitions and all(0 <= each <= _LONGEST for each in times)


def _repeated(names: list[_T]) -> list[_T]:
    """What is there more than once."""
    return [] if len(set(names)) == len(names) else [name for name, times in Counter(names).items() if times > 1]
