"""The main job: locks a suite, builds its benchmarks in a folder of its own, or takes what is built, and runs them."""

from dispatchgen.job.options import Options
from dispatchgen.job.run import Outcome, run_job

__all__ = ["Options", "Outcome", "run_job"]
