"""Where the rules that users load are: in the package in a wheel, at the repository's top in an editable install."""

from __future__ import annotations

from pathlib import Path


def genrules_dir() -> Path:
    """The folder `genrules/`, which holds `cmake/` and `bazel/`."""
    package = Path(__file__).resolve().parent
    installed = package / "genrules"
    return installed if installed.is_dir() else package.parent.parent / "genrules"
