"""Profiles are written and read; what is said of files that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatchgen.errors import ProfileError
from dispatchgen.profile.store import profile_text, read_profile, write_profile
from dispatchgen.versioned import with_digest
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


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ({"count": 0}, "dispatches.0.entries.0.count", "greater than or equal to 1"),
        ({"count": 1 << 63}, "dispatches.0.entries.0.count", f"less than or equal to {(1 << 63) - 1}"),
        ({"bindings": [-1]}, "dispatches.0.entries.0.bindings.0", "greater than or equal to 0"),
        ({"constants": [8, 1 << 32]}, "dispatches.0.entries.0.constants.1", f"less than {1 << 32}"),
        ({"workgroups": [8, 1, -1]}, "dispatches.0.entries.0.workgroups.2", "greater than or equal to 0"),
        ({"data": [None]}, "dispatches.0.entries.0", "1 data for 2 bindings"),
        ({"runs": []}, "runs", "at least 1 item"),
        ({"entries": 2}, "dispatches.0", "main_dispatch_2_matmul_Dx64_f32 has the same sizes twice"),
        ({"dispatches": 2}, None, "the dispatch main_dispatch_2_matmul_Dx64_f32 of main_dispatch_2 is there twice"),
    ],
)
def test_numbers_that_no_run_has(change: dict[str, object], key: str | None, message: str, tmp_path: Path) -> None:
    """Behind a digest that is right."""
    data = PROFILE.model_dump(mode="json")
    dispatch_ = data["dispatches"][0]
    for name, value in change.items():
        if name == "runs":
            data[name] = value
        elif name == "dispatches":
            data[name] = [dispatch_] * 2
        elif name == "entries":
            dispatch_[name] *= 2
        else:
            dispatch_["entries"][0][name] = value
    path = tmp_path / "m.json"
    path.write_text(with_digest(data))
    with pytest.raises(ProfileError, match=message) as caught:
        read_profile(path)
    (problem,) = caught.value.problems
    assert problem.place is not None and problem.place.key == key


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="there is no profile"):
        read_profile(tmp_path / "m.json")
