"""Whether a run did what it was to do."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.results.schema import DispatchResult, Results, SubstitutedDispatch


def verdict(results: Results, *, devices_named: bool) -> Iterator[str]:
    """Yields a sentence for each kind of failure; nothing where all is well. The tables name each one with its reason.

    An absent device is no failure, unless the user named the devices to run on, or nothing was measured at all. A shard
    may have nothing to measure: of many, some are empty.

    Args:
      devices_named: Whether the user named the devices on the command line.
    """
    rows = [row for call in results.calls for row in (*call.dispatches, *call.initializers)]
    failed = {
        (call.model, call.backend, call.device.id, row.name)
        for call in results.calls
        for row in (*call.dispatches, *call.initializers)
        if _is_failed(row)
    }
    if failed:
        yield f"{_number(len(failed), 'dispatch', 'dispatches')} could not be built or run"
    models = sum(call.whole_model.failure is not None for call in results.calls)
    if models:
        yield f"{_number(models, 'call', 'calls')} of whole models could not be built or run"
    yield from _substitutions(results)
    broken = sum(missing.cause == "build-failed" for missing in results.not_run)
    if broken:
        yield f"nothing was run of {_number(broken, 'model', 'models')} that could not be built"
    absent = {missing.device.id for missing in results.not_run if missing.cause == "absent-device" and missing.device}
    if devices_named and absent:
        yield f"devices that were asked for are absent: {', '.join(sorted(absent))}"
    if not any(row.timing or row.cold for row in rows):
        whole = any(call.whole_model.timing for call in results.calls)
        if rows or results.measuring.shard is None:
            yield "no dispatch was measured" if whole else "nothing was measured"
    elif results.build_failures and not (failed or models or broken or any(_substitutions(results))):
        yield "the build failed"


def _substitutions(results: Results) -> Iterator[str]:
    """What of substitutions and combinations could not be measured, and whose outputs are not the compiler's."""
    failed, differing = set(), set()
    for call in results.calls:
        for result in call.substitutions:
            key = (call.model, call.backend, call.device.id, result.name)
            if result.whole_model.failure is not None or any(map(_is_failed, result.dispatches)):
                failed.add(key)
            if any(row.agreement is not None and not row.agreement.agrees for row in result.dispatches):
                differing.add(key)
    if failed:
        yield f"{_number(len(failed), 'substitution', 'substitutions')} could not be built or run"
    if differing:
        what = _number(len(differing), "substitution", "substitutions")
        yield f"outputs of {what} are not the compiler's, or could not be compared"


def _is_failed(row: DispatchResult | SubstitutedDispatch) -> bool:
    return row.failure is not None or row.cold_failure is not None


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
