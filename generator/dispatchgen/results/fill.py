"""From the frame of a run and what was measured to its results."""

from __future__ import annotations

from dispatchgen.results.measurements import Measurements
from dispatchgen.results.schema import Results

#: Why a row has no time of which nothing else is known.
NOT_RUN = "it was not run"


def fill(frame: Results, measurements: Measurements, *, build: str = "", missing: str = NOT_RUN) -> Results:
    """The frame with what was measured: timings, totals, shares, sums, ratios, coverage and failures.

    Rows that have a failure keep it. A call on a device that is absent is in `not_run`.

    Args:
      frame: What was known before, as `prepare` or a journal has it; rows may have been left out of it, as a shard does:
        they count as left out.
      measurements: By target and benchmark; of a whole model, the call stands for the benchmark.
      build: `Target.build` of what is filled in.
      missing: Why rows have no time that no measurement is about.
    """
    raise NotImplementedError
