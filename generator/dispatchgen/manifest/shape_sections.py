"""The sections of the manifest that say which sizes a model is benchmarked with."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from dispatchgen.manifest.fields import NotEmpty, Section, Text, by_kind, require
from dispatchgen.manifest.inputs import MAX_SIZE
from dispatchgen.manifest.size_range import parse_range, range_problem

#: Most shapes that are chosen for a model.
MAX_CHOSEN_SHAPES = 1000

Size = Annotated[int, Field(ge=0, le=MAX_SIZE)]
SizeOrSizes = Annotated[
    Annotated[Size, Tag("number")] | Annotated[NotEmpty[Size], Tag("list")],
    by_kind(number="a size", list="a list of sizes"),
]
SizeOrRange = Annotated[
    Annotated[int, Field(ge=1, le=MAX_SIZE), Tag("number")] | Annotated[str, require(range_problem), Tag("text")],
    by_kind(number="a size", text="a range of sizes (1..64)"),
]


class ShapeSection(Section):
    """Sizes for the symbols of a model. Every key other than `label` and `zip` is a symbol.

    `{B: 1}` is one shape. `{B: [1, 8], S: [128, 512]}` is a product, four shapes. `{zip: {B: [1, 8], S: [128, 512]}}`
    takes the sizes side by side, two shapes.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "additionalProperties": {
                "description": "A size, or a list of sizes (a product with the other lists).",
                "oneOf": [
                    {"type": "integer", "minimum": 0},
                    {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
                ],
            },
            "propertyNames": {"not": {"enum": ["auto", "from"]}},
        },
    )
    __pydantic_extra__: dict[str, SizeOrSizes]

    label: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Name of a single shape, used in the names of benchmarks. Default: symbols and sizes, "
        "e.g. `B8_S128`.",
    )
    zip: dict[str, NotEmpty[Size]] | None = Field(
        default=None, description="Lists of sizes of the same length, taken side by side."
    )

    @property
    def sizes(self) -> dict[str, int | list[int]]:
        """The sizes by symbol, without those under `zip`."""
        return self.__pydantic_extra__


class AutoSection(Section):
    """Shapes that are chosen from the ranges that the program states. Every key other than `auto` is a symbol.

    `auto` alone, in place of the mapping, is the same without fixed sizes and with the default limit.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "additionalProperties": {
                "description": "A size that is fixed, or a range (`1..64`, `16..512:+16`), within what the program "
                "states. Symbols whose range the program does not state need one.",
                "oneOf": [
                    {"type": "integer", "minimum": 1},
                    {"type": "string", "pattern": r"^ *\d+ *\.\. *\d+ *(: *\+ *\d+ *)?$"},
                ],
            }
        },
    )
    __pydantic_extra__: dict[str, SizeOrRange]

    auto: Annotated[int, Field(ge=1, le=MAX_CHOSEN_SHAPES)] = Field(description="How many shapes at most.")

    @property
    def sizes(self) -> dict[str, int]:
        """The fixed sizes by symbol."""
        return {symbol: size for symbol, size in self.__pydantic_extra__.items() if isinstance(size, int)}

    @property
    def ranges(self) -> dict[str, range]:
        """The ranges by symbol."""
        return {symbol: parse_range(text) for symbol, text in self.__pydantic_extra__.items() if isinstance(text, str)}


class ProfileSection(Section):
    """Sizes that dispatches had in recorded runs, from a profile that `dispatchgen capture` wrote."""

    from_: Text = Field(alias="from", description="The profile, a path relative to the manifest.")
    top: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The most frequent sizes of each dispatch only, so many. Default: all."
    )
    label: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Stands for a shape in the names of benchmarks. Default: the file's name without its end.",
    )


# Tags are no names of keys: `problems.data_path` tells them from these.
_AUTO, _SIZES, _CHOSEN, _PROFILE, _LIST = (
    "shapes:auto",
    "shapes:sizes",
    "shapes:chosen",
    "shapes:profile",
    "shapes:list",
)


def _form(value: object) -> str | None:
    """Which form of `shapes`, or of an item of their list, a value has."""
    if isinstance(value, str):
        return _AUTO
    if isinstance(value, list):
        return _LIST
    if isinstance(value, AutoSection) or (isinstance(value, dict) and "auto" in value):
        return _CHOSEN
    if isinstance(value, ProfileSection) or (isinstance(value, dict) and "from" in value):
        return _PROFILE
    return _SIZES if isinstance(value, dict | BaseModel) else None


def _form_of_item(value: object) -> str | None:
    form = _form(value)
    return None if form == _LIST else form


ShapesItem = Annotated[
    Annotated[Literal["auto"], Tag(_AUTO)]
    | Annotated[ShapeSection, Tag(_SIZES)]
    | Annotated[AutoSection, Tag(_CHOSEN)]
    | Annotated[ProfileSection, Tag(_PROFILE)],
    Discriminator(
        _form_of_item,
        custom_error_type="kind",
        custom_error_message="`auto`, a mapping from symbols to sizes or one with `auto` or `from`",
    ),
]
Shapes = Annotated[
    Annotated[Literal["auto"], Tag(_AUTO)]
    | Annotated[NotEmpty[ShapesItem], Tag(_LIST)]
    | Annotated[ShapeSection, Tag(_SIZES)]
    | Annotated[AutoSection, Tag(_CHOSEN)]
    | Annotated[ProfileSection, Tag(_PROFILE)],
    Discriminator(
        _form,
        custom_error_type="kind",
        custom_error_message="`auto`, a mapping from symbols to sizes, one with `auto` or `from`, or a list of these",
    ),
]
