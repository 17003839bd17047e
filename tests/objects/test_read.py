"""Reading objects: what real compilers write, and whatever else is called an object."""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import support
from dispatchgen.errors import SubstitutionError
from dispatchgen.objects.model import EntryPoint
from dispatchgen.objects.read import read_object
from kernels import PRODUCT_C, PRODUCT_GLSL, compile_c, compile_glsl, need

_PTX = """\
// A comment with .entry nothing(
.version 7.6
.target sm_80, texmode_independent
.address_size 64

.visible .entry first( .param .u64 a, .param .u32 b ) .reqntid 32, 2 { ret; }
.entry second /* none */ .maxntid 64, 4, 2
{
  { ret; }
}
.visible .entry declared(.param .u64 a);
"""


def written(folder: Path, content: bytes | str, name: str = "kernel.o") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(SubstitutionError) as caught:
        read_object(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_object_of_c(compiler: str, tmp_path: Path) -> None:
    source = PRODUCT_C + "float helper(float); static int hidden(void) { return 1; }\n"
    source += "int table[4]; void other(void) { table[hidden()] = (int)helper(2); }\n"
    found = read_object(compile_c(tmp_path, source, compiler=compiler))
    assert (found.format, found.kind, found.big_endian) == ("elf", "relocatable", False)
    assert {entry.name for entry in found.entry_points} == {"my_product", "other"}, "table is no function"
    assert found.undefined == ("helper",)
    assert set(found.defined) == {"my_product", "other", "table"}


def test_labels_are_entry_points_where_there_are_no_functions(tmp_path: Path) -> None:
    labels = 'asm(".text\\n.globl label\\nlabel:\\n.globl other\\nother:\\nret\\n");'
    path = compile_c(tmp_path, labels)
    assert {entry.name for entry in read_object(path).entry_points} == {"label", "other"}
    path = compile_c(tmp_path, f"{labels} void function(void) {{}}")
    assert read_object(path).entry_points == (EntryPoint("function"),)


@pytest.mark.parametrize(
    ("target", "architecture"),
    [
        ("x86_64-linux-gnu", "x86_64"),
        ("i386-linux-gnu", "i386"),
        ("aarch64-linux-gnu", "aarch64"),
        ("armv7-linux-gnueabihf", "arm"),
        ("riscv64-linux-gnu", "riscv64"),
        ("riscv32-linux-gnu", "riscv32"),
        ("powerpc64-linux-gnu", "powerpc64"),
    ],
)
def test_architectures(target: str, architecture: str, tmp_path: Path) -> None:
    path = compile_c(tmp_path, "void f(void) {}", f"--target={target}", "-ffreestanding", compiler="clang")
    found = read_object(path)
    assert found.architecture == architecture
    assert found.entry_points == (EntryPoint("f"),)
    assert found.big_endian == (architecture == "powerpc64")


def test_weak_symbols_and_shared_objects(tmp_path: Path) -> None:
    source = "__attribute__((weak)) void helper(void) {} static void own(void) {} void f(void) { helper(); own(); }"
    assert read_object(compile_c(tmp_path, source)).defined == ("f", "helper"), "a weak symbol is one for all objects"
    path = compile_c(tmp_path, "void w(void) __attribute__((weak)); void f(void) { if (w) w(); }")
    assert read_object(path).undefined == (), "a weak symbol may stay undefined"
    shared = tmp_path / "kernel.so"
    subprocess.run([need("gcc"), "-shared", "-nostdlib", "-s", path, "-o", shared], check=True)
    assert read_object(shared).kind == "shared"


@pytest.mark.parametrize(
    ("declaration", "flags", "unsupported"),
    [
        ("static __thread int c;", ("-fPIC",), ("thread-local variables",)),
        ("static int c; __attribute__((constructor)) static void init(void) { c = 1; }", ("-fPIC",), ("constructors",)),
        ("int c[4]; int *get(long i) { return &c[i]; }", ("-fno-pic",), ("absolute addresses",)),
        ("int c[4]; int *get(long i) { return &c[i]; }", ("-fPIC", "-g"), ()),
    ],
)
def test_what_executables_cannot_have(
    declaration: str, flags: tuple[str, ...], unsupported: tuple[str, ...], tmp_path: Path
) -> None:
    source = f"{declaration} int f(void) {{ return ++*(int *)&c; }}"
    path = compile_c(tmp_path, source, "-O1", "-ffreestanding", *flags)
    found = read_object(path).unsupported
    assert len(found) == len(unsupported)
    assert all(text.startswith(start) for text, start in zip(found, unsupported, strict=True))


def test_spirv(tmp_path: Path) -> None:
    path = compile_glsl(tmp_path, PRODUCT_GLSL)
    found = read_object(path)
    assert (found.format, found.architecture, found.kind) == ("spirv", "v1.3", "module")
    assert found.entry_points == (EntryPoint("main", execution_model="GLCompute", workgroup_size=(64, 1, 1)),)
    assert found.descriptors == ((0, 0), (0, 1), (0, 2))
    assert found.push_constant_bytes == 16
    words = path.read_bytes()
    swapped = struct.pack(f">{len(words) // 4}I", *struct.unpack(f"<{len(words) // 4}I", words))
    other = read_object(written(tmp_path, swapped, "swapped.spv"))
    assert other.big_endian
    assert other.entry_points == found.entry_points
    assert other.descriptors == found.descriptors


def test_spirv_of_another_stage(tmp_path: Path) -> None:
    path = compile_glsl(tmp_path, "#version 450\nvoid main() {}\n", "-S", "vert")
    assert read_object(path).entry_points == (EntryPoint("main", execution_model="Vertex"),)


def test_spirv_of_opencl(tmp_path: Path) -> None:
    assembly = written(
        tmp_path,
        "OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n"
        'OpEntryPoint Kernel %f "compute"\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n'
        "%f = OpFunction %void None %type\n%label = OpLabel\nOpReturn\nOpFunctionEnd\n",
        "kernel.spvasm",
    )
    path = tmp_path / "kernel.spv"
    subprocess.run([need("spirv-as"), "--target-env", "spv1.0", assembly, "-o", path], check=True)
    assert read_object(path).entry_points == (EntryPoint("compute", execution_model="Kernel"),)


def test_ptx(tmp_path: Path) -> None:
    found = read_object(written(tmp_path, _PTX))
    assert (found.format, found.architecture) == ("ptx", "sm_80")
    assert found.entry_points == (
        EntryPoint("first", workgroup_size=(32, 2, 1), parameters=2),
        EntryPoint("second", max_threads=512, parameters=0),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the object is empty"),
        ("int f;", "is not ELF, SPIR-V or PTX: it starts with the bytes 69 6e 74 20 66 3b"),
        ("!<arch>\nx", "is a static library"),
        (b"BC\xc0\xde0000", "without -flto"),
        (b"\xcf\xfa\xed\xfe0000", "is Mach-O"),
        (b"\x64\x86\x02\x00", "is COFF"),
        ("__CLANG_OFFLOAD_BUNDLE__....", "--no-gpu-bundle-output"),
        ("; SPIR-V\n; Version: 1.3\n", "spirv-as"),
        ("#version 450\n", "is GLSL"),
        (b"\x7fELF", "not ELF that can be read"),
        (struct.pack("<I", 0x07230203), "is cut short"),
        (struct.pack("<IIIIII", 0x07230203, 0x10300, 0, 1, 0, 15 | 9 << 16), "is cut short: it has 6 words"),
        (struct.pack("<IIIIII", 0x07230203, 0x10300, 0, 1, 0, 15 | 1 << 16), "instruction 15 at word 5 has 1 words"),
        (struct.pack("<IIIIII", 0x07230203, 0x10300, 0, 1, 0, 0), "instruction 0 at word 5 has 0 words"),
        (".version 7.6\n", "PTX starts with .version"),
        (_PTX[: _PTX.rindex("}")], "a body of its PTX is not closed"),
        (_PTX.encode() + b"\xff", "not UTF-8"),
    ],
)
def test_what_is_no_object(content: bytes | str, message: str, tmp_path: Path) -> None:
    assert message in refusal(written(tmp_path, content))


def test_no_file(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "missing.o")
    assert "Is a directory" in refusal(tmp_path)


def test_cut_short(tmp_path: Path) -> None:
    path = compile_c(tmp_path, PRODUCT_C)
    data = path.read_bytes()
    for length in (20, 64, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        assert "the object is" in refusal(path)


def test_intermediate_code_of_gcc(tmp_path: Path) -> None:
    path = compile_c(tmp_path, PRODUCT_C, "-O2", "-flto", "-fno-fat-lto-objects")
    message, hint = "the object holds no machine code, but GCC's intermediate code", "compile without -flto"
    assert refusal(path) == f"error: {message}\n  at {path}\n  try: {hint}"


@functools.cache
def _seeds() -> tuple[bytes, ...]:
    """One object of each format that can be made here, AMD GPUs' by IREE."""
    seeds = [_PTX.encode()]
    with tempfile.TemporaryDirectory() as folder:
        seeds.append(_hsaco(Path(folder)).read_bytes())
        seeds.append(compile_c(Path(folder), PRODUCT_C).read_bytes())
        seeds.append(compile_glsl(Path(folder), PRODUCT_GLSL).read_bytes())
    return tuple(seeds)


def _hsaco(folder: Path) -> Path:
    program = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    program += "  %0 = arith.addf %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    source = written(folder, program, "sum.mlir")
    flags = [
        "--iree-hal-target-device=hip",
        "--iree-rocm-target=gfx942",
        f"--iree-hal-dump-executable-binaries-to={folder}",
    ]
    subprocess.run([support.find_iree_tools().compile, source, "-o", folder / "sum.vmfb", *flags], check=True)
    (path,) = folder.glob("*.hsaco")
    return path


def test_hsaco(tmp_path: Path) -> None:
    found = read_object(_hsaco(tmp_path))
    assert (found.format, found.architecture, found.kind) == ("hsaco", "gfx942", "shared")
    (entry,) = found.entry_points
    assert entry.name == "main_dispatch_0_elementwise_4_f32"
    assert entry.parameter_bytes is not None and entry.parameter_bytes >= 16, "two pointers"


def _read_or_refuse(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), data)
        try:
            found = read_object(path)
        except SubstitutionError:
            return
        assert found.data == data
        assert all(entry.name for entry in found.entry_points) or found.format == "spirv"


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x7fELF\x02\x01\x01", b"\x03\x02\x23\x07", b".version 1.0\n"]))
def test_any_bytes_are_read_or_refused(data: bytes, start: bytes) -> None:
    _read_or_refuse(start + data)


@given(st.data())
def test_damaged_objects_are_read_or_refused(data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from(_seeds())))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        piece = data.draw(st.binary(min_size=1, max_size=8))
        damaged[at : at + len(piece)] = piece
    _read_or_refuse(bytes(damaged[: data.draw(st.integers(1, len(damaged)))]))
