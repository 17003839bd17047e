"""The manifest `benchmarks.yaml`: reading it, checking it, and what it means (`suite`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dispatchgen.manifest.suite import Suite

#: The manifest's name where only a folder is given.
DEFAULT_MANIFEST = "benchmarks.yaml"


def load_suite(path: Path) -> Suite:
    """The suite that the manifest at `path` describes; a folder stands for `benchmarks.yaml` in it.

    Raises ManifestError with every problem that was found.
    """
    # Imported here: whoever needs only the types of `suite` does not pay for pydantic and yaml.
    from dispatchgen.manifest.load import load_suite as load

    return load(path)
