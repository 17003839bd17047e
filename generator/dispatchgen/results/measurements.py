"""What was measured: samples of processes, put together by what they measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from dispatchgen.results.environment_schema import Host
from dispatchgen.results.estimate import estimate, middle
from dispatchgen.results.schema import Timing
from dispatchgen.results.task import Outcome, Sample, Target

#: How failures start of what could have been measured.
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Record:
    """A process that has ended."""

    task: str  #: Id of the task.
    round: int | None  #: From 0. None: a pilot, which finds the batch size; what it measured counts for nothing else.
    at: float  #: When it started, in seconds since the run did.
    spent: float  #: What had been spent on measuring when it ended, in seconds, in all parts of the run.
    batch_size: int
    benchmarks: tuple[str, ...]  #: Those that it was to measure.
    outcome: Outcome


class RoundSample(NamedTuple):
    """What a round measured of one benchmark."""

    round: int
    at: float  #: When the process started, in seconds since the run did.
    batch_size: int
    sample: Sample


@dataclass(frozen=True)
class Measured:
    """What was measured of one benchmark of one target."""

    samples: tuple[RoundSample, ...] = ()  #: By round.
    #: Why it was not measured, or not to the end: then there are `samples` all the same. What failed in one round is
    #: not measured in later ones.
    failure: str | None = None
    overhead: float | None = None  #: What a call costs besides its runs, in seconds. None: not measured.

    @property
    def fastest(self) -> list[float]:
        """Wall-clock time of one run in seconds, by round: of each the fastest repetition."""
        return [min(each.sample.real) for each in self.samples]

    @cached_property
    def timing(self) -> Timing | None:
        """The timing that the rounds make; None: there are none."""
        if not self.samples:
            return None
        samples = [each.sample for each in self.samples]
        found = estimate(self.fastest)
        return Timing(
            seconds=found.seconds,
            cpu_seconds=middle([min(each.cpu) for each in samples]),
            low=found.low,
            high=found.high,
            noise=found.noise,
            rounds=tuple(each.round for each in self.samples),
            at=tuple(each.at for each in self.samples),
            fastest=tuple(self.fastest),
            real=tuple(each.real for each in samples),
            cpu=tuple(each.cpu for each in samples),
            iterations=samples[-1].iterations,
            batch_size=self.samples[-1].batch_size,
        )


@dataclass(frozen=True)
class Measurements:
    """What was measured of some tasks."""

    measured: Mapping[tuple[Target, str], Measured] = field(default_factory=dict)  #: Each benchmark of each task.
    host: Host | None = None
    absent: Mapping[tuple[str, str], str] = field(default_factory=dict)  #: (backend, device) -> why it is not there.
    spent_seconds: float = 0.0
    rounds: int = 0  #: Rounds that were begun.
