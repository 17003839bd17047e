"""From a plan and a build to what is to be measured: tasks, and the results as far as they are known before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dispatchgen.results.schema import Agreement, Results
from dispatchgen.results.task import Target, Task


@dataclass(frozen=True)
class Checked:
    """How the outputs of a substitute compare with its original's."""

    agreements: Mapping[str, Agreement]  #: By the benchmark's name.
    hung: str | None = None  #: Why the substitute is not to be measured: it did not end in time.
    absent: str | None = None  #: Why the device is not there.


@dataclass(frozen=True)
class Check:
    """A comparison of outputs, done once, before anything is measured."""

    target: Target
    dispatch: str  #: Its name.
    run: Callable[[], Checked]


@dataclass(frozen=True)
class Prepared:
    """What is to be measured."""

    #: Everything that is known before: rows without timing, those that cannot be measured with their failure.
    frame: Results
    tasks: tuple[Task, ...]  #: Each measures rows of the frame; originals first in their groups.
    checks: tuple[Check, ...] = ()
