"""What a comparison can be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

from dispatchgen.results.lean import Key

#: How many standard deviations a difference has to be beyond, at least.
_BEYOND = 3.0


def _no_limit(_: Key) -> float | None:
    return None


@dataclass(frozen=True)
class Options:
    """How results are compared."""

    floor: float = 0.02  #: Smallest difference that counts, relative to the shorter time.
    absolute_floor: float = 100e-9  #: The same in seconds.
    alpha: float = 0.05  #: Part of what is called faster or slower that may be so by chance.
    #: What is known of runs of the same code: standard deviation, of the logarithm, of a row's time from run to run.
    noise: Mapping[Key, float] = field(default_factory=dict)
    #: How much slower a row may get, relative; None: no limit of its own; infinite: the row makes no check fail.
    limits: Callable[[Key], float | None] = _no_limit
    #: Whether the same code, run by the same runtime on the same machine and data, is never called faster or slower: it
    #: is not, whatever a test says.
    trust_code: bool = True
    force: bool = False  #: Whether results of different machines are compared all the same.

    def beyond(self, rows: int) -> float:
        """How many standard deviations of what runs differ by a difference has to be, where so many rows are tested."""
        return max(_BEYOND, NormalDist().inv_cdf(1 - self.alpha / max(1, rows) / 2))
