"""Measuring what was prepared, of one build or of several in turns, and keeping what comes out in files."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from dispatchgen.errors import Place, Problem, ResultsError
from dispatchgen.observer import Observer
from dispatchgen.results.checks import run_checks
from dispatchgen.results.fill import fill
from dispatchgen.results.journal import Journal, finish, partial_of, resumed, started
from dispatchgen.results.leave_out import leave_out
from dispatchgen.results.measure import measure
from dispatchgen.results.measurements import Measurements, Record
from dispatchgen.results.policy import Policy
from dispatchgen.results.prepare import Prepared, now
from dispatchgen.results.schema import Results, Shard
from dispatchgen.results.scrub import Scrubber
from dispatchgen.results.shard import narrowed
from dispatchgen.results.uncontrolled import disturbances, start_watch
from dispatchgen.results.write import text_of

#: What is not controlled where a run went on: what disturbs is told of a process that lives until the end.
_RESUMED = "interrupted and resumed: what other processes did before that is not told"


@dataclass(frozen=True)
class RunOptions:
    """How much is measured, and whether anew."""

    budget: float | None = None  #: Seconds of measuring. None: no limit.
    resume: bool = False  #: Whether to go on with a run that was interrupted.
    shard: Shard | None = None  #: The part to measure. None: all.
    whole_models: bool = True  #: Whether the models themselves are measured, too.


@dataclass(frozen=True)
class Build:
    """What is measured of a build."""

    prepared: Prepared
    file: Path  #: The result file.
    scrubber: Scrubber  #: Of what goes into the file.


@dataclass(frozen=True)
class Measured:
    """What a run gave of a build."""

    results: Results  #: With the texts as they were.
    text: str  #: Of the result file.


def run(builds: Sequence[Build], options: RunOptions, observer: Observer) -> list[Measured]:
    """Measures builds in turns and writes their result files.

    What is measured is kept while it goes on: a run that is interrupted leaves the journals beside the files.

    Raises:
      OutputError: a file cannot be written, or another run writes it.
      ResultsError: what was interrupted is not to be found, or was something else.
    """
    if not options.whole_models:
        builds = [
            replace(each, prepared=leave_out(each.prepared, lambda task: task.target.kind == "model"))
            for each in builds
        ]
    if options.shard is not None:
        shard = options.shard
        builds = [replace(each, prepared=narrowed(each.prepared, shard)) for each in builds]
    frames = [_frame(each.prepared, options, observer) for each in builds]
    with ExitStack() as stack:
        opened = resumed if options.resume else started
        keepers = {}
        for each, frame in zip(builds, frames, strict=True):
            data = each.scrubber.data(frame)
            journal = stack.enter_context(opened(each.file, data, each.prepared.tasks, len(builds)))
            keepers[each.prepared.build] = _Keeper(journal, each.scrubber)
        journals = [keeper.journal for keeper in keepers.values()]
        if options.resume:
            _check_one_run(journals)
            frames = [journal.frame for journal in journals]
        watch = start_watch()
        found = _measured(builds, frames[0], options, keepers, observer)
        seen = (*disturbances(watch), *([_RESUMED] if options.resume else []))
        measured = []
        for each, frame in zip(builds, frames, strict=True):
            results = _finished(fill(frame, found, build=each.prepared.build), seen)
            measured.append(Measured(results, text_of(each.scrubber.data(results))))
        finish([(journal, each.text) for journal, each in zip(journals, measured, strict=True)])
    return measured


def _check_one_run(journals: Sequence[Journal]) -> None:
    """Raises ResultsError where what is to be measured in turns was not: then there is nothing to pair by round."""
    first, *others = journals
    problems = [
        Problem(
            f"it is of another run than {partial_of(first.path)}: they were not measured in turns",
            Place(str(partial_of(other.path))),
            "run without --resume",
        )
        for other in others
        if other.frame.session != first.frame.session
    ]
    if problems:
        raise ResultsError(*problems)


def _frame(prepared: Prepared, options: RunOptions, observer: Observer) -> Results:
    """What is known before measuring, with how outputs compare; an interrupted run has that already."""
    frame = _with_budget(prepared.frame, options)
    if options.resume or not prepared.checks:
        return frame
    with observer.stage("comparing outputs") as show:
        return run_checks(frame, prepared.checks, show)


def _with_budget(frame: Results, options: RunOptions) -> Results:
    measuring = frame.measuring.model_copy(update={"budget_seconds": options.budget})
    return frame.model_copy(update={"measuring": measuring})


def _measured(
    builds: Sequence[Build], frame: Results, options: RunOptions, keepers: Mapping[str, _Keeper], observer: Observer
) -> Measurements:
    tasks = [task for each in builds for task in each.prepared.tasks]
    elapsed = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(frame.started)
    with observer.stage("running") as show:
        try:
            return measure(
                tasks,
                Policy(frame.id, options.budget),
                lambda task: keepers[task.target.build],
                elapsed=elapsed.total_seconds(),
                show=show,
            )
        except KeyboardInterrupt:
            files = ", ".join(str(partial_of(each.file)) for each in builds)
            observer.say(f"interrupted: what was measured is in {files}; the same command with --resume goes on")
            raise


def _finished(results: Results, seen: Sequence[str]) -> Results:
    environment = results.environment
    uncontrolled = tuple(dict.fromkeys((*environment.uncontrolled, *seen)))
    environment = environment.model_copy(update={"uncontrolled": uncontrolled})
    return results.model_copy(update={"finished": now(), "environment": environment})


@dataclass(frozen=True)
class _Keeper:
    """A journal that is told nothing of this machine."""

    journal: Journal
    scrubber: Scrubber

    @property
    def records(self) -> Sequence[Record]:
        return self.journal.records

    def append(self, record: Record) -> None:
        outcome, text = record.outcome, self.scrubber.text
        scrubbed = replace(
            outcome,
            failures={name: text(reason) for name, reason in outcome.failures.items()},
            absent=None if outcome.absent is None else text(outcome.absent),
            hung=None if outcome.hung is None else text(outcome.hung),
        )
        self.journal.append(replace(record, outcome=scrubbed))
