"""The sections of the manifest that say what buffers hold. Locks write fills in the same way."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import Field, PlainValidator, Tag, WithJsonSchema, model_validator

from dispatchgen.manifest.fields import Section, Text, by_kind, require
from dispatchgen.manifest.fills import BindingFill, DataSettings, File, Fill, Random, Recorded, Splat, Zeros
from dispatchgen.manifest.names import show

#: Fills that are a word.
WORDS: dict[str, Fill] = {"zeros": Zeros(), "random": Random(), "recorded": Recorded()}


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{show(str(value))} is not a number")
    if not -(2**63) <= value < 2**64 and isinstance(value, int):
        raise ValueError(f"{value} does not fit 64 bits")
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    return value


Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]


def _word_problem(text: str) -> str | None:
    return None if text in WORDS else f"{show(text)} is none of {', '.join(WORDS)}"


def _ordinal_problem(text: str) -> str | None:
    return None if re.fullmatch(r"0|[1-9][0-9]{0,3}", text) else f"{show(text)} is no ordinal of a binding: 0, 1, 2..."


class FillSection(Section):
    """Seeded random numbers, or the contents of a file."""

    random: list[Number] | None = Field(
        default=None,
        description="The smallest and the largest of random numbers; floats are below the largest. Default: floats "
        "from -1 to 1, small integers; positions in bounds, where a kernel uses the elements as such.",
        json_schema_extra={"minItems": 2, "maxItems": 2},
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] | None = Field(
        default=None, description="Of random numbers: equal seeds give equal numbers. Default: 0."
    )
    file: Text | None = Field(
        default=None,
        description="A NumPy file (`.npy`), a path relative to the manifest. Its element type and shape are those of "
        "what it fills.",
    )

    @property
    def fill(self) -> Fill:
        """What the section means."""
        if self.file is not None:
            return File(self.file)
        low, high = self.random or (None, None)
        return Random(low, high, self.seed or 0)

    @model_validator(mode="after")
    def _check(self) -> FillSection:
        is_random = self.random is not None or self.seed is not None
        if (self.file is not None) == is_random:
            raise ValueError("either `file`, or `random` and `seed`, of which one is enough")
        if self.random is not None and len(self.random) != 2:
            raise ValueError(f"{len(self.random)} numbers; a range has two, the smallest and the largest")
        if self.random is not None and self.random[0] > self.random[1]:
            raise ValueError(
                f"the range [{self.random[0]}, {self.random[1]}] is empty: the smallest number comes first"
            )
        return self


FillItem = Annotated[
    Annotated[Number, Tag("number")]
    | Annotated[Annotated[str, require(_word_problem)], Tag("text")]
    | Annotated[FillSection, Tag("mapping")],
    by_kind(
        number="a number",
        text="`zeros`, `random` or `recorded`",
        mapping="a mapping with `random`, `seed` or `file`",
    ),
]


def fill_of(item: int | float | str | FillSection) -> Fill:
    """What a fill of the manifest means."""
    if isinstance(item, FillSection):
        return item.fill
    return WORDS[item] if isinstance(item, str) else Splat(item)


def item_of(fill: Fill) -> int | float | str | FillSection:
    """The fill of a manifest that means this."""
    if isinstance(fill, Splat):
        return fill.value
    if isinstance(fill, File):
        return FillSection(file=fill.path)
    if isinstance(fill, Random) and fill != Random():
        limits = None if fill.low is None or fill.high is None else [fill.low, fill.high]
        return FillSection(random=limits, seed=fill.seed or (None if limits else 0))
    return next(word for word, meaning in WORDS.items() if meaning == fill)


def is_in_file(fill: Fill | None) -> bool:
    """Whether an input of a whole model that holds this is given as a file."""
    return isinstance(fill, Random | File)


class DataSection(Section):
    """What the buffers of a model's dispatches hold; without it, zeros.

    What the inputs of the model hold is what the bindings that read them hold.
    """

    default: FillItem = Field(
        default="zeros", description="What bindings hold that are only read, where nothing else says it."
    )
    bindings: dict[Text, dict[Annotated[str, require(_ordinal_problem)], FillItem]] = Field(
        default={},
        description="What single bindings hold: by dispatch (its stable name, its operation, or a pattern with `*`, "
        "`?` and `[...]`), then by ordinal, counted from 0. Of several that name one binding the last counts.",
    )

    @property
    def settings(self) -> DataSettings:
        """What the section means."""
        bindings = (
            BindingFill(dispatch, int(ordinal), fill_of(item))
            for dispatch, items in self.bindings.items()
            for ordinal, item in items.items()
        )
        return DataSettings(fill_of(self.default), tuple(bindings))


def section_of(settings: DataSettings) -> DataSection:
    """The section that means this."""
    bindings: dict[str, dict[str, FillItem]] = {}
    for each in settings.bindings:
        bindings.setdefault(each.dispatch, {})[str(each.binding)] = item_of(each.fill)
    return DataSection(default=item_of(settings.default), bindings=bindings)
