"""Compile flags: their order, and that a module does not depend on the folder in which it is compiled."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import support
from dispatchgen.iree.flags import compile_flags, import_flags, target_flags
from dispatchgen.manifest.suite import Backend, Model, Source

CPU = Backend("cpu", "cpu", "local", "llvm-cpu", compile_flags=("--iree-llvmcpu-target-cpu=generic",))
BACKENDS = [
    CPU,
    Backend("vmvx", "vmvx", "local", "vmvx"),
    Backend("vulkan", "vulkan", "vulkan"),
    Backend("cuda", "cuda", "cuda", compile_flags=("--iree-cuda-target=sm_80",)),
    Backend("hip", "hip", "hip", compile_flags=("--iree-rocm-target=gfx942",)),
    Backend("metal", "metal", "metal"),
]


def model(**fields: object) -> Model:
    return Model("m", "m", Source("m.mlir", "mlir"), **fields)  # type: ignore[arg-type]


def test_the_target_is_spelled_as_iree_does_today() -> None:
    assert target_flags(CPU) == ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
    assert target_flags(Backend("v", "v", "vulkan")) == ("--iree-hal-target-device=vulkan",)


def test_ours_then_the_backends_then_the_models() -> None:
    flags = compile_flags(model(compile_flags={"cpu": ("--iree-opt-level=O3",), "other": ("--no",)}), CPU)
    assert flags[-2:] == ("--iree-llvmcpu-target-cpu=generic", "--iree-opt-level=O3")
    assert "--no" not in flags


def test_bindings_are_isolated_unless_the_model_wants_them_fused() -> None:
    assert "--iree-scheduling-optimize-bindings=false" in compile_flags(model(), CPU)
    assert not any("optimize-bindings" in flag for flag in compile_flags(model(bindings="fused"), CPU))


def test_the_importer_raises_old_opsets_unless_told_otherwise() -> None:
    assert import_flags(model()) == ("--opset-version=17",)
    assert import_flags(model(import_flags=("--opset-version=19",)))[-1] == "--opset-version=19"
    assert import_flags(model(import_flags=("--large-model",))) == ("--large-model",)


def test_iree_compile_takes_the_last_of_two_flags(
    iree_tools: support.IreeTools, models_dir: Path, tmp_path: Path
) -> None:
    """What the order of the flags relies on."""

    def configured(*flags: str) -> str:
        output = tmp_path / "out.mlir"
        command: list[str | Path] = [iree_tools.compile, models_dir / "mlp.mlir", "-o", output]
        command += ["--compile-to=executable-configurations", *target_flags(CPU), *flags]
        subprocess.run(command, check=True, capture_output=True)
        return output.read_text()

    first, last = "--iree-llvmcpu-target-cpu=generic", "--iree-llvmcpu-target-cpu=znver4"
    assert configured(first, last) == configured(last) != configured(first)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.id)
def test_a_module_is_the_same_from_any_folder(
    backend: Backend, iree_tools: support.IreeTools, models_dir: Path, tmp_path: Path
) -> None:
    """Compiled in two folders, from a relative path as the build does, and from an absolute one."""
    flags = compile_flags(model(), backend)
    modules, absolute = [], []
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        folder.mkdir(parents=True)
        shutil.copy(models_dir / "mlp.mlir", folder)
        to = ["--compile-to=executable-configurations", "mlp.mlir", "-o", "configured.mlir"]
        subprocess.run([iree_tools.compile, *flags, *to], cwd=folder, check=True, capture_output=True)
        for source, output in (("configured.mlir", "relative"), (folder / "configured.mlir", "absolute")):
            end: list[str | Path] = ["--compile-from=executable-configurations", source, "-o", output]
            subprocess.run([iree_tools.compile, *flags, *end], cwd=folder, check=True, capture_output=True)
        modules.append((folder / "relative").read_bytes())
        absolute.append((folder / "absolute").read_bytes())
    assert modules[0] == modules[1]
    assert (absolute[0] == absolute[1]) == (backend.target_device == "local"), "a relative path is needed for GPUs only"
