"""The file of a baseline: `baselines/<name>/<machine>.json` beside the manifest. One row per line; times in seconds."""

from __future__ import annotations

from typing import Any

import msgspec

from dispatchgen.results.lean import Count, Key, Noise, Seconds

#: Version of the file format that this dispatchgen writes and reads.
BASELINE_VERSION = 1


class Source(msgspec.Struct, frozen=True):
    """A result that rows are from."""

    id: str  #: Of the run.
    started: str  #: ISO 8601, UTC.
    software: dict[str, object]  #: A `results.environment_schema.Software`.


class Call(msgspec.Struct, frozen=True):
    """What rows of one call have in common."""

    model: str
    backend: str
    device: str
    call: str
    uri: str  #: Value of `--device=`.
    run_flags: tuple[str, ...]
    function: str  #: The entry function; empty: no model is called.
    shape: str
    symbols: dict[str, Count]
    overrides: dict[str, Count]
    settings: dict[str, object]  #: A `results.schema.Settings`.
    #: Ids of the runs that measured all dispatches of it: what is not among their rows, they did not run.
    whole: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The first parts of a row's key."""
        return self.model, self.backend, self.device, self.call


class BaselineRow(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A benchmark of the baseline; what is empty or null is left out of the file."""

    model: str
    backend: str
    device: str
    call: str
    kind: str  #: `dispatch`, `initializer` or `model`.
    benchmark: str = ""  #: Of a whole model: empty.
    variant: str = ""  #: Id of a substitution or combination.
    caches: str = "warm"
    seconds: Seconds  #: One run; six significant digits, as all times here.
    cpu_seconds: Seconds
    noise: Noise | None = None  #: Standard deviation of the logarithm of `seconds` from run to run; null: not known.
    rounds: tuple[Seconds, ...]  #: By round: the fastest repetition, in the order in which they were measured.
    results: tuple[str, ...]  #: Ids of the runs that measured it.
    count: Count | None = None
    name: str = ""  #: Stable name of the dispatch; what follows is empty for a whole model.
    operation: str = ""
    content: str = ""  #: SHA-256 of the executable with its symbols made stable.
    workload: tuple[Count, ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    bindings: tuple[Count, ...] = ()
    data: tuple[str, ...] = ()  #: In words, what the bindings held; empty: zeros.
    size: Count | None = None  #: Bytes of the `.vmfb`.
    sha256: str | None = None  #: Of the `.vmfb`.

    @property
    def key(self) -> Key:
        """What the row is known by in results."""
        return Key(
            self.model,
            self.backend,
            self.device,
            self.call,
            self.kind,
            self.benchmark,
            self.variant,
            self.caches,
        )


class Baseline(msgspec.Struct, frozen=True):
    """The whole file. Rows are sorted by their keys, and no two have the same."""

    version: int
    machine: dict[str, Any]  #: A `results.environment_schema.Machine`.
    results: tuple[Source, ...]  #: What rows are from, in the order of time.
    calls: tuple[Call, ...]
    rows: tuple[BaselineRow, ...]
