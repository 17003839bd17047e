"""Profiles are written and read; what is said of files that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.profile.store import profile_text, read_profile, write_profile
from profiled import dispatch, entry, profile

PROFILE = profile(dispatch(2, entry(8, 5)), dispatch(10, entry(1, 1)))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "profiles" / "m.json"
    assert write_profile(path, PROFILE)
    assert not write_profile(path, read_profile(path)), "the digest is not part of the content"
    assert read_profile(path).model_copy(update={"digest": ""}) == PROFILE


def newer(text: str) -> str:
    return text.replace('"version": 1', '"version": 2')


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"count": 5', '"count": 6'), "the profile was edited by hand"),
        (lambda text: text[: len(text) // 2], "the profile is not JSON"),
        (lambda text: text.replace('"count": 5', '"count": "many"'), "edited by hand"),
        (lambda _: "{}", "this is not a profile: it states no version"),
        (newer, "the profile was written by a newer dispatchgen"),
    ],
)
def test_a_damaged_profile(change: Callable[[str], str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(change(profile_text(PROFILE)))
    with pytest.raises(ProfileError, match=message) as caught:
        read_profile(path)
    assert str(path) in str(caught.value)


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="there is no profile"):
        read_profile(tmp_path / "m.json")
