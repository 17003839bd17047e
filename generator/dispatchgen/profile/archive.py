"""The bytes that bindings held in recorded runs, kept beside a profile: a parameter archive, keyed by their SHA-256."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from dispatchgen.errors import Place, Problem, ProfileError
from dispatchgen.extract.sizes import Sizes
from dispatchgen.files import remove, work_folder, write_if_changed
from dispatchgen.profile.schema import Profile
from dispatchgen.profile.store import read_profile


def archive_path(profile: Path) -> Path:
    """Where the bytes of a profile are: beside it."""
    return profile.with_suffix(".irpa")


def write_kept(profile: Path, kept: Mapping[str, bytes]) -> None:
    """Writes the bytes beside a profile; where there are none, no archive is left there.

    Raises OutputError when it cannot be written.
    """
    if not kept:
        remove(archive_path(profile))
        return
    from iree.runtime import ParameterIndex

    index = ParameterIndex()
    for key in sorted(kept):
        index.add_buffer(key, kept[key])
    with work_folder() as folder:
        archive = folder / "kept.irpa"
        index.create_archive_file(str(archive))
        write_if_changed(archive_path(profile), archive.read_bytes())


def read_kept(path: Path, profile: Profile) -> dict[str, bytes]:
    """The bytes that a profile kept, by key; `path` is the profile's. Raises ProfileError where they are not there."""
    keys = {key for dispatch in profile.dispatches for entry in dispatch.entries for key in entry.data if key}
    if not keys:
        return {}
    from iree.runtime import ParameterIndex

    archive = archive_path(path)
    place = Place(str(archive))
    if not archive.is_file():
        raise ProfileError(Problem(f"the bytes that {path.name} kept are not beside it", place, "keep both together"))
    index = ParameterIndex()
    try:
        index.load(str(archive))
    except Exception as error:  # the runtime's bindings raise RuntimeError or ValueError
        raise ProfileError(Problem(f"the archive cannot be read: {error}", place, "dispatchgen capture")) from error
    kept = {key: bytes(entry.file_view) for key, entry in index.items() if key in keys}
    missing = sorted(keys - kept.keys())
    if missing:
        raise ProfileError(Problem(f"the archive lacks {missing[0]} of {path.name}", place, "dispatchgen capture"))
    return kept


class RecordedBytes:
    """What bindings held in recorded runs, from the first of several profiles that knows."""

    def __init__(self, profiles: Iterable[Path]):
        """Reads the profiles. Raises ProfileError."""
        self._kept: dict[str, bytes] = {}
        self._keys: dict[tuple[str, str, tuple[int, ...], tuple[int, ...]], tuple[str | None, ...]] = {}
        for path in profiles:
            profile = read_profile(path)
            self._kept |= read_kept(path, profile)
            for dispatch in profile.dispatches:
                for entry in dispatch.entries:
                    sizes = (dispatch.executable, dispatch.export, entry.constants, entry.bindings)
                    self._keys.setdefault(sizes, entry.data)

    def __call__(self, executable: str, export: str, sizes: Sizes, binding: int) -> bytes | None:
        """The bytes of a binding of a dispatch (IREE's symbols) at these sizes; None: they are not known."""
        constants = tuple(value for _, value in sizes.constants)
        keys = self._keys.get((executable, export, constants, sizes.bindings), ())
        key = keys[binding] if binding < len(keys) else None
        return None if key is None else self._kept[key]
