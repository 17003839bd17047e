"""Measuring a suite in parts, on several machines: which part a group of tasks belongs to depends on its name alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from dispatchgen.results.caches import Cache
from dispatchgen.results.prepare import Prepared
from dispatchgen.results.schema import CallResult, DispatchResult, Shard, SubstitutionResult, WholeModel
from dispatchgen.results.task import Target, Task

#: The most shards.
MOST = 1000


def parse_shard(text: str) -> Shard:
    """Reads `1/3`, the first of three. Raises ValueError, with what is allowed."""
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST:
        raise ValueError(f"'{text}' is no shard: 1/3 is the first of three, 3/3 the last")
    return Shard(index=int(found[1]), count=int(found[2]))


def is_in(group: str, shard: Shard) -> bool:
    """Whether a shard measures a group of tasks. It stays there when others are added or removed."""
    return int.from_bytes(hashlib.sha256(group.encode()).digest(), "big") % shard.count == shard.index - 1


def narrowed(prepared: Prepared, shard: Shard) -> Prepared:
    """What a shard measures of what was prepared. Rows of other shards are taken out; what cannot be measured stays."""
    tasks = tuple(task for task in prepared.tasks if is_in(task.group, shard))
    others = _Others.of(task for task in prepared.tasks if not is_in(task.group, shard))
    frame = prepared.frame.model_copy(
        update={
            "calls": tuple(others.taken_out(call, prepared.build) for call in prepared.frame.calls),
            "measuring": prepared.frame.measuring.model_copy(update={"shard": shard}),
        }
    )
    left = {
        (call.model, call.backend, call.device.id, variant.id, row.name)
        for call in frame.calls
        for variant in call.substitutions
        for row in variant.dispatches
    }
    checks = tuple(
        check for check in prepared.checks if (*check.target[:3], check.target.variant, check.dispatch) in left
    )
    return replace(prepared, frame=frame, tasks=tasks, checks=checks)


@dataclass(frozen=True)
class _Others:
    """The rows that other shards measure."""

    rows: frozenset[tuple[Target, str]]

    @classmethod
    def of(cls, tasks: Iterable[Task]) -> _Others:
        """The rows that tasks measure, with whatever caches: these tasks are of one group."""
        return cls(
            frozenset(
                (task.target._replace(caches="warm"), benchmark) for task in tasks for benchmark in task.benchmarks
            )
        )

    def taken_out(self, call: CallResult, build: str) -> CallResult:
        """A call without these rows."""

        def has(kind: Literal["dispatch", "model"], benchmark: str, variant: str = "") -> bool:
            target = Target(call.model, call.backend, call.device.id, kind, variant, build=build)
            caches: tuple[Cache, ...] = ("warm", "cold")
            return any((target._replace(caches=each), benchmark) in self.rows for each in caches)

        def dispatches(rows: Iterable[DispatchResult]) -> tuple[DispatchResult, ...]:
            return tuple(row for row in rows if not has("dispatch", row.benchmark))

        def whole_model(whole: WholeModel, variant: str = "") -> WholeModel:
            return whole.model_copy(update={"left_out": True}) if has("model", call.call, variant) else whole

        def substitution(result: SubstitutionResult) -> SubstitutionResult:
            rows = tuple(
                row
                for row in result.dispatches
                if not (has("dispatch", row.benchmark) or has("dispatch", row.benchmark, result.id))
            )
            return result.model_copy(
                update={"dispatches": rows, "whole_model": whole_model(result.whole_model, result.id)}
            )

        return call.model_copy(
            update={
                "dispatches": dispatches(call.dispatches),
                "initializers": dispatches(call.initializers),
                "whole_model": whole_model(call.whole_model),
                "substitutions": tuple(map(substitution, call.substitutions)),
            }
        )
