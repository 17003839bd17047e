"""Files that manifests refer to: of their folder, and those that installed Python packages ship."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dispatchgen.manifest.sources import SourceProblem, checked_suite_path, package_folders


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package `zoo`; its folder `data`, which has no code, is a package as well."""
    folder = tmp_path / "zoo"
    (folder / "data" / "small").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.mark.parametrize("below", ["", "data", "data.small"])
def test_packages_are_found_without_running_their_code(zoo: Path, below: str) -> None:
    name = ".".join(["zoo", *below.split(".")]) if below else "zoo"
    assert package_folders(name) == (zoo.joinpath(*below.split(".")) if below else zoo,)
    assert "zoo" not in sys.modules


def test_a_namespace_has_several_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = tuple(tmp_path / site / "spread" / "data" for site in "ab")
    for folder in folders:
        folder.mkdir(parents=True)
    for folder in reversed(folders):
        monkeypatch.syspath_prepend(folder.parent.parent)
    assert package_folders("spread.data") == folders


@pytest.mark.parametrize("name", ["nowhere", "zoo.nowhere", "zoo.data.nowhere.below", "os.path", ""])
@pytest.mark.usefixtures("zoo")
def test_what_is_no_package_has_no_folder(name: str) -> None:
    assert package_folders(name) == ()


def test_a_drive_of_windows_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "a:b.mlir").touch()
    with pytest.raises(SourceProblem) as caught:
        checked_suite_path("./a:b.mlir", tmp_path, allow_outside=False)
    assert caught.value.message == "the path `./a:b.mlir` begins with `a:`, a drive on Windows"
    assert caught.value.hint == "another name"
    assert checked_suite_path("./a:b.mlir", tmp_path, allow_outside=True) == "a:b.mlir"


def test_a_link_that_leads_to_no_file_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").symlink_to("gone.mlir")
    with pytest.raises(SourceProblem) as caught:
        checked_suite_path("m.mlir", tmp_path, allow_outside=False)
    assert caught.value.message == "`m.mlir` is a link to a file that does not exist"
    assert caught.value.hint is None
