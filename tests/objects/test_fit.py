"""Whether objects fit a dispatch: a product of two vectors, with three bindings and four constants."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import support
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.objects.fit import ObjectFit, fit_object
from dispatchgen.objects.linked import LinkedObject, duplicate_symbols
from dispatchgen.objects.model import EntryPoint, ObjectFile
from dispatchgen.objects.read import read_object
from kernels import PRODUCT_C, PRODUCT_GLSL, compile_c, compile_glsl
from substituted import TARGETS

_GOLDEN = support.REPOSITORY / "tests" / "golden" / "substitute" / "dispatches"


@functools.cache
def original(target: str) -> Executable:
    """The executable of the product on a target."""
    if target == "hip":  # the same but for the target
        info = '#iree_gpu.target<arch = "gfx942", features = "", wgp = <compute = fp32, storage = b32>>'
        keys = (("backend", "rocm"), ("format", "rocm-hsaco-fb"), ("iree_codegen.target_info", info))
        return replace(original("cuda"), target_keys=keys)
    with ir.read_module(_GOLDEN / target / "elementwise_D_f32.mlir") as module:
        (executable,) = read_executables(module)
        return executable


def with_target(executable: Executable, **keys: str) -> Executable:
    return replace(executable, target_keys=tuple({**dict(executable.target_keys), **keys}.items()))


_OBJECTS = {
    "llvm-cpu": ObjectFile(
        Path("k.o"), b"", "elf", "x86_64", "relocatable", (EntryPoint("multiply"),), defined=("multiply",)
    ),
    "vulkan": ObjectFile(
        Path("k.spv"),
        b"",
        "spirv",
        "v1.3",
        "module",
        (EntryPoint("main", execution_model="GLCompute", workgroup_size=(64, 1, 1)),),
        descriptors=((0, 0), (0, 1), (0, 2)),
        push_constant_bytes=16,
    ),
    "cuda": ObjectFile(Path("k.ptx"), b"", "ptx", "sm_80", "module", (EntryPoint("multiply", parameters=7),)),
    "hip": ObjectFile(Path("k.hsaco"), b"", "hsaco", "gfx942", "shared", (EntryPoint("multiply", parameter_bytes=40),)),
}


def problems(target: str, changes: dict[str, Any], entry: str | None = None) -> list[str]:
    found = fit_object(original(target), replace(_OBJECTS[target], **changes), entry)
    assert isinstance(found, list), found
    assert all(problem.place is not None and problem.place.file is not None for problem in found)
    return [f"{problem.message} | {problem.hint}" for problem in found]


@pytest.mark.parametrize("target", sorted(_OBJECTS))
def test_what_fits(target: str) -> None:
    found = fit_object(original(target), _OBJECTS[target], None)
    assert found == ObjectFit(_OBJECTS[target].entry_points[0], ())


def test_what_compilers_write_fits(tmp_path: Path) -> None:
    for target, path in ("llvm-cpu", compile_c(tmp_path, PRODUCT_C)), ("vulkan", compile_glsl(tmp_path, PRODUCT_GLSL)):
        assert isinstance(fit_object(original(target), read_object(path), None), ObjectFit)


@pytest.mark.parametrize("target", sorted(_OBJECTS))
def test_a_format_for_another_backend(target: str) -> None:
    for other, object_file in _OBJECTS.items():
        if other != target:
            found = fit_object(original(target), object_file, None)
            assert isinstance(found, list)
            assert "expected an object in " in found[0].message
            assert object_file.architecture in found[0].message


def test_backends_without_objects() -> None:
    found = fit_object(with_target(original("cuda"), backend="metal-spirv"), _OBJECTS["vulkan"], None)
    assert isinstance(found, list)
    assert found[0].message == "kernels of the backend metal-spirv cannot be replaced by objects"
    found = fit_object(with_target(original("llvm-cpu"), format="system-dll-x86_64"), _OBJECTS["llvm-cpu"], None)
    assert isinstance(found, list)
    assert "system-dll-x86_64" in found[0].message


@pytest.mark.parametrize(("flag", "found"), [("i386-linux-gnu", "i386"), ("aarch64-linux-gnu", "aarch64")])
def test_an_object_for_another_cpu(flag: str, found: str, tmp_path: Path) -> None:
    path = compile_c(tmp_path, PRODUCT_C, f"--target={flag}", "-ffreestanding", compiler="clang")
    (problem, *_) = fit_problems(original("llvm-cpu"), path)
    assert problem.startswith(f"expected an object for x86_64, found one for {found} | ")
    assert "--target=x86_64-unknown-unknown-eabi-elf" in problem


def fit_problems(executable: Executable, path: Path) -> list[str]:
    found = fit_object(executable, read_object(path), None)
    assert isinstance(found, list)
    return [f"{problem.message} | {problem.hint}" for problem in found]


@pytest.mark.parametrize(
    ("triple", "architecture"),
    [
        ("aarch64-none-elf", "aarch64"),
        ("arm64-apple-macosx", "aarch64"),
        ("armv7a-none-eabi", "arm"),
        ("thumbv7m-none-eabi", "arm"),
        ("i686-linux-gnu", "i386"),
        ("riscv32-unknown-elf", "riscv32"),
        ("amd64-unknown-elf", "x86_64"),
    ],
)
def test_names_of_architectures(triple: str, architecture: str) -> None:
    executable = with_target(original("llvm-cpu"), target_triple=f'"{triple}"')
    object_file = replace(_OBJECTS["llvm-cpu"], architecture=architecture)
    assert isinstance(fit_object(executable, object_file, None), ObjectFit)


def test_entry_points() -> None:
    two = {"entry_points": (EntryPoint("multiply"), EntryPoint("helper"))}
    assert problems("llvm-cpu", two) == [
        "the object defines 2 entry points, and `entry` does not say which: `multiply`, `helper` | entry: multiply"
    ]
    assert problems("llvm-cpu", two, "mutliply") == [
        "there is no entry point `mutliply` in the object; it defines `multiply`, `helper` | `multiply`"
    ]
    assert problems("llvm-cpu", {"entry_points": ()}) == [
        "expected an entry point; the object defines none | define it without `static`"
    ]
    found = fit_object(original("llvm-cpu"), replace(_OBJECTS["llvm-cpu"], **two), "helper")  # type: ignore[arg-type]
    assert isinstance(found, ObjectFit)
    assert found.entry.name == "helper"


@pytest.mark.parametrize(
    ("target", "changes", "message"),
    [
        ("llvm-cpu", {"kind": "shared"}, "expected a relocatable object, found a shared one | compile with -c"),
        (
            "llvm-cpu",
            {"undefined": ("expf", "memset")},
            "the object needs `expf`, `memset`; executables are linked without any library | "
            "compile with -fno-tree-loop-distribute-patterns, or define them in the kernel's source",
        ),
        (
            "llvm-cpu",
            {"unsupported": ("thread-local variables",), "undefined": ("__tls_get_addr",)},
            "the object has thread-local variables; executables cannot have that",
        ),
        ("hip", {"kind": "relocatable"}, "expected a linked code object, found a relocatable one"),
        ("vulkan", {"big_endian": True}, "expected SPIR-V in little-endian byte order, found big-endian"),
        (
            "vulkan",
            {"entry_points": (EntryPoint("main", execution_model="Fragment"),)},
            "expected a compute shader; the execution model of `main` is Fragment",
        ),
        (
            "vulkan",
            {"descriptors": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0))},
            "expected bindings 0 to 2 of set 0; the shader has set 0, binding 3; set 1, binding 0",
        ),
        ("vulkan", {"descriptors": ((0, 0), (0, 1))}, "the dispatch writes binding 2 of set 0; the shader does not"),
        ("vulkan", {"push_constant_bytes": 20}, "the dispatch passes 16 bytes of constants; the push constants of"),
        (
            "cuda",
            {"entry_points": (EntryPoint("multiply", parameters=6),)},
            "the dispatch passes 3 bindings and 4 constants; `multiply` has 6 parameters",
        ),
        (
            "hip",
            {"entry_points": (EntryPoint("multiply", parameter_bytes=36),)},
            "the dispatch passes 3 bindings and 4 constants, 40 bytes; `multiply` takes 36 bytes",
        ),
    ],
)
def test_what_does_not_fit(target: str, changes: dict[str, Any], message: str) -> None:
    (problem,) = problems(target, changes)
    assert problem.startswith(message)


def test_all_problems_at_once() -> None:
    changes = {"architecture": "aarch64", "kind": "executable", "undefined": ("sin",), "entry_points": ()}
    assert len(problems("llvm-cpu", changes)) == 4


def test_system_libraries_resolve_symbols() -> None:
    executable = with_target(original("llvm-cpu"), format="system-elf-x86_64")
    object_file = replace(_OBJECTS["llvm-cpu"], undefined=("expf",))
    assert isinstance(fit_object(executable, object_file, None), ObjectFit)


@pytest.mark.parametrize(
    ("target", "architecture", "difference"),
    [
        ("cuda", "sm_90", "architecture: expected sm_80, found sm_90"),
        ("cuda", "sm_90a", "architecture: expected sm_80, found sm_90a"),
        ("cuda", "sm_75", None),
        ("hip", "gfx90a", "architecture: expected gfx942, found gfx90a"),
        ("vulkan", "v1.6", "SPIR-V: expected at most v1.3, found v1.6"),
        ("vulkan", "v1.0", None),
    ],
)
def test_other_targets_that_may_do(target: str, architecture: str, difference: str | None) -> None:
    found = fit_object(original(target), replace(_OBJECTS[target], architecture=architecture), None)
    assert isinstance(found, ObjectFit)
    assert found.target_differences == (() if difference is None else (difference,))


def test_what_the_linker_resolves(tmp_path: Path, iree_tools: support.IreeTools) -> None:
    """The checks say of each symbol what IREE's linker says: none is provided, but for what a linker defines."""
    names = ["memcpy", "memset", "fmaf", "expf", "__stack_chk_fail", "iree_h2f_ieee"]
    body = "".join(f"void {name}(void); void use_{name}(void) {{ {name}(); }}\n" for name in names)
    path = compile_c(tmp_path, body, "-O1", "-ffreestanding", "-fno-builtin", "-fPIC", "-w")
    assert read_object(path).undefined == tuple(sorted(names)), "_GLOBAL_OFFSET_TABLE_ is not among them"
    flags = ("-flavor", "gnu", "--shared", "--no-undefined", "-nostdlib", "-o", tmp_path / "kernel.so")
    command: list[str | Path] = [iree_tools.lld, *flags, path]
    linked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert linked.returncode != 0
    assert all(f"undefined symbol: {name}" in linked.stderr for name in names)
    assert "_GLOBAL_OFFSET_TABLE_" not in linked.stderr


def test_duplicate_symbols() -> None:
    first = LinkedObject(name="a/k.o", sha256="1", symbols=("f", "helper"))
    again = LinkedObject(name="b/k.o", sha256="1", symbols=("f", "helper"))
    other = LinkedObject(name="c/k.o", sha256="2", symbols=("g", "helper"))
    assert duplicate_symbols([first, again]) == [], "the same object twice does the same"
    (problem,) = duplicate_symbols([first, again, other])
    assert problem.message.startswith("`helper` is defined by `a/k.o`, `c/k.o`; ")


def test_inline_functions_of_one_name_are_duplicates(tmp_path: Path) -> None:
    """A linker takes the first of several weak definitions, so that one kernel would call the other's."""
    objects = []
    for name, scale in (("a", 1), ("b", 3)):
        source = f"__attribute__((weak, noinline)) float scaled(float x) {{ return {scale} * x; }}\n"
        (tmp_path / name).mkdir()
        path = compile_c(tmp_path / name, f"{source} float {name}(float x) {{ return scaled(x); }}")
        found = read_object(path)
        objects.append(LinkedObject(name=f"{name}/k.o", sha256=name, symbols=found.defined))
    (problem,) = duplicate_symbols(objects)
    assert problem.message.startswith("`scaled` is defined by `a/k.o`, `b/k.o`; ")
    assert problem.hint is not None
    assert "anonymous namespace of C++" in problem.hint


def test_targets_are_as_compiled() -> None:
    """What the checks read of targets is what the compiler writes for the flags of the tests."""
    assert dict(original("llvm-cpu").target_keys)["format"] == "embedded-elf-x86_64"
    assert 'arch = "sm_80"' in dict(original("cuda").target_keys)["iree_codegen.target_info"]
    assert "spirv:v1.3" in dict(original("vulkan").target_keys)["iree_codegen.target_info"]
    assert {"llvm-cpu", "cuda", "vulkan", "hip"} <= TARGETS.keys()
