"""Benchmarks of a history, and what changed, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.history.changes import Change
from dispatchgen.history.moves import Move
from dispatchgen.history.series import Run, Series
from dispatchgen.results.text import NOTHING, plain_line

#: Digits of commits.
_COMMIT = 12


def name_of(series: Series) -> str:
    """Which benchmark it is, with its call."""
    key = series.key
    benchmark = "whole model" if key.kind == "model" else key.benchmark
    variant = f" with {key.variant}" if key.variant else ""
    caches = f", {key.caches}" if key.caches != "warm" else ""
    return plain_line(f"{key.model} on {key.backend}, {key.device}, {key.call}: {benchmark}{variant}{caches}")


def between(change: Change) -> str:
    """What differs between the last run before a change and the first after it."""
    old, new = change.runs
    parts = [*_commits(old, new)]
    parts += [
        f"{what} {before} and {after}"
        for what, before, after in (("compiler", old.compiler, new.compiler), ("runtime", old.runtime, new.runtime))
        if before != after
    ]
    if change.same_code:
        parts.append("the code is the same: machine or runtime")
    return "; ".join(parts) or "nothing that is known differs"


def of_move(move: Move) -> str:
    """What most benchmarks did."""
    alike = f"{len(move.changes)} of {move.measured} benchmarks changed alike, by {percent(move.ratio)} at the median"
    return f"{alike}: the machine, the runtime or the compiler as a whole"


def commit_of(run: Run) -> str:
    """A run's commit, short; `+` behind it: with files that were edited."""
    return NOTHING if run.commit is None else run.commit[:_COMMIT] + ("+" if run.dirty else "")


def percent(ratio: float) -> str:
    """A ratio as a change."""
    return f"{(ratio - 1) * 100:+.1f} %"


def _commits(old: Run, new: Run) -> Iterator[str]:
    """The commits between two runs, as a range that Git takes, and what is in none of them."""
    if old.commit is not None and new.commit is not None:
        short = new.commit[:_COMMIT]
        yield f"both at {short}" if old.commit == new.commit else f"{old.commit[:_COMMIT]}..{short}"
    elif old.commit is not None or new.commit is not None:
        known, where = (old.commit, "before") if old.commit is not None else (new.commit, "after")
        yield f"{(known or '')[:_COMMIT]} {where}, the other commit is not known"
    edited = [where for run, where in ((old, "before"), (new, "after")) if run.dirty]
    if edited:
        yield f"edited files {' and '.join(edited)}"
