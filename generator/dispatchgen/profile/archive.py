"""The bytes that bindings held in recorded runs, kept beside a profile: a parameter archive, keyed by their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dispatchgen.errors import OutputError, Place, Problem, ProfileError
from dispatchgen.extract.sizes import Sizes
from dispatchgen.files import remove, work_folder, write_if_changed
from dispatchgen.ownership import check_replaceable
from dispatchgen.profile.match import Codes, paired
from dispatchgen.profile.schema import Profile
from dispatchgen.profile.store import looks_like_profile, read_profile, write_profile

if TYPE_CHECKING:
    from iree.runtime import ParameterIndexEntry

_CAPTURE = "dispatchgen capture --keep-data"


def archive_path(profile: Path) -> Path:
    """Where the bytes of a profile are: beside it. The whole name is kept, so that no other file has this one."""
    return profile.with_name(f"{profile.name}.irpa")


def kept_keys(profile: Profile) -> frozenset[str]:
    """The keys of all bytes that a profile kept."""
    return frozenset(key for dispatch in profile.dispatches for entry in dispatch.entries for key in entry.data if key)


def check_output(path: Path) -> None:
    """Raises OutputError where a profile cannot be written to `path` without the loss of somebody else's file.

    A profile is replaced, be it damaged or not; an archive beside it only where the profile is not, and has its keys.
    """
    check_replaceable(path)  # first: a folder may have no name to make the archive's of
    archive = archive_path(path)
    check_replaceable(archive)
    if path.exists() and not looks_like_profile(path):
        raise OutputError(Problem("there is a file that is no profile", Place(str(path)), "-o with another file"))
    if archive.exists() and not _is_own(path, archive):
        message = f"there is an archive, and no profile {path.name} with its keys: it may be of something else"
        raise OutputError(Problem(message, Place(str(archive)), "-o with another file, or remove the archive"))


def _is_own(path: Path, archive: Path) -> bool:
    """Whether an archive is of the profile beside it."""
    try:
        return kept_keys(read_profile(path)).issuperset(_entries(archive))
    except ProfileError:
        return False


def write_with_data(path: Path, profile: Profile, kept: Mapping[str, bytes]) -> None:
    """Writes a profile, and the bytes of its keys beside it; where it has none, no archive is left there.

    Raises OutputError: one of them cannot be written, or what is there is somebody else's.
    """
    check_output(path)
    _write_archive(archive_path(path), {key: kept[key] for key in sorted(kept_keys(profile))})
    write_profile(path, profile)


def _write_archive(path: Path, kept: Mapping[str, bytes]) -> None:
    if not kept:
        remove(path)
        return
    from iree.runtime import ParameterIndex

    index = ParameterIndex()
    for key, data in kept.items():
        index.add_buffer(key, data)
    with work_folder() as folder:
        archive = folder / "kept.irpa"
        index.create_archive_file(str(archive))
        write_if_changed(path, archive.read_bytes())


def _entries(archive: Path) -> dict[str, ParameterIndexEntry]:
    """What an archive has, by key; none of it is read. Raises ProfileError where it is no archive, or truncated."""
    from iree.runtime import ParameterIndex

    index = ParameterIndex()
    try:
        index.load(str(archive))
        return dict(index.items())
    except Exception as error:  # the runtime's bindings raise RuntimeError, ValueError or IndexError
        raise ProfileError(Problem(f"the archive cannot be read: {error}", Place(str(archive)), _CAPTURE)) from error


class Kept:
    """The bytes that a profile kept, read when they are asked for."""

    def __init__(self, path: Path, profile: Profile):
        """Opens the archive beside the profile at `path`. Raises ProfileError where it lacks bytes of the profile."""
        self.keys = kept_keys(profile)
        self._archive = archive_path(path)
        self._read: dict[str, bytes] = {}
        if self.keys and not self._archive.is_file():
            message = f"the bytes that {path.name} kept are not beside it"
            raise ProfileError(Problem(message, Place(str(self._archive)), "keep both together"))
        self._entries = _entries(self._archive) if self.keys else {}
        missing = min(self.keys - self._entries.keys(), default=None)
        if missing is not None:
            message = f"the archive lacks {missing} of {path.name}"
            raise ProfileError(Problem(message, Place(str(self._archive)), _CAPTURE))

    def __getitem__(self, key: str) -> bytes:
        """Some bytes. Raises ProfileError where the archive has others in their place."""
        if key not in self._read:
            entry = self._entries[key]
            data = bytes(entry.file_view) if entry.is_file else b""
            if hashlib.sha256(data).hexdigest() != key:
                message = f"the archive is damaged: it holds other bytes as {key} than were recorded"
                raise ProfileError(Problem(message, Place(str(self._archive)), _CAPTURE))
            self._read[key] = data
        return self._read[key]


class RecordedBytes:
    """What bindings held in recorded runs, from the first of several profiles that knows."""

    def __init__(self, codes: Codes, profiles: Iterable[tuple[Path, Profile]]):
        """Finds the dispatches that have the same code in profiles, which are of one backend. Raises ProfileError.

        Args:
          codes: What the dispatches of a program are.
          profiles: With their files.
        """
        self._known: dict[tuple[str, str, tuple[int, ...], tuple[int, ...]], list[tuple[Kept, tuple[str | None, ...]]]]
        self._known = {}
        for path, profile in profiles:
            kept = Kept(path, profile)
            for symbols, dispatch in paired(codes, profile.dispatches).same:
                for entry in dispatch.entries:
                    sizes = (*symbols, entry.constants, entry.bindings)
                    self._known.setdefault(sizes, []).append((kept, entry.data))

    def __call__(self, executable: str, export: str, sizes: Sizes, binding: int) -> bytes | None:
        """The bytes of a binding of a dispatch (IREE's symbols) at these sizes; None: they are not known.

        Raises ProfileError where an archive is damaged.
        """
        constants = tuple(value for _, value in sizes.constants)
        for kept, keys in self._known.get((executable, export, constants, sizes.bindings), ()):
            key = keys[binding] if binding < len(keys) else None
            if key is not None:
                return kept[key]
        return None
