"""Benchmark modules of substitutes, and whole programs with them, by the real compiler."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from configured import onnx_model
from dispatchgen.errors import SubstitutionError
from dispatchgen.lock.drift import placeholder
from dispatchgen.substitute.schema import Kind
from substituted import TARGETS, Built, build
from support import IreeTools

pytestmark = pytest.mark.main_path

_MLIR_KINDS: tuple[Kind, ...] = ("source", "configuration")


def read(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize("kind", _MLIR_KINDS)
@pytest.mark.parametrize("model", ["product", "static_product", "mlp"])
def test_unedited_substitutes_give_the_same_bytes(model: str, kind: Kind, request: pytest.FixtureRequest) -> None:
    built: Built = request.getfixturevalue(model)
    name = f"same_{kind}"
    for dispatch in built.dispatches:
        notes = built.substitute(name, kind, built.dump(dispatch, kind), dispatch)
        assert notes == [f"{name}: {dispatch} is the same as the compiler's own"]
        assert built.record(name, dispatch).same
        module = f"dispatches/{dispatch}.mlir"
        assert read(built.variant(name) / module) == read(built.folder / module)
    assert read(built.substitute_program(name)) == read(built.configured)


def test_the_same_text_compiles_to_the_same_bytes(product: Built) -> None:
    product.substitute("compiled", "source", product.dump(product.only, "source"), product.only)
    product.substitute_program("compiled")
    for module in (f"dispatches/{product.only}.mlir", "configured.mlir"):
        assert read(product.compile(module, "compiled")) == read(product.compile(module))


@pytest.mark.parametrize("kind", _MLIR_KINDS)
def test_debug_symbols_are_as_in_the_original(product: Built, kind: Kind) -> None:
    name = f"debug_{kind}"
    file = product.edited(product.only, kind, "debug_symbols = false", "debug_symbols = true")
    assert product.substitute(name, kind, file, product.only) == [
        f"{name}: {product.only} is the same as the compiler's own"
    ]
    assert read(product.substitute_program(name)) == read(product.configured)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_a_file_was_dumped_from(product: Built, end: str) -> None:
    dispatch = product.dispatches[product.only]
    other = "0123456789abcdef" * 4
    expected = {
        (dispatch.name, dispatch.content): (),
        (dispatch.name, other): (
            "the file was dumped from another version of this dispatch: dump it again, and edit that",
        ),
        ("renamed_since", dispatch.content): (),
        ("matmul_2", other): ("the file was dumped from another dispatch: matmul_2",),
    }
    file = product.edited(product.only, "configuration", "arith.mulf", "arith.addf")
    text = file.read_text()
    for (name, content), notes in expected.items():
        file.write_bytes(f"// dispatchgen: dispatch {name}, content {content}{end}{text}".encode())
        said = product.substitute("origin", "configuration", file, product.only)
        assert said == [f"origin: {product.only}: {note}" for note in notes]
        assert product.record("origin", product.only).notes == notes


def test_nothing_is_said_of_an_old_dump_that_is_the_same(product: Built) -> None:
    file = product.edited(product.only, "source", "arith.mulf", "arith.mulf")
    file.write_text(f"// dispatchgen: dispatch {product.only}, content {'0' * 64}\n{file.read_text()}")
    notes = product.substitute("same_origin", "source", file, product.only)
    assert notes == [f"same_origin: {product.only} is the same as the compiler's own"]
    assert product.record("same_origin", product.only).notes == ()


@pytest.mark.parametrize("kind", _MLIR_KINDS)
@pytest.mark.parametrize("model", ["product", "static_product"])
def test_an_edit_shows_in_the_program(model: str, kind: Kind, request: pytest.FixtureRequest) -> None:
    built: Built = request.getfixturevalue(model)
    name = f"sum_{kind}"
    file = built.edited(built.only, kind, "arith.mulf", "arith.addf")
    assert built.substitute(name, kind, file, built.only) == []
    assert not built.record(name, built.only).same
    built.substitute_program(name)
    assert "arith.addf" in (built.variant(name) / "dispatches" / f"{built.only}.mlir").read_text()
    inputs = "5xf32=1 2 3 4 5", "5xf32=10"
    assert built.run(built.compile("configured.mlir"), *inputs) == "5xf32=10 20 30 40 50"
    assert built.run(built.compile("configured.mlir", name), *inputs) == "5xf32=11 12 13 14 15"


def test_a_combination_has_the_kernels_of_all_members(mlp: Built) -> None:
    first, second = mlp.dispatches
    mlp.substitute("one", "source", mlp.edited(first, "source", "arith.maximumf", "arith.minimumf"), first)
    mlp.substitute("two", "configuration", mlp.edited(second, "configuration", "64, 32, 0", "32, 32, 0"), second)
    text = mlp.substitute_program("both", "one", "two").read_text()
    assert "arith.minimumf" in text
    assert "distribution = [32, 32, 0]" in text
    assert "distribution = [32, 32, 0]" not in mlp.substitute_program("one").read_text()


def test_a_tuning_spec_gives_many_dispatches_at_once(mlp: Built) -> None:
    first, second = mlp.dispatches
    tuned = mlp.folder / "tuned.mlir"
    tuned.write_text(mlp.configured.read_text().replace("cache_parallel = [64, 32", "cache_parallel = [32, 32"))
    notes = mlp.substitute("tuned", "tuning_spec", tuned, first, second)
    assert notes == [f"tuned: {first} is the same as the compiler's own"]
    assert read(mlp.substitute_program("tuned")) == read(tuned)


def test_a_file_of_several_executables_gives_the_one_that_fits(mlp: Built) -> None:
    for dispatch in mlp.dispatches:
        mlp.substitute("whole", "configuration", mlp.configured, dispatch)
        assert mlp.record("whole", dispatch).same


@pytest.mark.parametrize("kind", _MLIR_KINDS)
def test_numbers_of_dispatches_may_shift(mlp: Built, kind: Kind) -> None:
    _, second = mlp.dispatches
    shifted = mlp.edited(second, kind, "main_dispatch_1", "main_dispatch_7")
    mlp.substitute("shifted", kind, shifted, second)
    assert mlp.record("shifted", second).same
    assert read(mlp.substitute_program("shifted")) == read(mlp.configured)


def test_a_benchmark_module_is_a_substitute(mlp: Built) -> None:
    for dispatch in mlp.dispatches:
        mlp.substitute("stable", "configuration", mlp.folder / "dispatches" / f"{dispatch}.mlir", dispatch)
        assert mlp.record("stable", dispatch).same


def test_bytecode_is_read_like_text(product: Built) -> None:
    bytecode, text = product.folder / "source.mlirbc", product.dump(product.only, "source")
    subprocess.run([str(product.tools.opt), str(text), "--emit-bytecode", "-o", str(bytecode)], check=True)
    product.substitute("bytecode", "source", bytecode, product.only)
    assert product.record("bytecode", product.only).same


def test_another_target_is_used_where_it_is_allowed(product: Built) -> None:
    file = product.edited(product.only, "source", "native_vector_size = 16", "native_vector_size = 32")
    file.write_text(file.read_text().replace("debug_symbols = false", "debug_symbols = true"))
    with pytest.raises(SubstitutionError, match=r"native_vector_size: expected 16.*, found 32"):
        product.substitute("other", "source", file, product.only)
    (note,) = product.substitute("other", "source", file, product.only, any_target=True)
    assert "native_vector_size: expected 16 : i64, found 32 : i64" in note
    assert len(product.record("other", product.only).target_differences) == 1
    (variant,) = re.findall(r"hal.executable.variant .*", product.substitute_program("other").read_text())
    assert "native_vector_size = 32" in variant
    assert "debug_symbols = true" in variant, "a target is used whole"


def test_what_is_gone_has_placeholders(product: Built, tmp_path: Path) -> None:
    gone = Built(tmp_path, product.tools, product.flags, {})
    (tmp_path / "dispatches").mkdir()
    text = placeholder("it is no longer there")
    (tmp_path / "dispatches" / "old.mlir").write_text(text)
    (tmp_path / "dispatches" / "index.json").write_bytes(read(product.folder / "dispatches" / "index.json"))
    source = product.dump(product.only, "source")
    assert gone.substitute("s", "source", source, "old", tolerance=0.1) == [
        "s: old is not substituted: it is no longer there"
    ]
    for module in ("old.mlir", "old.executable.mlir", "old.check.mlir"):
        assert (gone.variant("s") / "dispatches" / module).read_text() == text
    assert gone.record("s", "old").skipped == "it is no longer there"
    program = gone.substitute_program("s").read_text()
    assert program.startswith("// dispatchgen: skipped: old is not substituted: it is no longer there\n")


def test_unchanged_files_are_left_alone(product: Built) -> None:
    file = product.edited(product.only, "configuration", "arith.mulf", "arith.subf")
    product.substitute("again", "configuration", file, product.only, tolerance=0.1)
    program = product.substitute_program("again")
    paths = [program, *(product.variant("again") / "dispatches").iterdir()]
    assert {path.suffixes[-2] for path in paths if len(path.suffixes) > 1} == {".executable", ".check"}
    before = {path: path.stat().st_mtime_ns for path in paths}
    file.write_text("// a comment\n" + file.read_text())
    product.substitute("again", "configuration", file, product.only, tolerance=0.1)
    product.substitute_program("again")
    changed = {path.name for path in paths if path.stat().st_mtime_ns != before[path]}
    assert changed == {f"{product.only}.json"}, "the record has the hash of the file"


@pytest.mark.slow
@pytest.mark.parametrize("target", sorted(TARGETS.keys() - {"llvm-cpu"}))
def test_other_targets(target: str, models_dir: Path, iree_tools: IreeTools, tmp_path: Path) -> None:
    inputs = ("4x64xf32", "64x128xf32", "128x32xf32")
    built = build(iree_tools, tmp_path, models_dir / "mlp.mlir", target, inputs)
    for kind in _MLIR_KINDS:
        for dispatch in built.dispatches:
            built.substitute(kind, kind, built.dump(dispatch, kind), dispatch)
            module = f"dispatches/{dispatch}.mlir"
            assert read(built.variant(kind) / module) == read(built.folder / module)
        assert read(built.substitute_program(kind)) == read(built.configured)
    first, _ = built.dispatches
    for module in (f"dispatches/{first}.mlir", "configured.mlir"):
        assert read(built.compile(module, "source")) == read(built.compile(module))
    built.substitute("edited", "source", built.edited(first, "source", "arith.maximumf", "arith.minimumf"), first)
    built.substitute_program("edited")
    for module in (f"dispatches/{first}.mlir", "configured.mlir"):
        assert read(built.compile(module, "edited")) != read(built.compile(module))


@pytest.mark.slow
def test_every_dispatch_of_squeezenet_substituted_back(iree_tools: IreeTools, tmp_path: Path) -> None:
    source = onnx_model("onnx", "backend/test/data/light/light_squeezenet.onnx", tmp_path / "squeezenet.mlir")
    built = build(iree_tools, tmp_path, source, "llvm-cpu", ("1x3x224x224xf32",), function="squeezenet_old")
    assert len(built.dispatches) == 29
    modules = [*(f"dispatches/{dispatch}.mlir" for dispatch in built.dispatches), "configured.mlir"]
    for kind in _MLIR_KINDS:
        for dispatch in built.dispatches:
            built.substitute(kind, kind, built.dump(dispatch, kind), dispatch)
        built.substitute_program(kind)
        for module in modules:
            assert read(built.variant(kind) / module) == read(built.folder / module)
    # The same text compiles to the same bytes, whatever it is of: a few of the modules show it.
    for module in (*modules[::10], "configured.mlir"):
        assert read(built.compile(module)) == read(built.compile(module, "source"))
