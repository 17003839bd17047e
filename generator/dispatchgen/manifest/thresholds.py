"""The manifest's `thresholds`: how much slower than a baseline benchmarks may get."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator

from dispatchgen.manifest.fields import Section, Text
from dispatchgen.manifest.quantities import parse_percent, stated


class ThresholdSection(Section):
    """How much slower than the baseline some benchmarks may get before a check fails."""

    benchmarks: Text = Field(
        description="Names of benchmarks, with `*` for any text, `?` for any character and `[...]` for one of some. "
        "Whole models are called `whole_model`."
    )
    model: Text | None = Field(default=None, description="Only of this model. Default: of any.")
    slower: Annotated[str, stated(parse_percent)] | None = Field(
        default=None, description="Up to this much slower is no failure: a percentage such as `5%`."
    )
    ignore: bool = Field(default=False, description="Whether no slowdown is a failure.")

    @model_validator(mode="after")
    def _check(self) -> ThresholdSection:
        if (self.slower is None) == (not self.ignore):
            raise ValueError("one of `slower` and `ignore: true` is needed here")
        return self

    @property
    def limit(self) -> float:
        """How much slower they may get, as a part of the baseline's time."""
        return math.inf if self.slower is None else parse_percent(self.slower)
