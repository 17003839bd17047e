"""What extraction finds: dispatches, their benchmarks, what is skipped and why; and the calls that it evaluates.

Locks are made of these types, and so is `index.json`, which the build's extraction step writes beside the modules.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dispatchgen.manifest.data_sections import FillItem
from dispatchgen.manifest.shape_sections import Size

#: What stands for a call in `Benchmark.counts` and `Skipped.calls` for what runs once, when the module is loaded.
INITIALIZER = "initializer"
#: How often something runs: at least once.
Count = Annotated[Size, Field(ge=1)]


class Data(BaseModel):
    """Base of all data in these formats."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Benchmark(Data):
    """One dispatch at one workload: a function of the dispatch's benchmark module."""

    name: str = Field(description="The function's name, `[A-Za-z0-9_]+`.")
    workload: tuple[Size, ...] = Field(description="Workload operands of the dispatch, in order.")
    constants: tuple[tuple[str, int], ...] = Field(description="Push constants: type and unsigned value.")
    bindings: tuple[Size, ...] = Field(description="Length of each binding, in bytes.")
    counts: dict[str, Count | None] = Field(
        description="How often it runs per call of the model, by call name (`<shape>`, or `<function>__<shape>` where "
        "the model has several entry functions), or `initializer` for what runs once when the module is loaded. Null: "
        "it runs, but how often cannot be told; `uncounted` says why."
    )
    data: tuple[str, ...] = Field(default=(), description="In words, what each binding holds; empty: zeros.")
    cold: str | None = Field(
        default=None,
        description="The function that runs it with its buffers in no cache, `[A-Za-z0-9_]+`; null: there is none.",
    )


class Parameterized(Data):
    """A function of a dispatch's benchmark module that takes sizes of the model, and runs the dispatch with them."""

    name: str = Field(description="The function's name, `[A-Za-z0-9_]+`.")
    function: str = Field(description="The entry function whose arithmetic it has.")
    symbols: tuple[str, ...] = Field(description="The symbols whose sizes it takes, in order, after the batch size.")
    data: tuple[str, ...] = Field(default=(), description="In words, what each binding holds; empty: zeros.")


class Omitted(Data):
    """Sizes of a dispatch that a profile holds and that have no benchmark: there are more frequent ones."""

    sizes: Count = Field(description="How many sizes.")
    runs: Count = Field(description="How often the dispatch ran with them.")


class Dispatch(Data):
    """One export of one executable."""

    name: str = Field(description="Stable name, `[A-Za-z0-9_]+`.")
    operation: str = Field(description="Operation and types, from IREE's export symbol.")
    executable: str = Field(description="IREE's symbol of the executable.")
    variant: str = Field(description="IREE's symbol of the variant.")
    export: str = Field(description="IREE's symbol of the export.")
    content: str = Field(description="SHA-256 of the executable with its symbols made stable.")
    written: tuple[bool, ...] = Field(description="Which bindings the dispatch may write.")
    archive: bool = Field(
        default=False, description="Whether data lies beside its benchmark module, in `<dispatch>.irpa`."
    )
    omitted: dict[str, Omitted] = Field(
        default={}, description="What `top` of a profile leaves out, by the name of the profile's call."
    )
    benchmarks: tuple[Benchmark, ...]
    parameterized: tuple[Parameterized, ...] = Field(default=(), description="Functions that take sizes.")
    unparameterized: str | None = Field(
        default=None, description="Why there are places that dispatch it with sizes that no such function computes."
    )

    @property
    def functions(self) -> list[str]:
        """The benchmark functions of its module: warm ones, then cold ones."""
        cold = [benchmark.cold for benchmark in self.benchmarks if benchmark.cold is not None]
        return [*(benchmark.name for benchmark in self.benchmarks), *cold]

    def covered(self, call: str) -> int:
        """How often it runs in a call with the sizes that have a benchmark, as far as that is known."""
        return sum(benchmark.counts.get(call) or 0 for benchmark in self.benchmarks)


class Skipped(Data):
    """What is not known of a dispatch at some calls, or at all of them."""

    executable: str = Field(description="IREE's symbol of the executable.")
    export: str = Field(description="IREE's symbol of the export.")
    operation: str
    calls: tuple[str, ...] = Field(description="Names of the calls.")
    reason: str


class Call(Data):
    """One call of the whole model: an entry function at one shape."""

    name: str = Field(description="`<shape>`, or `<function>__<shape>` where the model has several entry functions.")
    function: str = Field(description="The function to call, as `iree-benchmark-module --function=` takes it.")
    shape: str = Field(description="Label of the shape.")
    symbols: dict[str, int]
    inputs: tuple[str, ...] = Field(description="Values of `--input=`, in order.")
    overrides: dict[str, int] = Field(
        default={}, description="Sizes that only the device computes, by the name of what computes them."
    )
    fills: dict[int, FillItem] = Field(
        default={},
        description="What inputs hold, by their number, where that is no values: as the manifest has it.",
    )
    files: tuple[str, ...] = Field(
        default=(),
        description="Names of the files that `inputs` hold as `@<name>`: the build's extraction step writes them "
        "beside the flag file.",
    )

    symbolic: tuple[str, ...] = Field(
        default=(), description="`inputs` with the symbols of their sizes, e.g. `Bx64xf32`; empty: they have none."
    )
    profile: str | None = Field(
        default=None, description="The profile whose sizes this stands for, relative to the suite's folder."
    )

    @property
    def is_run(self) -> bool:
        """Whether the whole model is called: not for sizes that a profile holds, which belong to no one call."""
        return self.function != ""


class BackendDispatches(Data):
    """What a model dispatches on one backend."""

    backend: str = Field(description="Id of the backend.")
    dispatches: tuple[Dispatch, ...]
    skipped: tuple[Skipped, ...] = Field(default=(), description="What has no benchmark, with the reason.")
    uncounted: tuple[Skipped, ...] = Field(
        default=(), description="What has benchmarks, but runs an unknown number of times, with the reason."
    )

    def has(self, call: Call) -> bool:
        """Whether a call is one of this backend: a profile is of one backend alone."""
        return (
            call.is_run
            or any(call.name in benchmark.counts for dispatch in self.dispatches for benchmark in dispatch.benchmarks)
            or any(call.name in skip.calls for skip in self.skipped)
        )
