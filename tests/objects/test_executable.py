"""Executables that run objects, as text. That they compile and run is tested in test_step_objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import support
from dispatchgen.errors import SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Executable, read_executables
from dispatchgen.objects.executable import ObjectExecutable, object_executable
from dispatchgen.objects.fit import ObjectFit, fit_object
from dispatchgen.objects.model import EntryPoint, ObjectFile

pytestmark = pytest.mark.main_path

_GOLDEN = support.REPOSITORY / "tests" / "golden" / "substitute" / "dispatches"
_MAP = "(n, m) -> (m ceildiv 64, 1, 1)"
_C = ObjectFile(Path("k.o"), b"\x7fELF", "elf", "x86_64", "relocatable", (EntryPoint("multiply"),))
_PTX = ObjectFile(Path("k.ptx"), b"PTX!" * 50, "ptx", "sm_80", "module", (EntryPoint("multiply", parameters=7),))


@pytest.fixture(scope="module")
def cpu() -> Executable:
    return read("llvm-cpu")


@pytest.fixture(scope="module")
def cuda() -> Executable:
    return read("cuda")


def read(target: str) -> Executable:
    with ir.read_module(_GOLDEN / target / "elementwise_D_f32.mlir") as module:
        (executable,) = read_executables(module)
        return executable


#: What code generation says of a launch: attributes of the export, printed differently by releases of IREE.
_LAUNCH = {"workgroup_size": "[32 : index, 2 : index, 1 : index]", "subgroup_size": "32 : index"}


def resolved(executable: Executable, launch: Mapping[str, str] = _LAUNCH) -> str:
    """The export as code generation leaves it: with a count of one workgroup and what it says of a launch."""
    from iree.compiler import ir as mlir

    head, _ = executable.exports[0].text.split("{", 1)
    export = head + "{\n%c1 = arith.constant 1 : index\nhal.return %c1, %c1, %c1 : index, index, index\n}"
    variant = f"hal.executable.variant public @v target({executable.target}) {{\n{export}\n}}"
    with ir.parse_module(f"hal.executable private @x {{\n{variant}\n}}") as module:
        (operation,) = ir.walk(module, "hal.executable.export")
        for name, text in launch.items():
            operation.attributes[name] = mlir.Attribute.parse(text)
        return str(operation.get_asm(use_local_scope=True))


def make(
    original: Executable, object_file: ObjectFile, workgroups: str | None, resolved_export: str | None, path: str
) -> ObjectExecutable:
    """The executable that runs the object's only entry point."""
    fit = fit_object(original, object_file, None)
    assert isinstance(fit, ObjectFit)
    return object_executable(original, object_file, fit, workgroups, resolved_export, path)


def launch_of(text: str) -> dict[str, str]:
    """What the export of an executable says of a launch."""
    with ir.parse_module(text) as module:
        (operation,) = ir.walk(module, "hal.executable.export")
        return {name: str(operation.attributes[name]) for name in _LAUNCH if name in operation.attributes}


def test_for_a_cpu_a_function_calls_the_object(cpu: Executable) -> None:
    made = make(cpu, _C, _MAP, None, "fast/k.o")
    assert made.export_name == cpu.exports[0].name
    assert 'objects([#hal.executable.object<{path = "fast/k.o"}>])' in made.text
    assert "affine_map<(d0, d1) -> (d1 ceildiv 64)>" in made.text
    (executable,) = _parsed(made.text)
    assert executable.symbol == cpu.symbol
    assert executable.target == cpu.target
    assert executable.exports[0].layout == cpu.exports[0].layout
    assert [access.ordinal for access in executable.accesses if access.kind == "binding"] == [0, 1, 2]
    assert [access.ordinal for access in executable.accesses if access.kind == "constant"] == [0, 1, 2, 3]
    call = re.search(r"call @multiply\(.*\) : \((.*)\) -> \(\)", made.text)
    assert call is not None
    assert call[1].split(", ") == ["memref<i8>"] * 3 + ["i32"] * 4 + ["index"] * 6


def _parsed(text: str) -> list[Executable]:
    with ir.parse_module(text) as module:
        return read_executables(module)


def test_the_originals_count(cpu: Executable) -> None:
    made = make(cpu, _C, None, resolved(cpu, {}), "fast/k.o")
    assert "hal.return %c1, %c1, %c1" in made.text


def test_an_entry_point_called_like_the_export(cpu: Executable) -> None:
    name = cpu.exports[0].name
    made = make(cpu, replace(_C, entry_points=(EntryPoint(name),)), _MAP, None, "fast/k.o")
    assert made.export_name == f"{name}_dispatch"
    assert f"@{name}_dispatch ordinal(0)" in made.text


def test_names_are_quoted(cpu: Executable) -> None:
    made = make(cpu, replace(_C, entry_points=(EntryPoint('a"b c'),)), _MAP, None, 'fast/"k\n.o')
    assert '@"a\\22b c"' in made.text
    assert 'path = "fast/\\22k\\0A.o"' in made.text
    assert _parsed(made.text)


def test_for_a_gpu_the_object_is_all_there_is(cuda: Executable) -> None:
    made = make(cuda, _PTX, None, resolved(cuda), "fast/k.ptx")
    assert made.export_name == "multiply"
    data = f'data = dense<"0x{"50545821" * 50}"> : vector<200xi8>'
    assert f'objects([#hal.executable.object<{{path = "fast/k.ptx", {data}}}>])' in made.text
    assert "builtin.module" not in made.text
    assert launch_of(made.text) == _LAUNCH


def test_another_count_keeps_the_launch(cuda: Executable) -> None:
    made = make(cuda, _PTX, _MAP, resolved(cuda), "fast/k.ptx")
    assert "affine_map<(d0, d1) -> (d1 ceildiv 64)>" in made.text
    assert launch_of(made.text) == _LAUNCH


def test_ptx_may_require_a_workgroup_size(cuda: Executable) -> None:
    entry = replace(_PTX.entry_points[0], workgroup_size=(128, 1, 1))
    made = make(cuda, replace(_PTX, entry_points=(entry,)), None, resolved(cuda), "k.ptx")
    assert launch_of(made.text) == {**_LAUNCH, "workgroup_size": "[128 : index, 1 : index, 1 : index]"}


def test_ptx_may_allow_too_few_threads(cuda: Executable) -> None:
    entry = replace(_PTX.entry_points[0], max_threads=32)
    with pytest.raises(SubstitutionError, match="a workgroup has 32 x 2 x 1 threads; multiply allows 32"):
        make(cuda, replace(_PTX, entry_points=(entry,)), None, resolved(cuda), "k.ptx")


def test_a_map_of_another_shape_is_refused(cpu: Executable) -> None:
    with pytest.raises(SubstitutionError, match="3 are needed"):
        make(cpu, _C, "(n, m) -> (n)", None, "fast/k.o")


_CONDITION = """\
hal.executable.condition(%device: !hal.device) -> i1 {
%ok, %value = hal.device.query<%device : !hal.device> key("hal.device.id" :: "sm_80") : i1, i1
hal.return %value : i1
}
"""
_CONSTANTS = """\
hal.executable.constant.block(%device: !hal.device) -> i32 as "size" {
%size = arith.constant 4 : i32
hal.return %size : i32
}
"""


@pytest.mark.parametrize("target", ["llvm-cpu", "cuda"])
def test_what_the_host_asks_of_the_variant_stays(target: str) -> None:
    text = read(target).text
    export = text.index("hal.executable.export")
    with ir.parse_module(text[:export] + _CONDITION + _CONSTANTS + text[export:]) as module:
        (original,) = read_executables(module)
    object_file = _C if target == "llvm-cpu" else _PTX
    (executable,) = _parsed(make(original, object_file, _MAP, resolved(original), "k").text)
    assert len(original.host_code) == 2
    assert executable.host_code == original.host_code
