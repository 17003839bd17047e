"""Reading and writing lock files. Keys of mappings whose order means nothing are sorted in them (see `versioned`)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from dispatchgen.errors import LockError
from dispatchgen.files import write_if_changed
from dispatchgen.lock.schema import LOCK_VERSION, Lock
from dispatchgen.manifest import DEFAULT_MANIFEST
from dispatchgen.manifest.suite import Suite
from dispatchgen.versioned import Format, with_digest


class NewerLockError(LockError):
    """A lock file was written by a newer dispatchgen: not to be overwritten by this one."""


def read_lock(path: Path) -> Lock:
    """Reads and checks a lock file.

    Raises LockError: it does not exist or cannot be read, is of another version, is no JSON, was edited by hand.
    """
    return _FORMAT.read(path)


def write_lock(path: Path, lock: Lock) -> bool:
    """Writes a lock file in one step, with its digest; leaves it alone when it is the same already.

    Returns whether the file was written. Raises OutputError when it cannot be.
    """
    return write_if_changed(path, lock_text(lock))


def locks_of_no_model(suite: Suite) -> list[Path]:
    """The files beside the suite's locks that would be the lock of a model that the suite does not have, sorted."""
    owned = {suite.lock_path(model) for model in suite.models}
    return sorted(
        path for folder in {path.parent for path in owned} for path in folder.glob("*.json") if path not in owned
    )


def lock_text(lock: Lock) -> str:
    """The text of a lock file. The digest that `lock` carries is not used: it is computed."""
    # What most locks have nothing to say of is left out, but never what is skipped.
    data = lock.model_dump(mode="json", exclude={"version", "digest"}, exclude_defaults=True)
    for dispatches in data["backends"].values():
        dispatches |= {key: dispatches.pop(key, []) for key in ("skipped", "uncounted")}
    head = {"version": lock.version, "model": data.pop("model"), "digest": ""}
    return with_digest({**head, **_sorted(data)})


#: Mappings of the lock file that are keyed by what users or programs named: their order means nothing.
_UNORDERED = frozenset({"settings", "backends", "counts", "symbols", "profiles", "flag_files", "omitted"})


def _sorted(value: object, key: str | None = None) -> dict[str, object]:
    """`value` with the unordered mappings in it sorted by key."""
    result = _sorted_any(value, key)
    assert isinstance(result, dict)
    return result


def _sorted_any(value: object, key: str | None) -> object:
    if isinstance(value, Mapping):
        items = sorted(value.items()) if key in _UNORDERED else value.items()
        return {name: _sorted_any(item, name) for name, item in items}
    if isinstance(value, list):
        return [_sorted_any(item, None) for item in value]
    return value


def renew_command(path: Path, manifest: Path | None = None) -> str:
    """The command that renews a lock file.

    Args:
      path: Of the lock file.
      manifest: Of the suite; None: the one of the usual name beside the folder of the lock file.
    """
    return shlex.join(["dispatchgen", "lock", *_given(path, manifest), "--model", path.stem])


def generate_command(path: Path) -> str:
    """The command that renews the build files of the suite that a lock file belongs to.

    Args:
      path: Of the lock file, in a folder beside the manifest.
    """
    return shlex.join(["dispatchgen", "generate", *_given(path)])


def _given(path: Path, manifest: Path | None = None) -> list[str]:
    """What of the command line names the manifest: nothing where it is that of the current folder."""
    manifest = manifest if manifest is not None else path.parent.parent
    return [] if manifest in (Path(DEFAULT_MANIFEST), Path()) else [str(manifest)]


_FORMAT = Format("lock file", LOCK_VERSION, Lock, LockError, NewerLockError, renew_command)
