"""Results of one suite that were measured in parts, put together: as one run would have recorded them.

Of each row the frame is taken, and what was measured is filled in again: shares and sums are those of the whole.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dispatchgen.errors import Place, Problem, ResultsError
from dispatchgen.results.damage import time_of
from dispatchgen.results.environment import differences, software_differences
from dispatchgen.results.environment_schema import Environment, Software
from dispatchgen.results.fill import fill
from dispatchgen.results.measurements import Measurements
from dispatchgen.results.merge_rows import Part, Rows, call_problems, calls_of
from dispatchgen.results.schema import Measuring, Results, Shard

#: The most problems that are told.
_SHOWN = 20


@dataclass(frozen=True)
class Merged:
    """Results that were put together."""

    results: Results
    missing: tuple[Shard, ...]  #: Shards that none of the results has.


def merge(files: Sequence[tuple[str, Results]], *, force: bool = False) -> Merged:
    """Puts results together; their order does not matter.

    Args:
      files: Results with the names of their files.
      force: Whether results of machines that differ are put together.

    Raises ResultsError: they are not parts of one suite, measured by the same software with the same settings, or the
    same was measured in several that cannot be one; all that is wrong.
    """
    ordered = sorted(files, key=lambda file: (_first_shard(file[1]), file[1].started, file[1].id))
    _check(_problems(ordered, force=force))
    results = [result for _, result in ordered]
    started = min(result.started for result in results)
    parts = [Part(name, result, _seconds(started, result.started)) for name, result in ordered]
    rows = Rows.of(parts)
    _check(itertools.chain(call_problems(parts), rows.problems()))
    found = rows.measured()
    rounds = max([0, *(sample.round + 1 for each in found.values() for sample in each.samples)])
    measuring = _measuring(results, rounds)
    frame = results[0].model_copy(
        update={
            "id": _joined_id([result.id for result in results]),
            "session": _joined_id([result.session for result in results]),
            "started": started,
            "finished": _last([result.finished for result in results]),
            "environment": _environment([result.environment for result in results]),
            "measuring": measuring,
            "calls": calls_of(parts, rows),
            "not_run": _union(each for result in results for each in result.not_run),
            "build_failures": _union(each for result in results for each in result.build_failures),
            "build": _steps(results),
        }
    )
    host = frame.environment.host
    merged = fill(frame, Measurements(found, host, spent_seconds=measuring.spent_seconds, rounds=rounds))
    return Merged(merged, _missing(results))


def _check(problems: Iterable[Problem]) -> None:
    """Raises ResultsError for what is wrong; of many problems, the first."""
    found = list(problems)
    if found:
        more = [Problem(f"and {len(found) - _SHOWN} more")] if len(found) > _SHOWN else []
        raise ResultsError(*found[:_SHOWN], *more)


def _problems(files: Sequence[tuple[str, Results]], *, force: bool) -> Iterator[Problem]:
    """Why results are not put together."""
    seen: dict[str, str] = {}
    first_name, first = files[0]
    for name, result in files:
        place = Place(name)
        again = next((seen[run] for run in _runs(result) if run in seen), None)
        if again is not None:
            yield Problem(f"a run of it is also in {again}", place, "give each run once")
            continue
        seen |= dict.fromkeys(_runs(result), name)
        machine = differences(first.environment.machine, result.environment.machine)
        if machine and not force:
            message = f"it was measured on another machine than {first_name}" + "".join(
                f"\n  {each}" for each in machine
            )
            yield Problem(message, place, "--force")
        software = software_differences(first.environment.software, _like(first, result.environment.software))
        if software:
            message = f"it was measured with other software than {first_name}"
            yield Problem(message + "".join(f"\n  {each}" for each in software), place)
        if first.buffers != result.buffers:
            yield Problem(f"buffers held other data than in {first_name}", place)
    counts = {shard.count for _, result in files for shard in _shards(result)}
    if len(counts) > 1:
        numbers = " and ".join(map(str, sorted(counts)))
        yield Problem(f"they are shards of different numbers: of {numbers}", Place(first_name))


def _like(first: Results, software: Software) -> Software:
    """The software, with what may differ as it is in `first`."""
    same = first.environment.software
    return software.model_copy(update={"kernel": same.kernel, "python": same.python, "dirty": same.dirty})


def _runs(result: Results) -> tuple[str, ...]:
    """Ids of the runs that the result is made of."""
    return result.measuring.runs or (result.id,)


def _shards(result: Results) -> tuple[Shard, ...]:
    own = result.measuring.shard
    return result.measuring.shards if own is None else (own,)


def _first_shard(result: Results) -> int:
    return min((shard.index for shard in _shards(result)), default=0)


def _missing(results: Sequence[Results]) -> tuple[Shard, ...]:
    """The shards that are not there; one result of everything has all."""
    found = [_shards(result) for result in results]
    if not all(found):
        return ()
    there = {shard.index for shards in found for shard in shards}
    count = found[0][0].count
    return tuple(Shard(index=index, count=count) for index in range(1, count + 1) if index not in there)


def _measuring(results: Sequence[Results], rounds: int) -> Measuring:
    every = [result.measuring for result in results]
    shards = {(shard.index, shard.count): shard for result in results for shard in _shards(result)}
    if not all(map(_shards, results)):
        shards = {}  # one of them is of everything
    budgets = [each.budget_seconds for each in every]
    return Measuring(
        budget_seconds=None if None in budgets else sum(budget or 0.0 for budget in budgets),
        spent_seconds=sum(each.spent_seconds for each in every),
        rounds=rounds,
        merged=sum(each.merged for each in every),
        runs=tuple(sorted({run for result in results for run in _runs(result)})),
        shards=tuple(shards[key] for key in sorted(shards)),
    )


def _environment(environments: Sequence[Environment]) -> Environment:
    names = {each.host_name for each in environments}
    return environments[0].model_copy(
        update={
            "host": next((each.host for each in environments if each.host is not None), None),
            "host_name": names.pop() if len(names) == 1 else None,
            "pinned": tuple(sorted({number for each in environments for number in each.pinned})),
            "uncontrolled": _union(text for each in environments for text in each.uncontrolled),
        }
    )


def _steps(results: Sequence[Results]) -> tuple[Any, ...]:
    """Steps of the build, each once: as the first result has it."""
    steps = {(s.step, s.model, s.backend, s.dispatch, s.substitution): s for r in reversed(results) for s in r.build}
    order = dict.fromkeys((s.step, s.model, s.backend, s.dispatch, s.substitution) for r in results for s in r.build)
    return tuple(steps[key] for key in order)


def _union(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def _joined_id(ids: Sequence[str]) -> str:
    """The id of what is made of these: of one that is in all, the same; else of all, in any order."""
    distinct = sorted(set(ids))
    return distinct[0] if len(distinct) == 1 else hashlib.sha256("\n".join(distinct).encode()).hexdigest()[:32]


def _last(times: Sequence[str | None]) -> str | None:
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(times) else None


def _seconds(start: str, end: str) -> float:
    return (time_of(end) - time_of(start)).total_seconds()
