"""Executables of several exports, whose names differ in the number alone: which is which, and what stands for both."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dispatchgen.errors import SubstitutionError
from substituted import Built, build
from support import IreeTools

_PROGRAM = """\
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %sum = arith.addf %a, %b : tensor<8xf32>
  %barrier = util.optimization_barrier %sum : tensor<8xf32>
  %product = arith.mulf %barrier, %b : tensor<8xf32>
  return %product : tensor<8xf32>
}
"""
_INPUTS = "8xf32=3", "8xf32=4"
_FIRST, _SECOND = "elementwise_8_f32", "elementwise_8_f32_2"


def result(number: int) -> str:
    return f"8xf32={' '.join([str(number)] * 8)}"


def merged(program: str) -> str:
    """A program whose second dispatch is an export of the executable of its first."""
    begins = [program.index(f"  hal.executable private @main_dispatch_{number} {{") for number in (0, 1)]
    end = program.index("\n  }\n", begins[1]) + len("\n  }\n")
    first, second = program[begins[0] : begins[1]], program[begins[1] : end]
    export = re.search(r" *hal\.executable\.export public @main_dispatch_1.*?\n      }\n", second, re.DOTALL)
    inner = re.search(r"( *)builtin\.module \{\n(.*?\n)\1}\n", second, re.DOTALL)
    assert export is not None
    assert inner is not None
    start = "      builtin.module {\n"
    first = first.replace(start, f"{export[0].replace('ordinal(0)', 'ordinal(1)')}{start}{inner[2]}")
    return (program[: begins[0]] + first + program[end:]).replace("@main_dispatch_1::", "@main_dispatch_0::")


@pytest.fixture(scope="module")
def built(iree_tools: IreeTools, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("several")
    source = folder / "program.mlir"
    source.write_text(_PROGRAM)
    plain = build(iree_tools, folder, source, "llvm-cpu", ("8xf32", "8xf32"))
    plain.configured.write_text(merged(plain.configured.read_text()))
    for module in (folder / "dispatches").iterdir():
        module.unlink()
    made = replace(plain, dispatches=plain.extract([("8xf32", "8xf32")]))
    assert list(made.dispatches) == [_FIRST, _SECOND]
    assert {dispatch.executable for dispatch in made.dispatches.values()} == {"main_dispatch_0"}
    return made


def edited(built: Built, name: str, *edits: tuple[str, str]) -> Path:
    """The program with pieces of text replaced, one after the other."""
    text = built.configured.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = built.folder / f"{name}.mlir"
    path.write_text(text)
    return path


def test_unedited(built: Built) -> None:
    for name in built.dispatches:
        built.substitute(name, "configuration", built.configured, name)
        assert built.record(name, name).same
        assert built.substitute_program(name).read_bytes() == built.configured.read_bytes()


def test_shifted_numbers(built: Built) -> None:
    shifts = [(f"main_dispatch_{old}_elem", f"main_dispatch_{old + 1}_elem") for old in (1, 0)]
    shifted = edited(built, "shifted", *shifts)
    for name in built.dispatches:
        built.substitute("shifted", "configuration", shifted, name)
        assert built.record("shifted", name).same


def test_swapped_ordinals(built: Built) -> None:
    swapped = edited(built, "swapped", ("ordinal(0)", "ordinal(2)"), ("ordinal(1)", "ordinal(0)"), ("(2)", "(1)"))
    with pytest.raises(SubstitutionError) as caught:
        built.substitute("swapped", "configuration", swapped, _FIRST)
    assert sorted(problem.message for problem in caught.value.problems) == [
        "ordinal of @main_dispatch_0_elementwise_8_f32: expected 0, found 1",
        "ordinal of @main_dispatch_1_elementwise_8_f32: expected 1, found 0",
    ]


def test_one_is_edited(built: Built) -> None:
    assert built.run(built.compile("configured.mlir"), *_INPUTS) == result(28)
    built.substitute(
        "edited", "configuration", edited(built, "one", ("arith.mulf", "arith.subf")), _SECOND, tolerance=0
    )
    built.compile(f"dispatches/{_SECOND}.check.mlir", "edited")
    built.compile(f"dispatches/{_SECOND}.mlir", "edited")
    built.substitute_program("edited")
    assert built.run(built.compile("configured.mlir", "edited"), *_INPUTS) == result(3)


def test_one_file_for_both(built: Built) -> None:
    file = edited(built, "both", ("arith.mulf", "arith.subf"), ("arith.addf", "arith.maximumf"))
    for name in built.dispatches:
        built.substitute("both", "configuration", file, name)
        assert not built.record("both", name).same
    assert built.substitute_program("both").read_bytes() == file.read_bytes()
    built.substitute("tuned", "tuning_spec", file, *built.dispatches)
    assert built.substitute_program("tuned").read_bytes() == file.read_bytes()


def test_two_files_for_both(built: Built) -> None:
    built.substitute("one", "configuration", edited(built, "one", ("arith.mulf", "arith.subf")), _FIRST)
    built.substitute("other", "configuration", edited(built, "other", ("arith.addf", "arith.subf")), _SECOND)
    with pytest.raises(
        SubstitutionError, match="two substitutes stand for the executable @main_dispatch_0: "
    ) as caught:
        built.substitute_program("different", "one", "other")
    assert len(caught.value.problems) == 1
