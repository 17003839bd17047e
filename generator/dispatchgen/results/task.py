"""What is measured: processes that are run again and again, in rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from dispatchgen.results.environment_schema import Host
from dispatchgen.results.lean import Seconds
from dispatchgen.results.schema import Settings


class Target(NamedTuple):
    """Which rows of the results a task measures, but for the benchmark."""

    model: str
    backend: str
    device: str
    kind: Literal["dispatch", "model"]
    variant: str = ""  #: Id of a substitution or combination; empty: the compiler's own.
    caches: Literal["warm", "cold"] = "warm"
    build: str = ""  #: Which of the builds that are measured in turns; empty: the first.


@dataclass(frozen=True)
class Sample:
    """What one process measured of one benchmark; times of one run, in seconds, by repetition."""

    real: Annotated[tuple[Seconds, ...], Meta(min_length=1)]
    cpu: Annotated[tuple[Seconds, ...], Meta(min_length=1)]
    iterations: int  #: Calls that were timed in each repetition.


@dataclass(frozen=True)
class Outcome:
    """What one process gave; each benchmark is in `samples` or in `failures`, unless `absent` is set."""

    samples: Mapping[str, Sample] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    host: Host | None = None
    absent: str | None = None  #: Why the device is not there; then nothing ran.
    hung: str | None = None  #: Why the task is not to be run again: something of it did not end in time.


@dataclass(frozen=True)
class Task:
    """A process that measures benchmarks of one module."""

    id: str  #: Unique, and the same in every run of the suite: what shards are made of.
    group: str  #: Tasks of one group run one after the other: an original and what replaces it.
    target: Target
    #: Names of rows: of benchmarks (also where functions have another name), of a whole model its call.
    benchmarks: tuple[str, ...]
    sha256: str  #: Of the module.
    batch_size: int | Literal["auto"]  #: Of whole models 1, whatever the settings say.
    settings: Settings  #: How its model is timed: rounds, precision, `min_time`.
    #: Runs the process for some of the benchmarks with a batch size.
    run: Callable[[Sequence[str], int], Outcome]
    #: Processors that it is kept on; None: any.
    cpus: frozenset[int] | None = None
