"""Leaving some of what was prepared out: what another shard measures, or what nobody asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from dispatchgen.results.caches import Cache
from dispatchgen.results.prepare import Prepared
from dispatchgen.results.schema import CallResult, DispatchResult, SubstitutionResult, WholeModel
from dispatchgen.results.task import Target, Task


def leave_out(prepared: Prepared, is_left_out: Callable[[Task], bool]) -> Prepared:
    """What was prepared without some tasks, and without the rows that they measure. What cannot be measured stays."""
    others = _Others.of(task for task in prepared.tasks if is_left_out(task))
    frame = prepared.frame.model_copy(
        update={"calls": tuple(others.taken_out(call, prepared.build) for call in prepared.frame.calls)}
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
    tasks = tuple(task for task in prepared.tasks if not is_left_out(task))
    return replace(prepared, frame=frame, tasks=tasks, checks=checks)


@dataclass(frozen=True)
class _Others:
    """The rows that are left out."""

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
