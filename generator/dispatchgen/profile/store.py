"""Reading and writing profiles."""

from __future__ import annotations

import re
from pathlib import Path

from dispatchgen.errors import ProfileError
from dispatchgen.files import write_if_changed
from dispatchgen.profile.schema import PROFILE_VERSION, Profile
from dispatchgen.versioned import Format, with_digest


def read_profile(path: Path) -> Profile:
    """Reads and checks a profile.

    Raises ProfileError: it does not exist or cannot be read, is of another version, is no JSON, was edited or damaged.
    """
    return _FORMAT.read(path)


def looks_like_profile(path: Path) -> bool:
    """Whether a file starts as profiles do, of whatever version; it may be damaged."""
    try:
        with path.open("rb") as stream:
            return _HEAD.match(stream.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def write_profile(path: Path, profile: Profile) -> bool:
    """Writes a profile in one step, with its digest; leaves the file alone when it is the same already.

    Returns whether the file was written. Raises OutputError when it cannot be.
    """
    return write_if_changed(path, profile_text(profile))


def profile_text(profile: Profile) -> str:
    """The text of a profile. The digest that `profile` carries is not used: it is computed."""
    data = profile.model_dump(mode="json", exclude={"digest", "version", "model", "backend"}, exclude_defaults=True)
    head = {"version": profile.version, "model": profile.model, "backend": profile.backend, "digest": ""}
    return with_digest({**head, **data})


#: How the text of a profile starts.
_HEAD = re.compile(rb'\{\s*"version":\s*\d+,\s*"model":\s*"[^"]*",\s*"backend":')
_HEAD_BYTES = 4096


def _renew(path: Path) -> str:  # noqa: ARG001
    return "dispatchgen capture"


_FORMAT = Format("profile", PROFILE_VERSION, Profile, ProfileError, ProfileError, _renew)
