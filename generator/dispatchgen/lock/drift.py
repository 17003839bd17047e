"""Builds that may go on where the dispatches are no longer those of the lock: what is missing, and what to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from dispatchgen.extract.schema import BackendDispatches, Skipped
from dispatchgen.lock.compare import Difference

#: File beside the benchmark modules that tells the drift; empty: there is none.
REPORT = "drift.txt"
#: How the first line of a placeholder starts. The runners of both build systems look for it.
SKIPPED = "// dispatchgen: skipped: "


def missing_dispatches(model: str, locked: BackendDispatches, found: BackendDispatches) -> dict[str, str]:
    """Dispatches that the lock lists and that are not there today as it says: name -> why, in one line."""
    there = {dispatch.name: dispatch.archive for dispatch in found.dispatches}
    known = {(skip.operation, skip.reason) for skip in locked.skipped}
    skips = {skip.operation: skip for skip in found.skipped if (skip.operation, skip.reason) not in known}
    gone = {
        dispatch.name: _why(model, found.backend, skips.get(dispatch.operation))
        for dispatch in locked.dispatches
        if dispatch.name not in there
    }
    # The build file says which tests get a file of data.
    other = [
        dispatch for dispatch in locked.dispatches if there.get(dispatch.name, dispatch.archive) != dispatch.archive
    ]
    return gone | {
        dispatch.name: f"its data {'no longer lie' if dispatch.archive else 'now lie'} in a file" for dispatch in other
    }


def _why(model: str, backend: str, skip: Skipped | None) -> str:
    if skip is None:
        return f"it is no longer among the dispatches of {model} on {backend}"
    return " ".join(f"no benchmark at {', '.join(skip.calls)}: {skip.reason}".split())


def placeholder(reason: str) -> str:
    """A module in place of a dispatch that is not there: it compiles for every target, and holds no benchmark.

    Run all the same, iree-benchmark-module finds nothing to measure: no test takes it for a dispatch.
    """
    return f"{SKIPPED}{reason}\nvm.module public @skipped {{}}\n"


def report(
    model: str, difference: Difference, missing: Mapping[str, str], lock_path: Path, renew: str
) -> Iterator[str]:
    """The drift of a model on a backend for people to read, a line each; nothing where there is none."""
    if not difference:
        return
    counts = [f"{len(entries)} {title}" for title, entries in difference.entries() if entries]
    yield f"the dispatches of {model} on {difference.backend} are not those that its lock lists: {', '.join(counts)}"
    yield from difference.lines()
    if missing:
        yield f"{len(missing)} of the locked dispatches cannot be measured: their tests are skipped"
    if difference.removed_benchmarks:
        count = len(difference.removed_benchmarks)
        yield f"{count} of the locked benchmarks cannot be measured: the tests of their dispatches run without them"
    yield f"the lock: {lock_path}; to renew it: {renew}"
