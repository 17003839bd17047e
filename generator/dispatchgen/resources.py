"""Where the rules that users load are: in the package in a wheel, at the repository's top in an editable install."""

from __future__ import annotations

from pathlib import Path


def genrules_dir() -> Path:
    """The folder `genrules/`, which holds `cmake/` and `bazel/`."""
    # Not resolved: where the package is a tree of links, as in a sandbox, the links are all that may be read.
    installed = Path(__file__).absolute().parent / "genrules"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "genrules"
