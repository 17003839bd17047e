"""The revision of the repository that a suite is in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dispatchgen.results.repository import Revision, revision_of
from support import run_program

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit."""
    folder = tmp_path / "repository"
    (folder / "suite").mkdir(parents=True)
    (folder / "suite" / "benchmarks.yaml").write_text("version: 1\n")
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _commit(folder)
    return folder


def _git(folder: Path, *arguments: str) -> str:
    return run_program(["git", "-C", str(folder), *arguments]).stdout.strip()


def _commit(folder: Path) -> None:
    _git(folder, "-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit", "-q", "-m", "one")


def test_commit(repository: Path) -> None:
    head = _git(repository, "rev-parse", "HEAD")
    assert revision_of(repository / "suite") == Revision(head, dirty=False)


def test_edited_files_are_dirty_and_new_ones_are_not(repository: Path) -> None:
    (repository / "suite" / "results.json").write_text("{}")
    assert revision_of(repository / "suite").dirty is False
    (repository / "suite" / "benchmarks.yaml").write_text("version: 2\n")
    assert revision_of(repository / "suite").dirty is True


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision_of(tmp_path) == Revision(None, None)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    assert revision_of(tmp_path) == Revision(None, None)


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert revision_of(repository) == Revision(None, None)
