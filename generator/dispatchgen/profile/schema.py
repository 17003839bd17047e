"""The profile file: with which sizes the dispatches of a model ran, and how often, in runs that were recorded."""

from __future__ import annotations

from pydantic import Field

from dispatchgen.extract.schema import Data

#: Version of the file format that this dispatchgen writes and reads.
PROFILE_VERSION = 1


class Entry(Data):
    """Sizes that a dispatch ran with."""

    count: int = Field(description="How often, in all runs.")
    workload: tuple[int, ...] = Field(description="Workload operands, computed from the push constants.")
    constants: tuple[int, ...] = Field(description="Push constants, as unsigned i32.")
    bindings: tuple[int, ...] = Field(description="Length of each binding, in bytes.")
    workgroups: tuple[int, int, int] | None = Field(
        default=None, description="Workgroup count; null: the device read it from a buffer."
    )
    data: tuple[str | None, ...] = Field(
        default=(),
        description="What each binding held when the sizes were first seen: SHA-256 of its bytes, their key in "
        "`<profile>.irpa` (`mlp.json.irpa`); null: it was computed on the device. Empty: it was not kept.",
    )


class ProfiledDispatch(Data):
    """A dispatch that ran."""

    executable: str = Field(description="IREE's symbol of the executable.")
    export: str = Field(description="IREE's symbol of the export.")
    operation: str = Field(description="Operation and types, from IREE's export symbol.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable, as locks have it.")
    entries: tuple[Entry, ...] = Field(description="The most frequent sizes first.")


class Run(Data):
    """A run that was recorded."""

    what: str = Field(description="The call, or the name of the recording.")
    dispatches: int = Field(description="How many dispatches of the model ran.")


class Profile(Data):
    """The whole file."""

    version: int = PROFILE_VERSION
    model: str = Field(description="Id of the model.")
    backend: str = Field(description="Id of the backend.")
    source: str = Field(description="SHA-256 of the model's source file.")
    flags: tuple[str, ...] = Field(description="Flags of the importer and the compiler.")
    compiler: str = Field(description="Version text of iree-compile.")
    runs: tuple[Run, ...]
    dispatches: tuple[ProfiledDispatch, ...] = Field(description="In the order of the program.")
    digest: str = Field(default="", description="SHA-256 of all the rest: shows that the file was edited or damaged.")
