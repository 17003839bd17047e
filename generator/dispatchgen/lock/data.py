"""Where the data of a model comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import DataError, Place, Problem
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.npy import read_npy
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches
from dispatchgen.manifest.fills import DataSettings
from dispatchgen.profile.archive import RecordedBytes, kept_keys
from dispatchgen.profile.match import codes_of, locked_codes
from dispatchgen.profile.store import read_profile


@dataclass(frozen=True)
class ProfilesOf:
    """The profiles of a model, as sources of data for its program on a backend."""

    files: Sequence[str]  #: Paths as the manifest has them; of any backend.
    program: Program
    backend: str
    #: What the profiles were matched with, where the program may be of another compiler since; None: the program.
    locked: BackendDispatches | None = None


def data_plan(settings: DataSettings, root: Path, profiles: ProfilesOf | None = None) -> DataPlan:
    """What settings mean.

    Args:
      settings: Those of the model.
      root: What paths are relative to.
      profiles: Those of the model; needed where data are recorded.

    Raises:
      DataError: recorded data are asked for, and no profile has any, of whatever backend.
      ProfileError: a profile, or the archive beside it, cannot be read. Archives are read later, as far as needed.
    """
    plan = DataPlan(settings, read=lambda path: read_npy(root / path))
    if not settings.is_recorded:
        return plan
    found = [(root / file, read_profile(root / file)) for file in (() if profiles is None else profiles.files)]
    if profiles is None or not any(kept_keys(profile) for _, profile in found):
        names = ", ".join(path.name for path, _ in found)
        message = f"no data are recorded: {names} has none" if found else "nothing is recorded"
        hint = "`dispatchgen capture --keep-data` makes a profile with data, which `shapes: {from: FILE}` names"
        raise DataError(Problem(message, Place(key="data"), hint))
    program, locked = profiles.program, profiles.locked
    codes = codes_of(program) if locked is None else locked_codes(program, locked.dispatches)
    own = [(path, profile) for path, profile in found if profile.backend == profiles.backend]
    return DataPlan(settings, plan.read, RecordedBytes(codes, own))
