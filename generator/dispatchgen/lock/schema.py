"""The lock file `locks/<model>.json`: which dispatches a model has, on each backend, at each shape."""

from __future__ import annotations

from pydantic import Field

from dispatchgen.extract.schema import BackendDispatches, Call, Data
from dispatchgen.manifest.data_sections import DataSection

#: Version of the file format that this dispatchgen writes and reads.
LOCK_VERSION = 1


class MadeFrom(Data):
    """What the lock was made from: when one of these differs from today's, the lock is stale."""

    source: str = Field(description="SHA-256 of the source file.")
    settings: dict[str, str] = Field(description="SHA-256 of what the manifest says of the model, per backend.")
    compiler: str = Field(description="Version text of iree-compile.")
    profiles: dict[str, str] = Field(
        default={}, description="SHA-256 of each profile that `shapes` names, by its path there."
    )
    flag_files: dict[str, str] = Field(
        default={}, description="SHA-256 of each file of the suite that compile flags name, by its path there."
    )


class Lock(Data):
    """The whole lock file."""

    version: int = LOCK_VERSION
    model: str = Field(description="Id of the model.")
    made_from: MadeFrom
    entry: str | None = Field(
        description="The entry function that the manifest names; null: every public function that dispatches is one."
    )
    files: tuple[str, ...] = Field(
        default=(),
        description="Files that the build's extraction step reads besides, sorted: of data, and profiles. Paths are "
        "relative to the suite's folder.",
    )
    data: DataSection = Field(default=DataSection(), description="What bindings hold, as the manifest says it.")
    cold_memory: int | None = Field(
        default=None, description="Bytes that the buffers of cold benchmarks rotate over. Null: there are none."
    )
    calls: tuple[Call, ...] = Field(
        description="Every call of the model that is benchmarked: each function at each shape."
    )
    backends: dict[str, BackendDispatches] = Field(description="By id of the backend.")
    digest: str = Field(default="", description="SHA-256 of all the rest: shows that the file was edited by hand.")

    @property
    def is_called(self) -> bool:
        """Whether the whole model is called: if not, it is not compiled."""
        return any(call.is_run for call in self.calls)
