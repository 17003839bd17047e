"""A suite with all that a manifest can say, and its locks, for tests of the build files."""

from __future__ import annotations

from pathlib import Path

from dispatchgen.extract.schema import BackendDispatches, Call, Dispatch
from dispatchgen.lock.schema import Lock, MadeFrom
from dispatchgen.manifest.suite import (
    Backend,
    Combination,
    Device,
    Model,
    Preset,
    RunSettings,
    Selector,
    Source,
    Substitution,
    Suite,
)

HOST = Backend(
    *("Host CPU", "host", "local", "llvm-cpu", ("--iree-llvmcpu-target-cpu=generic",)),
    devices=(Device("sync", "local-sync", ("--x=$y",), ("z", "a")), Device("task", "local-task")),
    labels=("cpu",),
)
GPU = Backend("gpu", "gpu", "vulkan")
#: A kernel with all that a substitution can say.
KERNEL = Substitution(
    *("by hand", "by_hand", "object", "k/a.c"),
    selectors=(Selector("z_2"),),
    backends=("host",),
    command=("clang", "-De={entry}", "{source}", "-o", "{output}"),
    inputs=("k/b.h", "k/a.h"),
    entry="my_kernel",
    workgroups="(w0) -> (w0, 1, 1)",
    other_target=True,
    tolerance=1e-05,
)
SHADER = Substitution("shader", "shader", "object", "k=1.spv", selectors=(Selector("a_1"),), backends=("gpu",))
TUNED = Substitution(
    "a tuned", "a_tuned", "tuning_spec", "spec.mlir", selectors=(Selector("a_?"),), backends=("host", "gpu")
)
FOLDER = Substitution(
    "folder", "folder", "directory", "f", {"host": ("f/a_1.o", "f/configured_z_2.mlir")}, (), ("host",)
)
MODEL_A = Model(
    *("Model A", "model_a", Source("a.mlir", "mlir")),
    parameters=("scope=weights.irpa",),
    backends=("host", "gpu"),
    compile_flags={"gpu": ("--of-a",)},
    flag_files={"host": ("spec.mlir", "x y.mlir")},
    labels=("large", "cpu"),
    run=RunSettings(min_time="0.5s", repetitions=3, batch_size=10),
    substitutions=(SHADER, KERNEL, TUNED, FOLDER),
    combinations=(Combination("both", "both", ("by_hand", "a_tuned"), ("host",)),),
)
MODEL_B = Model(
    *("b", "b", Source("test data/b.onnx", "onnx", package="pkg.sub"), ("--opset-version=19",)),
    backends=("gpu",),
)
SUITE = Suite(
    Path("somewhere/benchmarks.yaml"),
    (HOST, GPU),
    (MODEL_B, MODEL_A),
    (Preset("night ly", "night_ly", labels=("large",)),),
)


def lock_of(model: str, *backends: str) -> Lock:
    """A lock of two dispatches and two calls."""
    calls = tuple(Call(name=name, function="main", shape=name, symbols={}, inputs=()) for name in ("B8", "B1"))
    locks = {
        name: BackendDispatches(backend=name, dispatches=(_dispatch("z_2"), _dispatch("a_1"))) for name in backends
    }
    return Lock(
        model=model, made_from=MadeFrom(source="", settings={}, compiler=""), entry=None, calls=calls, backends=locks
    )


def _dispatch(name: str) -> Dispatch:
    return Dispatch(
        name=name, operation=name, executable=name, variant="v", export="x", content="", written=(), benchmarks=()
    )


def lock_with_data(model: str, *backends: str) -> Lock:
    """The same with data in files, and the sizes of a profile."""
    lock = lock_of(model, *backends)
    call = lock.calls[0].model_copy(update={"inputs": ("4xi64=@B8.input0.bin",), "files": ("B8.input0.bin",)})
    seen = Call(name="seen", function="", shape="seen", symbols={}, inputs=(), profile="seen.json")
    found = {name: each.model_copy(update={"dispatches": _with_archives(each)}) for name, each in lock.backends.items()}
    changes = {"files": ("d/x.npy", "seen.json"), "calls": (call, *lock.calls[1:], seen), "backends": found}
    return lock.model_copy(update=changes)


def _with_archives(found: BackendDispatches) -> tuple[Dispatch, ...]:
    return tuple(each.model_copy(update={"archive": each.name == "z_2"}) for each in found.dispatches)


LOCKS = {"model_a": lock_with_data("model_a", "host", "gpu"), "b": lock_of("b", "gpu")}
