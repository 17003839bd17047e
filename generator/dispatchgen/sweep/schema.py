"""A sweep as data: what `dispatchgen sweep --json` writes. Format version 2; all times are in seconds."""

from __future__ import annotations

from pydantic import Field

from dispatchgen.extract.schema import Data
from dispatchgen.results.environment_schema import Host
from dispatchgen.results.schema import DeviceUsed, Settings, Timing

#: Version of the format that this dispatchgen writes.
SWEEP_VERSION = 2


class Point(Data):
    """A dispatch at one size."""

    symbols: dict[str, int] = Field(description="Value of each symbol in the input shapes.")
    call: str = Field(description="The first call that runs it: `<shape>`, or `<function>__<shape>`; or `initializer`.")
    variant: int = Field(
        description="0, or the ordinal among the sizes where the model runs the dispatch with several at one point."
    )
    count: int | None = Field(
        description="How often the call runs it with these sizes. Null: how often cannot be told."
    )
    workload: tuple[int, ...] = Field(description="Workload operands of the dispatch, in order.")
    constants: tuple[tuple[str, int], ...] = Field(description="Push constants: type and unsigned value.")
    bindings: tuple[int, ...] = Field(description="Length of each binding, in bytes.")
    data: tuple[str, ...] = Field(description="What each binding held.")
    workgroups: tuple[int, int, int] | None = Field(
        description="Workgroups in x, y and z, by evaluation and by the runtime. Null: they differ, or are not known."
    )
    timing: Timing | None = Field(
        description="Null where it was not measured: `failure` says why, or there are no `workgroups` to run."
    )
    bytes_per_second: float | None = Field(
        description="Sum of `bindings` by `timing.seconds`: whole buffers, also where a gather reads some rows of one."
    )
    failure: str | None = Field(default=None, description="Why it was not measured.")

    @property
    def bytes(self) -> int:
        """Length of all bindings."""
        return sum(self.bindings)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to run: no workgroups in some direction."""
        return self.workgroups is not None and 0 in self.workgroups


class LeftOut(Data):
    """A point at which nothing was run."""

    symbols: dict[str, int] = Field(description="Value of each symbol in the input shapes.")
    reason: str


class Curve(Data):
    """A dispatch at all points."""

    dispatch: str = Field(description="Stable name of the dispatch.")
    operation: str = Field(description="Operation and types.")
    executable: str = Field(description="IREE's symbol of the executable.")
    variant: str = Field(description="IREE's symbol of the variant.")
    export: str = Field(description="IREE's symbol of the export.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable.")
    points: tuple[Point, ...] = Field(description="In the order of the dims; each pair of sizes is measured once.")
    left_out: tuple[LeftOut, ...] = Field(
        description="Points at which the model does not run it, or with unknown sizes."
    )
    failure: str | None = Field(default=None, description="Why nothing of it could be run.")


class Sweep(Data):
    """The whole file."""

    version: int = Field(default=SWEEP_VERSION, description="Version of this format.")
    dispatchgen: str = Field(description="Version of dispatchgen.")
    compiler: str = Field(description="Version text of iree-compile.")
    runtime: str | None = Field(
        description="Version of the wheel that iree-benchmark-executable is from; null: not from a wheel."
    )
    started: str = Field(description="When the first benchmark started, ISO 8601, UTC.")
    host: Host | None = Field(description="Null where nothing was measured.")
    model: str = Field(description="Id of the model.")
    backend: str = Field(description="Id of the backend.")
    device: DeviceUsed
    settings: Settings
    dims: dict[str, tuple[int, ...]] = Field(description="The symbols that were swept, and their sizes.")
    fixed: dict[str, int] = Field(description="The other symbols of the model, of its first shape.")
    curves: tuple[Curve, ...]
    rejected: tuple[LeftOut, ...] = Field(description="Points that the program itself rejects.")
