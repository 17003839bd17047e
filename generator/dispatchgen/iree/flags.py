"""Which flags IREE's programs are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dispatchgen.manifest.suite import Backend, Model

#: Lowest ONNX opset that IREE's import covers well; the importer converts older models, and leaves newer ones alone.
_OPSET_FLAG = "--opset-version=17"
#: How the flags start, without dashes, that programs which run benchmarks have and iree-run-module does not.
_BENCHMARK_FLAGS = ("benchmark_", "batch_", "time_unit")


def target_flags(backend: Backend) -> tuple[str, ...]:
    """The flags that choose a backend's target device."""
    flags = [f"--iree-hal-target-device={backend.target_device}"]
    if backend.local_backend is not None:
        flags.append(f"--iree-hal-local-target-device-backends={backend.local_backend}")
    return tuple(flags)


def compile_flags(model: Model, backend: Backend) -> tuple[str, ...]:
    """All flags of iree-compile for a model on a backend but input, output and phase.

    The same flags serve the whole model and each of its dispatches, so that both are compiled alike. iree-compile takes
    the last of two flags of one name: ours come first, then the backend's, then the model's.
    """
    flags = list(target_flags(backend))
    if model.bindings == "isolated":
        # Each binding starts at offset 0 of a buffer of its own. Otherwise offsets into a pool that all dispatches
        # share are baked into the device code, and a change of one layer changes the dispatches of all others.
        flags.append("--iree-scheduling-optimize-bindings=false")
    flags += _path_independence(backend)
    flags += _portability(backend)
    flags += backend.compile_flags
    flags += model.compile_flags.get(backend.id, ())
    return tuple(flags)


def import_flags(model: Model) -> tuple[str, ...]:
    """All flags of the importer but input and output."""
    # The importer cannot convert the opset of a model whose weights it does not load.
    defaults = () if "--large-model" in model.import_flags else (_OPSET_FLAG,)
    return (*defaults, *model.import_flags)


def run_module_flags(run_flags: Iterable[str]) -> list[str]:
    """Those of a device's flags that iree-run-module knows too."""
    return [flag for flag in run_flags if not flag.lstrip("-").startswith(_BENCHMARK_FLAGS)]


def parameter_values(model: Model, root: Path) -> Iterator[str]:
    """Values of `--parameters=`, from `[scope=]path` (split at the first `=`), paths relative to the suite's folder."""
    for parameter in model.parameters:
        scope, separator, path = parameter.partition("=") if "=" in parameter else ("", "", parameter)
        yield f"{scope}{separator}{(root / path).absolute()}"


def _path_independence(backend: Backend) -> list[str]:
    """Flags that keep the folder of the input out of the output: the same input gives the same bytes everywhere.

    They are not enough on GPUs: the export table of an executable names the source file as iree-compile was given it,
    and no flag leaves it out. Give the file relative to the working folder.
    """
    flags = ["--iree-vm-bytecode-module-strip-source-map=true"]
    if backend.local_backend == "llvm-cpu":
        flags.append("--iree-llvmcpu-debug-symbols=false")
    return flags


def _portability(backend: Backend) -> list[str]:
    """Flags without which a backend compiles on some machines only."""
    if backend.target_device == "metal":
        # Apple's compiler runs on macOS alone; without it the runtime compiles the Metal source, as good everywhere.
        return ["--iree-metal-compile-to-metallib=false"]
    return []
