"""How many runs of a dispatch a call of its benchmark function makes.

A call costs something itself, on the host: T(b) = overhead + b x kernel. Pilots of two batch sizes tell both. The batch
is the largest power of 4 that fits into the time of a call, whatever the overhead: that is a small difference of two
noisy times, and two runs that chose by it would often choose differently, and measure different shares of overhead. By
the kernel's time they do only where it is within noise of the limit between two batches.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The largest batch.
LARGEST = 1024
#: The largest of the second pilot.
_TRIAL = 64
#: Batches are powers of it.
_BASE = 4


@dataclass(frozen=True)
class Cost:
    """What pilots tell, in seconds."""

    overhead: float  #: Of one call, besides its runs.
    kernel: float  #: Of one run.

    @property
    def told_overhead(self) -> float | None:
        """The overhead where it is more than half of a run; None: a slow state of the machine may look like it."""
        return self.overhead if self.overhead > self.kernel / 2 else None


def trial(alone: float, longest_call: float) -> int:
    """The batch of the second pilot; 1: none is needed, since any batch makes calls too long.

    Args:
      alone: Time of one run in a batch of 1, in seconds.
      longest_call: How long a call may take, in seconds.
    """
    return _fitting(alone, longest_call, _TRIAL)


def cost(alone: float, batch: int, batched: float) -> Cost:
    """What a call costs, and a run.

    Args:
      alone: Time of one run in a batch of 1, in seconds.
      batch: Another batch, larger than 1.
      batched: Time of one run in it.
    """
    overhead = max(0.0, (alone - batched) * batch / (batch - 1))
    return Cost(overhead, max(0.0, alone - overhead))


def best(kernel: float, longest_call: float) -> int:
    """The batch that a kernel is measured in; times are in seconds."""
    return _fitting(kernel, longest_call, LARGEST)


def _fitting(run: float, longest_call: float, most: int) -> int:
    """The largest batch, `most` at most, whose call is not too long."""
    batch = 1
    while batch < most and batch * _BASE * run <= longest_call:
        batch *= _BASE
    return batch
