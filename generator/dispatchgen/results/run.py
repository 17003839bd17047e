"""Measuring what was prepared: of one build, or of several in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dispatchgen.observer import Observer
from dispatchgen.results.checks import run_checks
from dispatchgen.results.fill import fill
from dispatchgen.results.measure import measure
from dispatchgen.results.measurements import Record
from dispatchgen.results.policy import Policy
from dispatchgen.results.prepare import Prepared, now
from dispatchgen.results.schema import Results


@dataclass(frozen=True)
class RunOptions:
    """How much is measured."""

    budget: float | None = None  #: Seconds. None: no limit.


class _Unkept:
    """Keeps nothing."""

    records: Sequence[Record] = ()

    def append(self, record: Record) -> None: ...


def run(builds: Sequence[Prepared], options: RunOptions, observer: Observer) -> list[Results]:
    """Measures; gives the results of each build."""
    frames = []
    for each in builds:
        with observer.stage("comparing outputs") as show:
            frames.append(run_checks(each.frame, each.checks, show))
    tasks = [task for each in builds for task in each.tasks]
    keeper = _Unkept()
    with observer.stage("running") as show:
        found = measure(tasks, Policy(frames[0].id, options.budget), lambda _: keeper, show=show)
    names = [each.build for each in builds]
    filled = [fill(frame, found, build=build) for frame, build in zip(frames, names, strict=True)]
    return [each.model_copy(update={"finished": now()}) for each in filled]
