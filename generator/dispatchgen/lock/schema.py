"""The lock file `locks/<model>.json`: which dispatches a model has, on each backend, at each shape.

Format version 1. The same `BackendLock` is what extraction writes beside the benchmark modules as `index.json`.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

#: Version of the file format that this dispatchgen writes and reads.
LOCK_VERSION = 1

#: What stands for a call in `Benchmark.counts` and `Skipped.calls` for what runs once, when the module is loaded.
INITIALIZER = "initializer"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Benchmark(_Data):
    """One dispatch at one workload: a function of the dispatch's benchmark module."""

    name: str = Field(description="The function's name, `[A-Za-z0-9_]+`.")
    workload: tuple[int, ...] = Field(description="Workload operands of the dispatch, in order.")
    constants: tuple[tuple[str, int], ...] = Field(description="Push constants: type and unsigned value.")
    bindings: tuple[int, ...] = Field(description="Length of each binding, in bytes.")
    counts: dict[str, int] = Field(
        description="How often it runs per call of the model, by call name (`<shape>`, or `<function>__<shape>` where "
        "the model has several entry functions), or `initializer` for what runs once when the module is loaded."
    )


class Dispatch(_Data):
    """One export of one executable."""

    name: str = Field(description="Stable name, `[A-Za-z0-9_]+`.")
    operation: str = Field(description="Operation and types, from IREE's export symbol.")
    executable: str = Field(description="IREE's symbol of the executable.")
    variant: str = Field(description="IREE's symbol of the variant.")
    export: str = Field(description="IREE's symbol of the export.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable.")
    written: tuple[bool, ...] = Field(description="Which bindings the dispatch may write.")
    benchmarks: tuple[Benchmark, ...]


class Skipped(_Data):
    """A dispatch that cannot be benchmarked, at some calls or at all of them."""

    export: str = Field(description="IREE's symbol of the export.")
    operation: str
    calls: tuple[str, ...] = Field(description="Names of the calls it is skipped at.")
    reason: str


class Call(_Data):
    """One call of the whole model: an entry function at one shape."""

    name: str = Field(description="`<shape>`, or `<function>__<shape>` where the model has several entry functions.")
    function: str = Field(description="The function to call, as `iree-benchmark-module --function=` takes it.")
    shape: str = Field(description="Label of the shape.")
    symbols: dict[str, int]
    inputs: tuple[str, ...] = Field(description="Values of `--input=`, in order.")


class BackendLock(_Data):
    """What a model dispatches on one backend."""

    backend: str = Field(description="Id of the backend.")
    dispatches: tuple[Dispatch, ...]
    skipped: tuple[Skipped, ...] = ()


class MadeFrom(_Data):
    """What the lock was made from: when one of these differs from today's, the lock is stale."""

    source: str = Field(description="SHA-256 of the source file.")
    settings: dict[str, str] = Field(description="SHA-256 of what the manifest says of the model, per backend.")
    compiler: str = Field(description="Version text of iree-compile.")


class Lock(_Data):
    """The whole lock file."""

    version: int = LOCK_VERSION
    model: str = Field(description="Id of the model.")
    made_from: MadeFrom
    calls: tuple[Call, ...] = Field(
        description="Every call of the model that is benchmarked: each function at each shape."
    )
    backends: dict[str, BackendLock] = Field(description="By id of the backend.")
    digest: str = Field(default="", description="SHA-256 of all the rest: shows that the file was edited by hand.")
