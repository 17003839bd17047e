"""Where the rules that users load are: in the package in a wheel, at the repository's top in an editable install."""

from __future__ import annotations

from pathlib import Path


def genrules_dir() -> Path:
    """The folder `genrules/`, which holds `cmake/` and `bazel/`."""
    # Not resolved first: where the package is reached through links, as in a sandbox, they are all that may be read.
    tops = [folder for file in (Path(__file__).absolute(), Path(__file__).resolve()) for folder in file.parents[0:3:2]]
    return next((top / "genrules" for top in tops if (top / "genrules").is_dir()), tops[-1] / "genrules")
