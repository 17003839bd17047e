"""What is recorded of a substitute: `<dispatch>.json` beside its benchmark module."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dispatchgen.extract.schema import Data

#: Version of the format.
SUBSTITUTED_VERSION = 1

#: What a substitute is made from: `tuning_spec` is the whole program, configured with a tuning spec.
Kind = Literal["source", "configuration", "object", "tuning_spec"]


class Substituted(Data):
    """One dispatch and what stands in its place."""

    version: int = Field(default=SUBSTITUTED_VERSION, description="Version of this format.")
    substitution: str = Field(description="Id of the substitution.")
    dispatch: str = Field(description="Stable name of the dispatch.")
    kind: Kind
    file: str = Field(description="The substitute's file: as the manifest names it, where that is known.")
    sha256: str = Field(description="SHA-256 of what was read: where that file is a kernel's source, of its object.")
    same: bool = Field(description="Whether the executable is the compiler's own, word for word.")
    entry: str | None = Field(default=None, description="Entry point of the object; null: there is no object.")
    target_differences: tuple[str, ...] = Field(
        default=(), description="How the target differs that the substitute was made for, where that is allowed."
    )
    notes: tuple[str, ...] = Field(default=(), description="What else there is to know of the substitute, a line each.")
    executable: str = Field(description="IREE's symbol of the executable; empty where `skipped`.")
    export: str = Field(description="IREE's symbol of the export; empty where `skipped`.")
    skipped: str | None = Field(
        default=None, description="Why nothing is substituted: the dispatch is gone, and drift is allowed."
    )
