"""How many runs of a dispatch a call of its benchmark function makes.

A call costs something itself, on the host: T(b) = overhead + b x kernel. Pilots of two batch sizes tell both.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The largest batch.
LARGEST = 1024
#: The batch of the second pilot, where a call of it is not too long.
TRIAL = 64
#: What of a run's time may be overhead.
OVERHEAD = 0.01
#: Batches are powers of it: two runs of one suite shall choose the same.
BASE = 4


@dataclass(frozen=True)
class Cost:
    """What pilots tell, in seconds."""

    overhead: float  #: Of one call, besides its runs.
    kernel: float  #: Of one run.


def trial(alone: float, longest_call: float) -> int:
    """The batch of the second pilot; 1: none is needed, since any batch makes calls too long.

    Args:
      alone: Time of one run in a batch of 1, in seconds.
      longest_call: How long a call may take, in seconds.
    """
    return _fitting(alone, longest_call, TRIAL)


def cost(alone: float, batch: int, batched: float) -> Cost:
    """What a call costs, and a run.

    Args:
      alone: Time of one run in a batch of 1, in seconds.
      batch: Another batch, larger than 1.
      batched: Time of one run in it.
    """
    overhead = max(0.0, (alone - batched) * batch / (batch - 1))
    return Cost(overhead, max(0.0, alone - overhead))


def best(cost: Cost, longest_call: float) -> int:
    """The smallest batch that makes the overhead small, or the largest that fits into a call."""
    batch = 1
    largest = _fitting(cost.kernel, longest_call, LARGEST)
    while batch < largest and cost.overhead / batch > OVERHEAD * cost.kernel:
        batch *= BASE
    return batch


def _fitting(run: float, longest_call: float, most: int) -> int:
    """The largest batch, `most` at most, whose call is not too long."""
    batch = 1
    while batch < most and batch * BASE * run <= longest_call:
        batch *= BASE
    return batch
