"""Where the data of a model comes from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dispatchgen.errors import DataError, Place, Problem
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.npy import read_npy
from dispatchgen.manifest.fills import DataSettings
from dispatchgen.profile.archive import RecordedBytes, archive_path


def data_plan(settings: DataSettings, root: Path, profiles: Iterable[str]) -> DataPlan:
    """What settings mean.

    Args:
      settings: Those of the model.
      root: What paths are relative to.
      profiles: The profiles of the model.

    Raises:
      DataError: recorded data are asked for, and no profile has any.
      ProfileError: a profile, or the archive beside it, cannot be read.
    """
    plan = DataPlan(settings, read=lambda path: read_npy(root / path))
    if not settings.is_recorded:
        return plan
    paths = [root / profile for profile in profiles]
    kept = [path for path in paths if archive_path(path).is_file()]
    if not kept:
        names = ", ".join(path.name for path in paths)
        message = f"no data are recorded: no archive is beside {names}" if paths else "nothing is recorded"
        hint = "`dispatchgen capture --keep-data` makes a profile with data, which `shapes: {from: FILE}` names"
        raise DataError(Problem(message, Place(key="data"), hint))
    return DataPlan(settings, plan.read, RecordedBytes(kept))
