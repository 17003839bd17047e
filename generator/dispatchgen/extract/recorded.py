"""Sizes that were recorded, as extraction takes them: for each dispatch of the program, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dispatchgen.extract.schema import Omitted, Skipped
from dispatchgen.extract.sizes import Sizes


@dataclass(frozen=True)
class Recorded:
    """What a profile holds of a program; keys are executable and export."""

    counts: Mapping[tuple[str, str], Mapping[Sizes, int]] = field(default_factory=dict)  #: How often, per sizes.
    omitted: Mapping[tuple[str, str], Omitted] = field(default_factory=dict)  #: Less frequent sizes, left out.
    unusable: Mapping[tuple[str, str], str] = field(default_factory=dict)  #: Why there are no sizes.
    missing: tuple[Skipped, ...] = ()  #: Dispatches that the program does not have.
