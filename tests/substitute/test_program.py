"""Whole programs with substitutes: what has no place in them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dispatchgen.errors import ModelError, SubstitutionError
from dispatchgen.extract.schema import BackendDispatches
from dispatchgen.substitute.program import write_program
from substituted import Built, build
from support import IreeTools


def executable(built: Built, dispatch: str, substitution: str = "program") -> Path:
    """What a substitution of the dispatch's own source hands to the program."""
    built.substitute(substitution, "source", built.dump(dispatch, "source"), dispatch)
    return built.variant(substitution) / "dispatches" / f"{dispatch}.executable.mlir"


def index(built: Built) -> Path:
    return built.folder / "dispatches" / "index.json"


def problems(configured: Path, index: Path, tmp_path: Path, *executables: Path) -> list[str]:
    output = tmp_path / "output.mlir"
    with pytest.raises((SubstitutionError, ModelError)) as caught:
        write_program(configured, index, output, executables)
    assert not output.exists()
    return [problem.message for problem in caught.value.problems]


def test_two_substitutes_for_one_dispatch(mlp: Built, tmp_path: Path) -> None:
    first, _ = mlp.dispatches
    one, two = executable(mlp, first, "twice"), executable(mlp, first, "again")
    (message,) = problems(mlp.configured, index(mlp), tmp_path, one, two)
    assert message == f"two substitutes stand for the executable @main_dispatch_0: {one} and {two}"


def test_dispatches_and_executables_that_are_not_there(mlp: Built, tmp_path: Path) -> None:
    first, second = mlp.dispatches
    good = executable(mlp, first)
    bad = tmp_path / f"{second}x.executable.mlir"
    shutil.copy(good, bad)
    found = BackendDispatches.model_validate_json(index(mlp).read_bytes())
    moved = tuple(each.model_copy(update={"executable": "main_dispatch_7"}) for each in found.dispatches)
    other_index = tmp_path / "index.json"
    other_index.write_text(found.model_copy(update={"dispatches": moved}).model_dump_json())
    assert problems(mlp.configured, other_index, tmp_path, good, bad) == [
        f"the program has no executable @main_dispatch_7, which {first} is",
        f"there is no dispatch `{second}x` to substitute",
    ]


def test_files_that_are_not_what_they_should_be(mlp: Built, tmp_path: Path) -> None:
    first, _ = mlp.dispatches
    good = executable(mlp, first)
    missing = tmp_path / f"{first}.executable.mlir"
    (message,) = problems(mlp.configured, index(mlp), tmp_path, missing)
    assert message == "cannot read the module: No such file or directory"
    without_data = "hal.executable private @e attributes {a = dense_resource<w> : tensor<1xi8>} {\n}\n"
    for text in ("not IR", "", "// dispatchgen: object: {}\n", without_data):
        missing.write_text(text)
        (message,) = problems(mlp.configured, index(mlp), tmp_path, missing)
        assert message.startswith("expected an executable that `dispatchgen substitute` wrote: ")
    (message,) = problems(tmp_path / "nothing.mlir", index(mlp), tmp_path, good)
    assert message == "cannot read the module: No such file or directory"
    (message,) = problems(mlp.configured, tmp_path / "nothing.json", tmp_path, good)
    assert message == "cannot read the list of dispatches: No such file or directory"
    (message,) = problems(mlp.configured, mlp.configured, tmp_path, good)
    assert message.startswith("this is no list of dispatches of this version of dispatchgen: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ordinal(0)", "ordinal(1)", "ordinals of the exports: expected 0, found 1"),
        ("@embedded_elf_x86_64", "@other", "variants: expected @embedded_elf_x86_64, found @other"),
        ("constants = 2", "constants = 3", "number of constants: expected 2, found 3"),
        ("%arg1: index)", "%arg1: index, %arg2: index)", "number of workload arguments: expected 1, found 2"),
    ],
)
def test_a_substitute_made_for_another_program(mlp: Built, tmp_path: Path, old: str, new: str, message: str) -> None:
    first, _ = mlp.dispatches
    text = executable(mlp, first).read_text()
    assert old in text
    stale = tmp_path / f"{first}.executable.mlir"
    stale.write_text(text.replace(old, new))
    assert problems(mlp.configured, index(mlp), tmp_path, stale) == [message]


def test_a_substitute_without_exports(mlp: Built, tmp_path: Path) -> None:
    first, second = mlp.dispatches
    stale = [tmp_path / f"{name}.executable.mlir" for name in (first, second)]
    for path in stale:
        path.write_text("hal.executable private @empty {\n}\n")
    expected = [
        "variants: expected @embedded_elf_x86_64, found none",
        "ordinals of the exports: expected 0, found none",
    ]
    assert problems(mlp.configured, index(mlp), tmp_path, *stale) == expected * 2


def test_a_program_in_bytecode(product: Built, tmp_path: Path) -> None:
    bytecode, output = tmp_path / "configured.mlirbc", tmp_path / "output.mlir"
    subprocess.run(
        [str(product.tools.opt), str(product.configured), "--emit-bytecode", "-o", str(bytecode)], check=True
    )
    assert write_program(bytecode, index(product), output, [executable(product, product.only)]) == []
    assert output.read_bytes() == product.configured.read_bytes()


def test_symbols_of_importers(iree_tools: IreeTools, models_dir: Path, tmp_path: Path) -> None:
    source = tmp_path / "odd.mlir"
    program = (models_dir / "mul.mlir").read_text()
    source.write_text(program.replace("@main", '@"main.odd name"'))
    built = build(iree_tools, tmp_path, source, "llvm-cpu", ("5xf32", "5xf32"), function="main.odd name")
    for kind in ("source", "configuration"):
        (file,) = (tmp_path / kind).iterdir()
        built.substitute(kind, kind, file, built.only)
        assert built.record(kind, built.only).same
        assert built.substitute_program(kind).read_bytes() == built.configured.read_bytes()


def test_executables_of_several_exports(mlp: Built, iree_tools: IreeTools, tmp_path: Path) -> None:
    """One export is a dispatch; the other, which the program never dispatches, has to stay."""
    first, _ = mlp.dispatches
    export = mlp.dispatches[first].export
    text = mlp.configured.read_text()
    begin = text.index(f"      hal.executable.export public @{export}")
    end = text.index("      builtin.module {\n", begin)
    other = text[begin:end].replace(export, "other").replace("ordinal(0)", "ordinal(1)")
    inner_end = text.index("      }\n    }\n  }\n", end)
    function = "        func.func @other() {\n          return\n        }\n"
    two = tmp_path / "configured.mlir"
    two.write_text(text[:end] + other + text[end:inner_end] + function + text[inner_end:])

    built = Built(tmp_path, iree_tools, mlp.flags, mlp.dispatches)
    built.extract([("4x64xf32", "64x128xf32", "128x32xf32")])
    built.substitute("same", "configuration", two, first)
    assert built.record("same", first).same
    assert built.substitute_program("same").read_bytes() == two.read_bytes()
    with pytest.raises(SubstitutionError, match=rf"exports: expected 2 \(@{export}, @other\), found 1 \(@{export}\)"):
        built.substitute("one", "configuration", mlp.dump(first, "configuration"), first)
    with pytest.raises(SubstitutionError, match=r"an object replaces an executable of one export; .* has .*, @other"):
        built.substitute("object", "object", two, first)
