"""Warm and cold: what of a dispatch is measured, and whether the build has what that needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.suite import Caches, Suite

#: One of them.
Cache: TypeAlias = Literal["warm", "cold"]

#: Why a benchmark of sizes that nothing lists is not measured cold.
SIZES_ARE_WARM = "functions that take sizes are measured warm only: list the shape, and it has a cold benchmark"
#: Why a benchmark of a listed shape is not: the build is of a lock without.
NOT_BUILT = "its module has no cold benchmark"

_HINT = "`caches: both` under `run` in the manifest: then the build has cold benchmarks"


def measured_caches(caches: Caches) -> tuple[Cache, ...]:
    """What is measured, in order."""
    return ("warm", "cold") if caches == "both" else (caches,)


def check_caches(suite: Suite, locks: Mapping[str, Lock]) -> None:
    """Raises ManifestError for models that are to be measured cold and whose locks have no cold benchmarks.

    Args:
      suite: With the settings of the run.
      locks: By the model's id.
    """
    problems = [
        Problem(f"model {model.name} has no cold benchmarks to measure", Place(str(suite.manifest), model.line), _HINT)
        for model in suite.models
        if model.run.caches in ("cold", "both") and locks[model.id].cold_memory is None
    ]
    if problems:
        raise ManifestError(*problems)
