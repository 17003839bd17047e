"""Files that are given twice count once, or it is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dispatchgen.cli.capture import command as capture_command
from dispatchgen.cli.merge_profiles import command as merge_command
from dispatchgen.errors import OutputError, ProfileError
from dispatchgen.profile.given import notes_of_equal
from dispatchgen.profile.store import read_profile, write_profile
from profiled import dispatch, entry, profile


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A profile, its copy, and another."""
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for path, count in zip(paths, (1, 1, 2), strict=True):
        write_profile(path, profile(dispatch(0, entry(4, count))))
    return paths


def merge(*arguments: object) -> str:
    command = [str(argument) for argument in arguments]
    return CliRunner().invoke(merge_command, command, catch_exceptions=False, standalone_mode=False).stderr


def test_a_profile_is_given_once(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("a.json")
    with pytest.raises(ProfileError, match=r"would count twice: it is .*a\.json"):
        merge(files[0], files[2], tmp_path / "link.json", "-o", tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


def test_equal_runs_add_up_and_are_told(files: list[Path], tmp_path: Path) -> None:
    stderr = merge(*files, "-o", tmp_path / "m.json")
    assert f"note: {files[1]} has the same content as {files[0]}: both count" in stderr
    assert [each.count for each in read_profile(tmp_path / "m.json").dispatches[0].entries] == [4]
    assert not list(notes_of_equal([files[0], files[2]]))


def test_a_recording_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "benchmarks.yaml").write_text(
        "version: 1\nbackends: {cpu: {target_device: local, local_backend: vmvx}}\nmodels: {m: {source: m.mlir}}\n"
    )
    (tmp_path / "m.mlir").touch()
    recording = tmp_path / "r.ireereplay"
    recording.touch()
    command = ["m", "--manifest", str(tmp_path), "-o", str(tmp_path / "p.json"), *[f"--recording={recording}"] * 2]
    with pytest.raises(ProfileError, match="would count twice"):
        CliRunner().invoke(capture_command, command, catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize("output", ["", ".", "..", "/"])
def test_a_folder_is_no_place_for_a_profile(output: str, files: list[Path]) -> None:
    with pytest.raises(OutputError, match="there is a folder of this name"):
        merge(files[0], "-o", output)
