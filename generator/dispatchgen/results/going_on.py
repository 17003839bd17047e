"""Going on with a run that was interrupted: whether it is the same run, and what may be another now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatchgen.results.schema import CallResult, Results, Settings

#: What a sample depends on, of a call.
_SAME = ("device", "inputs", "fills", "overrides")


def going_on(before: Results, now: Results) -> Results:
    """What an interrupted run knew, with what may be another now: how much is measured, and what is not controlled."""
    settings = {_what(call): call.settings for call in now.calls}
    calls = tuple(
        call.model_copy(update={"settings": settings[_what(call)]}) if _what(call) in settings else call
        for call in before.calls
    )
    uncontrolled = tuple(dict.fromkeys((*before.environment.uncontrolled, *now.environment.uncontrolled)))
    return before.model_copy(
        update={
            "calls": calls,
            "environment": before.environment.model_copy(update={"uncontrolled": uncontrolled}),
            "measuring": before.measuring.model_copy(update={"budget_seconds": now.measuring.budget_seconds}),
        }
    )


def frame_differences(before: Results, now: Results) -> Iterator[str]:
    """How what is known before measuring differs in what samples depend on, for people."""
    from dispatchgen.results.environment import differences

    yield from differences(before.environment.machine, now.environment.machine)
    runtime, other = before.environment.software.runtime, now.environment.software.runtime
    if runtime != other:
        yield f"runtime: {runtime or 'not told'} and {other or 'not told'}"
    pinned, others = before.environment.pinned, now.environment.pinned
    if pinned != others:
        yield f"--pin: {_processors(pinned)} and {_processors(others)}"
    if before.measuring.shard != now.measuring.shard:
        yield "--shard: it was another part"
    if before.buffers != now.buffers:
        yield "buffers hold other data"
    yield from dict.fromkeys(_call_differences(before, now))


def _call_differences(before: Results, now: Results) -> Iterator[str]:
    """How calls differ in what samples depend on."""
    calls = {_what(call): call for call in now.calls}
    for call in before.calls:
        other = calls.get(_what(call), call)
        where = f"{call.model} on {call.backend}, {call.device.id}"
        if _timed(call.settings) != _timed(other.settings):
            yield f"{where}: it was timed with other settings"
        differ = [name for name in _SAME if getattr(call, name) != getattr(other, name)]
        if differ:
            yield f"{where}, {call.call}: {', '.join(differ)} differ"


def _what(call: CallResult) -> tuple[str, str, str, str]:
    return call.model, call.backend, call.device.id, call.call


def _timed(settings: Settings) -> Settings:
    """Settings of timing: how much is measured does not change what a sample is."""
    return settings.model_copy(update={"rounds": 1, "precision": None})


def _processors(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "any processor"
