"""How long something takes, from rounds of measuring it.

Noise of a machine has one side: other work makes a run slower, nothing makes it faster. So the fastest repetition of a
round stands for the round. Slow states of a machine outlast a process, and may take half of the rounds: many rounds are
put into blocks, of which again the fastest counts. Blocks that are slow all the same are trimmed: the middle half
counts, in logarithms, since noise is a factor. The interval is that of Yuen's t-test: what scipy's `ttest_ind` has with
`trim`, computed here from the winsorized variance since scipy takes a hundred times as long for a single row.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Rounds are put into so many blocks, if there are enough for two in each.
BLOCKS = 10
#: Part of the blocks that is trimmed at each end, at most: `trimmed`.
TRIM = 0.25
#: Fewest rounds that an interval is made of.
FEWEST = 3
CONFIDENCE = 0.95
#: Median absolute deviation of a normal distribution with a standard deviation of 1.
_NORMAL_DEVIATION = statistics.NormalDist().inv_cdf(0.75)


@dataclass(frozen=True)
class Estimate:
    """A time in seconds."""

    seconds: float
    low: float | None = None  #: Lower end of the confidence interval.
    high: float | None = None
    noise: float | None = None  #: Robust standard deviation of the logarithms of rounds.

    @property
    def half_width(self) -> float | None:
        """Half of the interval, relative to the time."""
        return None if self.low is None or self.high is None else math.log(self.high / self.low) / 2


def estimate(rounds: Sequence[float]) -> Estimate:
    """The time that rounds stand for.

    Args:
      rounds: Time of each, in seconds, at least one; times of 0 have no logarithm, and no interval.
    """
    blocks = fastest_of_blocks(rounds, block_size(len(rounds)))
    seconds = _middle(blocks)
    if min(rounds) <= 0 or len(rounds) < FEWEST:
        return Estimate(seconds)
    from scipy.special import stdtrit

    logs = sorted(map(math.log, blocks))
    cut = trimmed(len(logs))
    kept = len(logs) - 2 * cut
    winsorized = [logs[cut]] * cut + logs[cut : len(logs) - cut] + [logs[-cut - 1]] * cut
    mean = math.fsum(winsorized) / len(logs)
    error = math.sqrt(math.fsum((each - mean) ** 2 for each in winsorized) / (kept * (kept - 1)))
    half = float(stdtrit(kept - 1, (1 + CONFIDENCE) / 2)) * error
    of_rounds = [math.log(each) for each in rounds]
    center = statistics.median(of_rounds)
    noise = statistics.median(abs(each - center) for each in of_rounds) / _NORMAL_DEVIATION
    return Estimate(seconds, seconds * math.exp(-half), seconds * math.exp(half), noise)


def block_size(rounds: int) -> int:
    """How many rounds a block has, at least, of so many rounds."""
    return max(1, rounds // BLOCKS)


def trimmed(blocks: int) -> int:
    """How many of so many blocks are trimmed at each end: at least `FEWEST` are left, of as many or more.

    Two that are left would have the noise of one difference: the interval of four rounds would be wider than of three.
    """
    return max(0, min(int(TRIM * blocks), (blocks - FEWEST) // 2))


def fastest_of_blocks(rounds: Sequence[float], size: int) -> list[float]:
    """The fastest round of each block of at least `size` rounds.

    Rounds are dealt to the blocks in turns, so that no block has all of a slow minute.
    """
    number = len(rounds) // size
    return [min(rounds[block::number]) for block in range(number)]


def middle(rounds: Sequence[float]) -> float:
    """The time alone, in seconds."""
    return _middle(fastest_of_blocks(rounds, block_size(len(rounds))))


def _middle(rounds: Sequence[float]) -> float:
    if min(rounds) <= 0:
        return sorted(rounds)[len(rounds) // 2]
    if len(rounds) < FEWEST:
        return math.prod(rounds) ** (1 / len(rounds))
    cut = trimmed(len(rounds))
    kept = sorted(map(math.log, rounds))[cut : len(rounds) - cut]
    return math.exp(math.fsum(kept) / len(kept))
