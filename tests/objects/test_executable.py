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
from dispatchgen.objects.executable import object_executable
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


def launch_of(text: str) -> dict[str, str]:
    """What the export of an executable says of a launch."""
    with ir.parse_module(text) as module:
        (operation,) = ir.walk(module, "hal.executable.export")
        return {name: str(operation.attributes[name]) for name in _LAUNCH if name in operation.attributes}


def test_for_a_cpu_a_function_calls_the_object(cpu: Executable) -> None:
    made = object_executable(cpu, _C, None, _MAP, None, "fast/k.o")
    assert (made.export_name, made.entry) == (cpu.exports[0].name, "multiply")
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
    made = object_executable(cpu, _C, None, None, resolved(cpu, {}), "fast/k.o")
    assert "hal.return %c1, %c1, %c1" in made.text


def test_an_entry_point_called_like_the_export(cpu: Executable) -> None:
    name = cpu.exports[0].name
    made = object_executable(cpu, replace(_C, entry_points=(EntryPoint(name),)), None, _MAP, None, "fast/k.o")
    assert (made.export_name, made.entry) == (f"{name}_dispatch", name)
    assert f"@{name}_dispatch ordinal(0)" in made.text


def test_names_are_quoted(cpu: Executable) -> None:
    made = object_executable(cpu, replace(_C, entry_points=(EntryPoint('a"b c'),)), None, _MAP, None, 'fast/"k\n.o')
    assert '@"a\\22b c"' in made.text
    assert 'path = "fast/\\22k\\0A.o"' in made.text
    assert _parsed(made.text)


def test_for_a_gpu_the_object_is_all_there_is(cuda: Executable) -> None:
    made = object_executable(cuda, _PTX, None, None, resolved(cuda), "fast/k.ptx")
    assert made.export_name == "multiply"
    data = f'data = dense<"0x{"50545821" * 50}"> : vector<200xi8>'
    assert f'objects([#hal.executable.object<{{path = "fast/k.ptx", {data}}}>])' in made.text
    assert "builtin.module" not in made.text
    assert launch_of(made.text) == _LAUNCH


def test_another_count_keeps_the_launch(cuda: Executable) -> None:
    made = object_executable(cuda, _PTX, None, _MAP, resolved(cuda), "fast/k.ptx")
    assert "affine_map<(d0, d1) -> (d1 ceildiv 64)>" in made.text
    assert launch_of(made.text) == _LAUNCH


def test_ptx_may_require_a_workgroup_size(cuda: Executable) -> None:
    entry = replace(_PTX.entry_points[0], workgroup_size=(128, 1, 1))
    made = object_executable(cuda, replace(_PTX, entry_points=(entry,)), None, None, resolved(cuda), "k.ptx")
    assert launch_of(made.text) == {**_LAUNCH, "workgroup_size": "[128 : index, 1 : index, 1 : index]"}


def test_ptx_may_allow_too_few_threads(cuda: Executable) -> None:
    entry = replace(_PTX.entry_points[0], max_threads=32)
    with pytest.raises(SubstitutionError, match="a workgroup has 32 x 2 x 1 threads; multiply allows 32"):
        object_executable(cuda, replace(_PTX, entry_points=(entry,)), None, None, resolved(cuda), "k.ptx")


def test_what_does_not_fit_is_refused(cpu: Executable) -> None:
    with pytest.raises(SubstitutionError, match="found one for aarch64"):
        object_executable(cpu, replace(_C, architecture="aarch64"), None, _MAP, None, "fast/k.o")
    with pytest.raises(SubstitutionError, match="it has 1 results; 3 are needed"):
        object_executable(cpu, _C, None, "(n, m) -> (n)", None, "fast/k.o")
