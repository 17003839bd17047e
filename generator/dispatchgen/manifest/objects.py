"""Kinds of object files: which backends take them, and the commands that build them."""

from __future__ import annotations

from dispatchgen.manifest.suite import Backend

#: What generates code -> ends of the names of object files that it takes; commands write the first.
OBJECT_SUFFIXES = {"llvm-cpu": (".o", ".obj"), "vulkan": (".spv",), "cuda": (".ptx",), "hip": (".hsaco",)}

#: End of the name of a kernel's source -> what generates code for it, and the command that builds the object.
DEFAULT_COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    # No calls into a C library: IREE links executables without one.
    ".c": (
        "llvm-cpu",
        (
            *("cc", "-O3", "-ffreestanding", "-fPIC", "-fno-stack-protector", "-fvisibility=hidden"),
            *("-c", "{source}", "-o", "{output}"),
        ),
    ),
    ".comp": ("vulkan", ("glslangValidator", "-V", "--target-env", "vulkan1.1", "{source}", "-o", "{output}")),
    # A name that does not tell the stage.
    ".glsl": (
        "vulkan",
        ("glslangValidator", "-V", "--target-env", "vulkan1.1", "-S", "comp", "{source}", "-o", "{output}"),
    ),
    ".cu": ("cuda", ("nvcc", "--ptx", "{source}", "-o", "{output}")),
}

#: Ends of the names of files with executables as MLIR.
MLIR_SUFFIXES = (".mlir", ".mlirbc")


def code_generator(backend: Backend) -> str | None:
    """What generates code for a backend, as the key of OBJECT_SUFFIXES; None where it takes no objects."""
    name = backend.local_backend if backend.target_device == "local" else backend.target_device
    return name if name in OBJECT_SUFFIXES else None


def object_suffix(backend: Backend) -> str:
    """End of the names of objects that commands write for a backend that takes objects, without the dot."""
    generator = code_generator(backend)
    assert generator is not None
    return OBJECT_SUFFIXES[generator][0][1:]


def generator_of_object(suffix: str) -> str | None:
    """What takes object files of that end; None where they are none."""
    return next((name for name, suffixes in OBJECT_SUFFIXES.items() if suffix in suffixes), None)
