"""The results of a run as data: what `dispatchgen run --json` writes. Format version 2; all times are in seconds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dispatchgen.extract.schema import Data
from dispatchgen.results.environment_schema import Environment

#: Version of the format that this dispatchgen writes.
RESULTS_VERSION = 2


class Timing(Data):
    """How long one run of a function takes.

    The machine is now and then slower than it could be, never faster: of each round the fastest repetition counts. Of
    the rounds, which are processes of their own, the middle half counts: `seconds` is the interquartile mean of their
    logarithms.
    """

    seconds: float = Field(description="Wall-clock time of one run.")
    cpu_seconds: float = Field(description="CPU time of one run, of all threads of the process.")
    low: float | None = Field(
        default=None, description="Lower end of the 95 % confidence interval of `seconds`; null: too few rounds."
    )
    high: float | None = Field(default=None, description="Its upper end.")
    noise: float | None = Field(
        default=None,
        description="How much one round differs from another: standard deviation, robust, of the logarithms of the "
        "rounds' times. 0.02 is 2 %. Null: too few rounds.",
    )
    rounds: tuple[int, ...] = Field(description="Number of each round that measured it, from 0.")
    at: tuple[float, ...] = Field(description="When each of them started, in seconds since the run did.")
    fastest: tuple[float, ...] = Field(
        description="By round: the fastest of `real`. `seconds`, `low`, `high` and `noise` are made of them."
    )
    real: tuple[tuple[float, ...], ...] = Field(
        description="By round: wall-clock time of one run, in seconds, as each repetition measured it."
    )
    cpu: tuple[tuple[float, ...], ...] = Field(description="By round: the same in CPU time.")
    iterations: int = Field(description="Calls that were timed in each repetition of the last round.")
    batch_size: int = Field(default=1, description="Runs of a dispatch per call; times are per run all the same.")


class Settings(Data):
    """How the benchmarks were timed."""

    min_time: str | None = Field(description="`--benchmark_min_time=`; null: the benchmark library's own.")
    repetitions: int = Field(description="In each round.")
    batch_size: int | Literal["auto"] = Field(
        description="Runs of a dispatch per call of its benchmark function; `auto`: as many as make what the call "
        "itself costs small. Whole models are always called once at a time."
    )
    rounds: int = Field(default=1, description="Rounds that everything is measured in, unless the budget is spent.")
    precision: float | None = Field(
        default=None,
        description="A benchmark is measured in further rounds until the half of its confidence interval is this "
        "small, relative. Null: no further rounds.",
    )
    caches: Literal["warm", "cold", "both"] = Field(
        default="warm", description="What of dispatches was measured: `timing`, `cold` or both."
    )
    cold_memory: int | None = Field(
        default=None,
        description="Bytes that the buffers of a dispatch rotated over where it was measured cold. Null: it was not.",
    )


class DeviceUsed(Data):
    """The device of a run."""

    id: str = Field(description="Key of the device in the manifest.")
    uri: str = Field(description="Value of `--device=`.")
    run_flags: tuple[str, ...] = Field(description="Further flags of the programs that run on it.")


class Compiled(Data):
    """What compiling a module took, and what came out."""

    seconds: float | None = Field(
        description="How long the compiler ran, when the module was last compiled. Null: not known."
    )
    peak_bytes: int | None = Field(description="The most memory that it had. Null: not known.")
    size: int = Field(description="Bytes of the `.vmfb`.")
    sha256: str = Field(description="SHA-256 of the `.vmfb`.")


class DispatchResult(Data):
    """A dispatch at one workload, in one call of the model."""

    name: str = Field(description="Stable name of the dispatch.")
    benchmark: str = Field(description="Stable name of the benchmark: the dispatch at this workload.")
    operation: str = Field(description="Operation and types.")
    executable: str = Field(description="IREE's symbol of the executable.")
    variant: str = Field(description="IREE's symbol of the variant.")
    export: str = Field(description="IREE's symbol of the export.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable.")
    workload: tuple[int, ...] = Field(description="Workload operands of the dispatch, in order.")
    constants: tuple[tuple[str, int], ...] = Field(description="Push constants: type and unsigned value.")
    bindings: tuple[int, ...] = Field(description="Length of each binding, in bytes.")
    data: tuple[str, ...] = Field(default=(), description="In words, what each binding held; empty: zeros.")
    count: int | None = Field(
        description="How often it runs per call of the model (`initializers`: when the model is loaded). Null: how "
        "often cannot be told."
    )
    timing: Timing | None = Field(
        description="Null where it was not measured; then `failure` says why, unless it was to be measured cold alone."
    )
    total_seconds: float | None = Field(
        description="`timing.seconds` x `count`; of `cold` where `caches` of the settings is `cold`."
    )
    share: float | None = Field(
        description="`total_seconds` by the whole model's own time, or by `sum_seconds` where that was not measured."
    )
    failure: str | None = Field(default=None, description="Why it was not measured.")
    cold: Timing | None = Field(
        default=None,
        description="The same as `timing` where each run finds its buffers in no cache. Null: not measured.",
    )
    cold_failure: str | None = Field(default=None, description="Why it was not measured cold, if it was to be.")
    overhead_seconds: float | None = Field(
        default=None,
        description="What one call costs besides its runs: host time. Null: not measured, or too little to be told "
        "from noise.",
    )
    compiled: Compiled | None = Field(default=None, description="Null: there is no module.")
    function: str | None = Field(
        default=None,
        description="The function of the module that was called with `symbols` of the call; null: the one that "
        "`benchmark` names.",
    )


class SkippedDispatch(Data):
    """A dispatch that has no benchmark at this call, or whose count is not known."""

    executable: str = Field(description="IREE's symbol of the executable.")
    export: str = Field(description="IREE's symbol of the export.")
    operation: str = Field(description="Operation and types.")
    reason: str = Field(description="Why, for people.")


class WholeModel(Data):
    """The model itself, called with `inputs` of the call (zeros where they give no data)."""

    timing: Timing | None = Field(description="Null where it was not measured.")
    failure: str | None = Field(default=None, description="Why it was not measured.")
    compiled: Compiled | None = Field(default=None, description="Null: there is no module.")
    left_out: bool = Field(default=False, description="Whether it was not asked for, or another shard measures it.")


class Agreement(Data):
    """What a substitute computes beside what the compiler's own kernel does, on the same seeded data."""

    tolerance: float = Field(description="Largest difference that is no disagreement.")
    worst: float | None = Field(
        description="Largest difference of two elements; of floats by their size, as above. Null: no such number."
    )
    agrees: bool = Field(description="Whether no difference is above the tolerance.")
    failure: str | None = Field(default=None, description="How the outputs differ, or why that is not known.")
    note: str | None = Field(default=None, description="What makes the comparison say little.")


class SubstitutedDispatch(Data):
    """A substitute at one workload, beside the kernel that it replaces."""

    name: str = Field(description="Stable name of the dispatch.")
    benchmark: str = Field(description="Stable name of the benchmark: the dispatch at this workload.")
    operation: str = Field(description="Operation and types.")
    kind: str = Field(
        description="`source`, `configuration`, `object`, `kernel` (a source that a command builds) or `tuning_spec`."
    )
    file: str = Field(description="The substitute, relative to the suite's folder.")
    sha256: str | None = Field(
        description="SHA-256 of the substitute, of a `kernel` of its object, of a `tuning_spec` of the tuned program. "
        "Null: it was not built."
    )
    same: Literal["text", "code"] | None = Field(
        description="`text`: it is the compiler's own kernel, word for word. `code`: it compiles to the same bytes. "
        "Then it is not timed."
    )
    target_differences: tuple[str, ...] = Field(
        description="How the target differs that the substitute was made for, where the manifest allows that."
    )
    notes: tuple[str, ...] = Field(description="What else there is to know of it, such as that its dump is outdated.")
    count: int | None = Field(description="How often it runs, as `count` of the dispatch.")
    original: Timing | None = Field(description="`timing` of the compiler's own kernel.")
    timing: Timing | None = Field(description="`timing` of the substitute. It runs right after the original.")
    ratio: float | None = Field(description="Time of the substitute by that of the original: below 1, it is faster.")
    cold: Timing | None = Field(default=None, description="As `cold` of the dispatch.")
    cold_ratio: float | None = Field(default=None, description="As `ratio`, of both when cold.")
    cold_failure: str | None = Field(default=None, description="As `cold_failure` of the dispatch.")
    agreement: Agreement | None = Field(
        description="Null: the manifest asks for no check, or the substitute was not run."
    )
    failure: str | None = Field(description="Why it was not measured.")
    compiled: Compiled | None = Field(default=None, description="Null: there is no module.")


class SubstitutionResult(Data):
    """A substitution, or a combination of some, at one call of a model."""

    name: str = Field(description="Name in the manifest.")
    id: str = Field(description="Its id: the name with `_` for what is no letter, digit or `_`.")
    members: tuple[str, ...] = Field(description="Ids of the substitutions of a combination; empty: a substitution.")
    acting: tuple[str, ...] = Field(
        description="Ids of the substitutions that replace something that this call runs, or loading the model: of a "
        "combination, of its members. Empty: nothing is replaced, and the whole model is not run."
    )
    dispatches: tuple[SubstitutedDispatch, ...] = Field(
        description="What it replaces at this call; empty for a combination: its members have them."
    )
    whole_model: WholeModel = Field(description="The whole model with all that is replaced.")
    same: bool = Field(
        description="Whether the whole model is the compiler's own, byte for byte. Then it is not timed."
    )
    timed: bool = Field(
        default=True,
        description="Whether it replaces something that the call itself runs. If not, only loading the model takes "
        "another time, and there is no `ratio`.",
    )
    ratio: float | None = Field(description="Time of this whole model by that of the original.")


class OmittedSizes(Data):
    """Sizes of a dispatch that a profile holds and that have no benchmark, because others are more frequent."""

    name: str = Field(description="Stable name of the dispatch.")
    sizes: int = Field(description="How many sizes.")
    runs: int = Field(description="How often it ran with them.")
    covered: int = Field(description="How often it ran with the sizes that have a benchmark.")


class Coverage(Data):
    """How many of the dispatches that a call runs were measured."""

    dispatches: int = Field(description="That the call runs.")
    measured: int = Field(description="That have a time.")
    skipped: int = Field(description="That have no benchmark.")
    failed: int = Field(description="That could not be measured.")
    left_out: int = Field(default=0, description="Not asked for.")


class CallResult(Data):
    """One call of a model (an entry function at one shape) on one backend and device."""

    model: str = Field(description="Id of the model.")
    backend: str = Field(description="Id of the backend.")
    device: DeviceUsed = Field(description="`id` in the manifest, `uri` and `run_flags` of the device.")
    call: str = Field(description="`<shape>`, or `<function>__<shape>` where the model has several entry functions.")
    function: str = Field(description="The entry function; empty: sizes of a profile, for which no model is called.")
    shape: str = Field(description="Label of the shape.")
    symbols: dict[str, int] = Field(description="Value of each symbol in the input shapes.")
    inputs: tuple[str, ...] = Field(description="Values of `--input=` of the whole model.")
    fills: dict[int, str] = Field(
        default={}, description="In words, by number, what inputs hold of which `inputs` gives no values but zeros."
    )
    overrides: dict[str, int] = Field(
        default={},
        description="Sizes that only the device computes, as the manifest gives them. The whole model computes its "
        "own: its time is not compared with the dispatches'.",
    )
    settings: Settings = Field(
        description="`min_time` (null: the benchmark library's own), `repetitions`, `batch_size`."
    )
    dispatches: tuple[DispatchResult, ...] = Field(description="What runs at each call, the most expensive first.")
    initializers: tuple[DispatchResult, ...] = Field(
        description="What runs once when the model is loaded, for any call; not in the sum."
    )
    skipped: tuple[SkippedDispatch, ...] = Field(
        description="`executable`, `export`, `operation` and `reason` of each dispatch without a benchmark at this "
        "call."
    )
    uncounted: tuple[SkippedDispatch, ...] = Field(
        description="The same of each dispatch with a `count` of null; not in the sum."
    )
    omitted: tuple[OmittedSizes, ...] = Field(
        default=(),
        description="`name`, `sizes`, `runs`, `covered` of each dispatch of which `top` of a profile leaves sizes out.",
    )
    whole_model: WholeModel = Field(description="`timing` of the whole model, or null and `failure`.")
    sum_seconds: float | None = Field(
        description="Sum of `total_seconds` of `dispatches`; null where nothing was measured, or some were left out."
    )
    sum_by_model: float | None = Field(description="`sum_seconds` by the whole model's own time.")
    coverage: Coverage = Field(
        description="Numbers of `dispatches` that the call runs, and of those `measured`, `skipped`, `failed`, "
        "`left_out` (with `--substitution`, those that it does not replace)."
    )
    substitutions: tuple[SubstitutionResult, ...] = Field(
        default=(), description="Substitutions and combinations of the model, in the order of the manifest."
    )


Cause = Literal["absent-device", "compile-only", "build-failed"]


class NotRun(Data):
    """A model on a backend and, unless null, a device, of which nothing was run."""

    model: str = Field(description="Id of the model.")
    backend: str = Field(description="Id of the backend.")
    device: DeviceUsed | None = Field(description="Null: none of its devices.")
    cause: Cause = Field(
        description="`absent-device`, `compile-only` (the manifest names no device) or `build-failed`."
    )
    reason: str = Field(description="Why, for people.")
    notes: tuple[str, ...] = Field(
        default=(),
        description="What the build tells of its substitutions: which are the compiler's own code, and what else it "
        "noted.",
    )


class BuildFailure(Data):
    """A step of the build that failed."""

    step: str = Field(
        description="`lock`, `import`, `configure`, `extract`, `compile`; of a substitution also `object`, "
        "`substitute`, `substitute-model`, `compile-check`; or what the build was doing."
    )
    model: str | None = Field(description="Id of the model.")
    backend: str | None = Field(description="Id of the backend; null: all of the model's.")
    dispatch: str | None = Field(description="Stable name; null with `compile`: the whole model.")
    substitution: str | None = Field(default=None, description="Id of the substitution or combination.")
    reason: str = Field(description="Why, for people: the first errors of the command.")


class BuildStep(Data):
    """A step of the build that came out."""

    step: str = Field(description="As in `build_failures`.")
    model: str = Field(description="Id of the model.")
    backend: str | None = Field(description="Id of the backend; null: all of the model's.")
    dispatch: str | None = Field(description="Stable name; null with `compile`: the whole model.")
    substitution: str | None = Field(default=None, description="Id of the substitution or combination.")
    seconds: float | None = Field(description="How long it ran when it last did. Null: not known.")
    peak_bytes: int | None = Field(description="The most memory that its processes had. Null: not known.")


class Shard(Data):
    """A part of a suite."""

    index: int = Field(description="From 1.")
    count: int = Field(description="How many parts there are.")


class Measuring(Data):
    """How the run went."""

    budget_seconds: float | None = Field(default=None, description="Null: none.")
    spent_seconds: float = Field(default=0.0, description="What was spent on measuring, in all of its parts.")
    rounds: int = Field(default=0, description="Rounds that were begun.")
    shard: Shard | None = Field(default=None, description="The part that was measured. Null: all.")
    merged: int = Field(default=1, description="Of how many result files this is made.")
    runs: tuple[str, ...] = Field(default=(), description="Ids of the runs that were merged; empty: this is one.")
    shards: tuple[Shard, ...] = Field(default=(), description="Those that were merged; empty: there were none.")


class Results(Data):
    """The whole file."""

    version: int = Field(default=RESULTS_VERSION, description="Version of this format.")
    id: str = Field(description="Of this run: random.")
    session: str = Field(
        description="Of what was measured at once: results with the same were taken in turns, round by round."
    )
    started: str = Field(description="When the first benchmark started, ISO 8601, UTC.")
    finished: str | None = Field(description="When the last ended. Null: the run was interrupted.")
    environment: Environment = Field(description="Where and with what it was measured.")
    measuring: Measuring = Field(default=Measuring(), description="How the run went.")
    buffers: str = Field(default="zeros", description="What buffers held where `data` of a dispatch is empty.")
    calls: tuple[CallResult, ...] = Field(description="What was run.")
    not_run: tuple[NotRun, ...] = Field(default=(), description="What was not run at all.")
    build_failures: tuple[BuildFailure, ...] = Field(default=(), description="Steps of the build that failed.")
    build: tuple[BuildStep, ...] = Field(default=(), description="Steps of the build that came out.")
