"""What of a result becomes part of a baseline: what got better, and nothing worse by accident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from dispatchgen.baseline.make import assemble, calls_of, row_of, source_of
from dispatchgen.baseline.schema import Baseline, BaselineRow, Call
from dispatchgen.baseline.thresholds import fits
from dispatchgen.comparison.schema import Comparison, Row
from dispatchgen.results import lean
from dispatchgen.results.estimate import FEWEST
from dispatchgen.results.lean import Key

#: `faster`, `accepted` (slower, and that was asked for), `added`: the row of the result was taken. `renamed`: the row
#: stays, under its new name. `kept`: it stays though the result is slower or has it no more. `removed`: it is gone.
#: `replaced`: it is gone, and another row has its name now.
Action = Literal["faster", "accepted", "added", "renamed", "kept", "removed", "replaced"]


@dataclass(frozen=True)
class Change:
    """What became of a row that the result tells something new of."""

    action: Action
    row: Row


@dataclass(frozen=True)
class Policy:
    """What is done with rows that got worse."""

    accept_slower: Sequence[str] = ()  #: Patterns of benchmarks whose slower times are taken.
    remove_gone: bool = False  #: Whether rows that the result does not have are removed.


def updated(
    baseline: Baseline, results: lean.Results, comparison: Comparison, policy: Policy
) -> tuple[Baseline, tuple[Change, ...]]:
    """The baseline with what of the results is taken, and what was done.

    Rows of which nothing can be told stay as they are: many small steps would lower the bar as well.
    """
    measured = {row.key: row for row in lean.rows(results)}
    left = {row.key: row for row in baseline.rows}
    resized = {old.key for old, new in _calls(baseline, results) if _sizes(old) != _sizes(new)}
    rows: dict[Key, BaselineRow] = {}
    changes: list[Change] = []
    for row in comparison.rows:  # those of the result first: no two of them have one key, but one that is gone may have
        old = left.pop(_base_key(row)) if row.base is not None else None
        action = _action(row, measured, policy, resized)
        if action == "kept" and row.key in rows:
            action = "replaced"
        if action in ("faster", "accepted", "added"):
            rows[row.key] = row_of(results, measured[row.key], None if old is None else old.noise)
        elif old is not None and action not in ("removed", "replaced"):
            rows[row.key] = old if row.renamed_from is None else _renamed(old, measured[row.key])
        if action is not None:
            changes.append(Change(action, row))
    rows = left | rows
    taken = {key[:4] for key, row in rows.items() if row.results == (results.id,)}
    calls = [*baseline.calls, *(call for call in calls_of([results]) if call.key in taken)]
    new = assemble(baseline.machine, rows.values(), calls, [*baseline.results, source_of(results)])
    return new, tuple(changes)


def _action(
    row: Row, measured: Mapping[Key, lean.Row], policy: Policy, resized: set[tuple[str, str, str, str]]
) -> Action | None:
    """What is done with a row; None: it stays, and there is nothing to tell of it."""
    if row.verdict == "faster":
        return "faster"
    if row.verdict in ("new", "fixed"):
        timing = measured[row.key].timing
        return "added" if timing is not None and len(timing.rounds) >= FEWEST else None
    if row.verdict == "slower":
        return "accepted" if any(fits(pattern, row.key) for pattern in policy.accept_slower) else "kept"
    if row.verdict == "gone":
        return "removed" if policy.remove_gone or row.key[:4] in resized else "kept"
    if row.verdict == "failed":
        return "kept"
    return "renamed" if row.renamed_from is not None else None


def _base_key(row: Row) -> Key:
    return row.key if row.renamed_from is None else row.key._replace(benchmark=row.renamed_from)


def _renamed(old: BaselineRow, new: lean.Row) -> BaselineRow:
    name = new.dispatch.name if new.dispatch is not None else old.name
    return msgspec.structs.replace(old, benchmark=new.key.benchmark, name=name)


def _calls(baseline: Baseline, results: lean.Results) -> Iterator[tuple[Call, Call]]:
    """The calls that both have."""
    there = {call.key: call for call in calls_of([results])}
    return ((call, there[call.key]) for call in baseline.calls if call.key in there)


def _sizes(call: Call) -> tuple[Mapping[str, int], Mapping[str, int]]:
    return call.symbols, call.overrides
