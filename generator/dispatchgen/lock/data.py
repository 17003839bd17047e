"""Where the data of a model comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.npy import read_npy
from dispatchgen.extract.sizes import Sizes
from dispatchgen.manifest.fills import DataSettings


def data_plan(
    settings: DataSettings, root: Path, recorded: Callable[[str, str, Sizes, int], bytes | None] | None = None
) -> DataPlan:
    """What settings mean, files being relative to `root`; `recorded` is that of `DataPlan`."""
    plan = DataPlan(settings, read=lambda path: read_npy(root / path))
    return plan if recorded is None else DataPlan(settings, plan.read, recorded)
