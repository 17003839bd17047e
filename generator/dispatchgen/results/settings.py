"""How benchmarks are timed where the manifest says nothing."""

from __future__ import annotations

from dispatchgen.manifest.suite import Model, RunSettings
from dispatchgen.results.schema import Settings

#: Short repetitions: the machine is in one state during most of them.
MIN_TIME = "0.01s"
REPETITIONS = 3
ROUNDS = 10


def settings_of(model: Model) -> Settings:
    """The settings of `dispatchgen run` for a model."""
    run = model.run
    caches = run.caches or "warm"
    return Settings(
        min_time=run.min_time or MIN_TIME,
        repetitions=run.repetitions or REPETITIONS,
        batch_size=run.batch_size or "auto",
        rounds=run.rounds or ROUNDS,
        precision=run.precision,
        caches=caches,
        cold_memory=None if caches == "warm" else model.cold_memory,
    )


def settings_of_one_round(run: RunSettings) -> Settings:
    """The settings where each benchmark is measured by one process, as in tests of builds."""
    batch_size = run.batch_size if isinstance(run.batch_size, int) else 1
    return Settings(min_time=run.min_time, repetitions=run.repetitions or 1, batch_size=batch_size)
