"""Dispatches with constants whose data lies apart from them, as `dense_resource<key>`: no step may lose or mix it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.resources import operation_asm
from dispatchgen.substitute.program import write_program
from dispatchgen.substitute.schema import Kind
from substituted import Built, build
from support import IreeTools

_CALL = "128xf32", "8xf32"
_INPUTS = "128xf32=1", "8xf32=100"
_SUMS = "8xf32=101 102 103 104 105 106 107 108"
_SMALL, _LARGE = "elementwise_8_f32", "elementwise_128_f32"
#: A blob of eight times 50.0, of the key that the program has for its own.
_OWN = f'{{-# dialect_resources: {{ builtin: {{ small: "0x04000000{"00004842" * 8}" }} }} #-}}\n'


@pytest.fixture(scope="module")
def built(iree_tools: IreeTools, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("resources")
    return build(iree_tools, folder, models_dir / "resources.mlir", "llvm-cpu", _CALL)


def own_data(built: Built) -> Path:
    """IREE's dump of the dispatch's source, which refers to data that it does not have, with other data."""
    path = built.folder / "own.mlir"
    path.write_text(built.dump(_SMALL, "source").read_text() + _OWN)
    return path


def test_benchmark_modules_hold_the_data(built: Built) -> None:
    for name in built.dispatches:
        text = (built.folder / "dispatches" / f"{name}.mlir").read_text()
        assert text.count("0x040000000000803F00000040") == text.count("dense_resource<") == (name == _SMALL)
        built.compile(f"dispatches/{name}.mlir")


def test_the_content_is_that_of_the_data(iree_tools: IreeTools, models_dir: Path, built: Built, tmp_path: Path) -> None:
    """The key is of no account, and the data is."""
    program = (models_dir / "resources.mlir").read_text()
    variants = {"renamed": program.replace("small", "other"), "edited": program.replace("0000803F", "00004842")}
    contents = {}
    for name, text in variants.items():
        source = tmp_path / f"{name}.mlir"
        source.write_text(text)
        made = build(iree_tools, tmp_path / name, source, "llvm-cpu", _CALL)
        contents[name] = {dispatch.name: dispatch.content for dispatch in made.dispatches.values()}
    before = {dispatch.name: dispatch.content for dispatch in built.dispatches.values()}
    assert contents["renamed"] == before
    assert contents["edited"].keys() == before.keys()
    assert [name for name in before if contents["edited"][name] != before[name]] == [_SMALL]


def test_an_unedited_configuration_substituted_back(built: Built) -> None:
    file = built.folder / "unedited.mlir"
    with ir.read_module(built.configured) as module:
        file.write_text(texts(module)[built.dispatches[_SMALL].executable])
    for substitute in (file, built.configured, built.folder / "dispatches" / f"{_SMALL}.mlir"):
        built.substitute("unedited", "configuration", substitute, _SMALL)
        assert built.record("unedited", _SMALL).same
    built.substitute_program("unedited")
    unedited, original = built.compile("configured.mlir", "unedited"), built.compile("configured.mlir")
    assert unedited.read_bytes() == original.read_bytes()


def test_what_the_compiler_gets_is_the_programs(iree_tools: IreeTools, models_dir: Path, tmp_path: Path) -> None:
    """Eight equal numbers: as `dense<...>` the compiler for GPUs would make another kernel of them."""
    source = tmp_path / "equal.mlir"
    small = re.compile(r'small: "0x(\w{8})\w*"')
    source.write_text(small.sub(rf'small: "0x\g<1>{"00004040" * 8}"', (models_dir / "resources.mlir").read_text()))
    vulkan = build(iree_tools, tmp_path, source, "vulkan", _CALL)
    vulkan.substitute("unedited", "configuration", vulkan.folder / "dispatches" / f"{_SMALL}.mlir", _SMALL)
    assert vulkan.record("unedited", _SMALL).same
    vulkan.substitute_program("unedited")
    unedited, original = vulkan.compile("configured.mlir", "unedited"), vulkan.compile("configured.mlir")
    assert unedited.read_bytes() == original.read_bytes()


@pytest.mark.parametrize("kind", ["source", "configuration"])
def test_a_dump_without_the_data_is_refused(built: Built, kind: Kind) -> None:
    with pytest.raises(SubstitutionError) as caught:
        built.substitute("dump", kind, built.dump(_SMALL, kind), _SMALL)
    (problem,) = caught.value.problems
    assert problem.message == "the file has no data for dense_resource<small>"
    assert problem.hint == "start from what `dispatchgen dump` writes"


def test_a_substitute_has_its_own_data(built: Built) -> None:
    assert built.substitute("own", "source", own_data(built), _SMALL, tolerance=0.1) == []
    built.compile(f"dispatches/{_SMALL}.mlir", "own")
    built.compile(f"dispatches/{_SMALL}.check.mlir", "own")
    built.substitute_program("own")
    assert built.run(built.compile("configured.mlir"), *_INPUTS) == _SUMS
    assert built.run(built.compile("configured.mlir", "own"), *_INPUTS) == f"8xf32={' '.join(['150'] * 8)}"


def test_a_program_in_bytecode_keeps_the_data(built: Built, tmp_path: Path) -> None:
    """That of the dispatch that is not substituted; MLIR itself loses what a global refers to."""
    bytecode, output = tmp_path / "configured.mlirbc", tmp_path / "output.mlir"
    command = [str(built.tools.opt), str(built.configured), "--emit-bytecode", "-o", str(bytecode)]
    subprocess.run(command, check=True)
    built.substitute("bytecode", "source", built.dump(_LARGE, "source"), _LARGE)
    executables = [built.variant("bytecode") / "dispatches" / f"{_LARGE}.executable.mlir"]
    write_program(bytecode, built.folder / "dispatches" / "index.json", output, executables)
    with ir.read_module(output) as found, ir.read_module(built.configured) as expected:
        assert texts(found) == texts(expected)


def texts(module: ir.Operation) -> dict[str, str]:
    """The executables of a module, by symbol."""
    return {ir.symbol(op): operation_asm(op) for op in ir.body(module) if op.name == "hal.executable"}
