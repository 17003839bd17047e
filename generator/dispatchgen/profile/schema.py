"""The profile file: with which sizes the dispatches of a model ran, and how often, in runs that were recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Annotated, TypeVar

from pydantic import Field, model_validator

from dispatchgen.extract.schema import Count, Data
from dispatchgen.manifest.shape_sections import Size

#: Version of the file format that this dispatchgen writes and reads.
PROFILE_VERSION = 1

_T = TypeVar("_T", bound=Hashable)
_PushConstant = Annotated[int, Field(ge=0, lt=1 << 32)]


class Entry(Data):
    """Sizes that a dispatch ran with."""

    count: Count = Field(description="How often, in all runs.")
    workload: tuple[Size, ...] = Field(description="Workload operands, computed from the push constants.")
    constants: tuple[_PushConstant, ...] = Field(description="Push constants, as unsigned i32.")
    bindings: tuple[Size, ...] = Field(description="Length of each binding, in bytes.")
    workgroups: tuple[Size, Size, Size] | None = Field(
        default=None, description="Workgroup count; null: the device read it from a buffer."
    )
    data: tuple[str | None, ...] = Field(
        default=(),
        description="What each binding held when the sizes were first seen: SHA-256 of its bytes, their key in "
        "`<profile>.irpa` (`mlp.json.irpa`); null: it was computed on the device. Empty: it was not kept.",
    )

    @model_validator(mode="after")
    def _check_data(self) -> Entry:
        if len(self.data) not in (0, len(self.bindings)):
            raise ValueError(f"{len(self.data)} data for {len(self.bindings)} bindings")
        return self

    @property
    def sizes(self) -> tuple[Hashable, ...]:
        """What tells sizes apart."""
        return self.workload, self.constants, self.bindings


class ProfiledDispatch(Data):
    """A dispatch that ran."""

    executable: str = Field(description="IREE's symbol of the executable.")
    export: str = Field(description="IREE's symbol of the export.")
    operation: str = Field(description="Operation and types, from IREE's export symbol.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable, as locks have it.")
    entries: tuple[Entry, ...] = Field(description="The most frequent sizes first.")

    @model_validator(mode="after")
    def _check_entries(self) -> ProfiledDispatch:
        if _repeated(entry.sizes for entry in self.entries):
            raise ValueError(f"the dispatch {self.export} has the same sizes twice")
        return self


class Run(Data):
    """A run that was recorded."""

    what: str = Field(description="The call, or the name of the recording.")
    dispatches: Size = Field(description="How many dispatches of the model ran.")


class Profile(Data):
    """The whole file."""

    version: int = PROFILE_VERSION
    model: str = Field(description="Id of the model.")
    backend: str = Field(description="Id of the backend.")
    source: str = Field(description="SHA-256 of the model's source file.")
    flags: tuple[str, ...] = Field(description="Flags of the importer and the compiler.")
    compiler: str = Field(description="Version text of iree-compile.")
    runs: Annotated[tuple[Run, ...], Field(min_length=1)]
    dispatches: tuple[ProfiledDispatch, ...] = Field(description="In the order of the program.")
    digest: str = Field(default="", description="SHA-256 of all the rest: shows that the file was edited or damaged.")

    @model_validator(mode="after")
    def _check_dispatches(self) -> Profile:
        for executable, export in _repeated((each.executable, each.export) for each in self.dispatches):
            raise ValueError(f"the dispatch {export} of {executable} is there twice")
        return self


def _repeated(values: Iterable[_T]) -> list[_T]:
    return [value for value, count in Counter(values).items() if count > 1]
