"""The Git repository that a suite is in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from dispatchgen.errors import ToolError
from dispatchgen.iree import process

_SECONDS = 60.0


class Revision(NamedTuple):
    """What of a repository is checked out."""

    commit: str | None  #: None: no repository, or none that Git reads for this user.
    dirty: bool | None  #: Whether files that Git tracks were edited and not committed.


def revision_of(folder: Path) -> Revision:
    """The revision of the repository that a folder is in; of its submodules only the commits count."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return Revision(None, None)
    edited = _git(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    return Revision(commit.strip(), None if edited is None else bool(edited))


def _git(folder: Path, *arguments: str) -> str | None:
    """What Git prints; None: it failed, or there is none."""
    # The index is left alone: whoever works in the repository may hold it.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        result = process.run(["git", *arguments], cwd=folder, env=environment, timeout=_SECONDS, check=False)
    except ToolError:
        return None
    return result.stdout if result.returncode == 0 else None
