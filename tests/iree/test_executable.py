"""The interface of executables, read from what the compiler writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatchgen.iree import ir
from dispatchgen.iree.executable import Binding, Executable, element_of, read_executables, read_layout
from substituted import Built

_READ, _WRITTEN = Binding("storage_buffer", "ReadOnly|Indirect"), Binding("storage_buffer", "Indirect")


def read(path: Path) -> list[Executable]:
    with ir.parse_module(path.read_bytes()) as module:
        return read_executables(module)


@pytest.mark.parametrize("phase", ["source", "configuration"])
def test_a_dumped_executable(product: Built, phase: str) -> None:
    (executable,) = read(product.dump(product.only, phase))
    assert executable.symbol == "main_dispatch_0"
    assert executable.variants == (executable.variant,) == ("embedded_elf_x86_64",)
    assert dict(executable.target_keys)["backend"] == "llvm-cpu"
    assert dict(executable.target_keys)["cpu"] == '"generic"'
    assert executable.phase == phase
    assert not executable.is_external
    (export,) = executable.exports
    assert export.name == "main_dispatch_0_elementwise_D_f32"
    assert executable.functions == (export.name,)
    assert (export.ordinal, export.workload, export.layout.constants) == (0, 2, 4)
    assert export.layout.bindings == (_READ, _READ, _WRITTEN)
    assert export.layout.flags == "Indirect"
    assert [access.ordinal for access in executable.accesses if access.kind == "binding"] == [0, 1, 2]
    assert (executable.line, export.line) == (1, 3)


def test_a_whole_program(mlp: Built) -> None:
    assert [executable.symbol for executable in read(mlp.configured)] == ["main_dispatch_0", "main_dispatch_1"]


@pytest.mark.parametrize(
    ("text", "constants", "bindings", "flags"),
    [
        ("#hal.pipeline.layout<bindings = []>", 0, (), ""),
        (
            "#hal.pipeline.layout<constants = 12, bindings = [#hal.pipeline.binding<uniform_buffer>]>",
            12,
            (Binding("uniform_buffer", ""),),
            "",
        ),
        (
            "#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>], flags = Indirect>",
            0,
            (Binding("storage_buffer", "ReadOnly"),),
            "Indirect",
        ),
    ],
)
def test_layouts(text: str, constants: int, bindings: tuple[Binding, ...], flags: str) -> None:
    layout = read_layout(text)
    assert (layout.constants, layout.bindings, layout.flags) == (constants, bindings, flags)


def test_an_executable_without_code_of_its_own_is_external(tmp_path: Path) -> None:
    variant = 'hal.executable.variant public @v target(<"vulkan-spirv", "vulkan-spirv-fb">)'
    objects = 'objects([#hal.executable.object<{path = "k.spv"}>])'
    export = "hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<bindings = []>)"
    file = tmp_path / "external.mlir"
    for objects_text, inner, expected in ((objects, "", True), (objects, "builtin.module {}", False), ("", "", False)):
        file.write_text(f"hal.executable private @e {{\n{variant} {objects_text} {{\n{export}\n{inner}\n}}\n}}\n")
        (executable,) = read(file)
        assert executable.is_external == expected
        assert executable.phase is None
        assert executable.target_keys == (("backend", "vulkan-spirv"), ("format", "vulkan-spirv-fb"))


@pytest.mark.parametrize(
    ("type_", "element"),
    [
        ("memref<?x64xf32, #hal.descriptor_type<storage_buffer>>", "f32"),
        ("memref<4x?xbf16, strided<[64, 1], offset: ?>>", "bf16"),
        ("!iree_tensor_ext.dispatch.tensor<readonly:tensor<8xf8E4M3FN>>", "f8E4M3FN"),
        ("memref<complex<f32>>", "complex<f32>"),
        ("vector<4xi32>", "i32"),
        ("tensor<3xindex>", "index"),
        ("index", None),
    ],
)
def test_the_element_type_is_read_from_the_type(type_: str, element: str | None) -> None:
    assert element_of(type_) == element
