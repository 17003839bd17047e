"""Whether a run did what it was to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from dispatchgen.results.measurements import NOT_MEASURED
from dispatchgen.results.schema import Results


def verdict(results: Results, *, devices_named: bool) -> Iterator[str]:
    """Yields a sentence for each kind of failure; nothing where all is well. The tables name each one with its reason.

    An absent device is no failure, unless the user named the devices to run on, or nothing was measured at all. A shard
    may have nothing to measure: of many, some are empty.

    Args:
      devices_named: Whether the user named the devices on the command line.
    """
    rows = [row for call in results.calls for row in (*call.dispatches, *call.initializers)]
    failures = [*_dispatches(results), *_whole_models(results), *_substitutions(results)]
    yield from failures
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
    elif results.build_failures and not (failures or broken):
        yield "the build failed"


def _dispatches(results: Results) -> Iterator[str]:
    """What could not be measured of dispatches: of one with several benchmarks, any of them."""
    reasons = (
        ((call.model, call.backend, call.device.id, row.name), reason)
        for call in results.calls
        for row in (*call.dispatches, *call.initializers)
        for reason in (row.failure, row.cold_failure)
    )
    yield from _failures(reasons, "dispatch", "dispatches")


def _whole_models(results: Results) -> Iterator[str]:
    reasons = ((number, call.whole_model.failure) for number, call in enumerate(results.calls))
    yield from _failures(reasons, "call of whole models", "calls of whole models")


def _substitutions(results: Results) -> Iterator[str]:
    """What of substitutions and combinations could not be measured, and whose outputs are not the compiler's."""
    found = [
        ((call.model, call.backend, call.device.id, result.name), result)
        for call in results.calls
        for result in call.substitutions
    ]
    reasons = (
        (key, reason)
        for key, result in found
        for reason in (
            result.whole_model.failure,
            *(reason for row in result.dispatches for reason in (row.failure, row.cold_failure)),
        )
    )
    yield from _failures(reasons, "substitution", "substitutions")
    differing = {
        key
        for key, result in found
        if any(row.agreement is not None and not row.agreement.agrees for row in result.dispatches)
    }
    if differing:
        what = _number(len(differing), "substitution", "substitutions")
        yield f"outputs of {what} are not the compiler's, or could not be compared"


def _failures(reasons: Iterable[tuple[Hashable, str | None]], one: str, more: str) -> Iterator[str]:
    """A sentence on what failed, and one for each reason that others were not reached for.

    Args:
      reasons: What it is, and why it has no time; None: it has one.
      one: What one of them is called.
      more: What more than one are called.
    """
    known = [(what, reason) for what, reason in reasons if reason is not None]
    failed = {what for what, reason in known if not reason.startswith(NOT_MEASURED)}
    if failed:
        yield f"{_number(len(failed), one, more)} could not be built or run"
    left = {what: reason for what, reason in known if what not in failed}
    for reason, count in Counter(left.values()).items():
        yield f"{_number(count, one, more)} {reason}"


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
