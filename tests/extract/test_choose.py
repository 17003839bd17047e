"""Shapes chosen for real programs: within what is stated, and that the program takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from configured import Configured
from dispatchgen.errors import ModelError
from dispatchgen.extract.assumptions import Assumption
from dispatchgen.extract.choose import Statement, check, choose, merged, statement
from dispatchgen.extract.program import Program
from dispatchgen.extract.ranges import check_sizes
from dispatchgen.extract.source_dims import SourceDim, SourceDims, source_dims
from dispatchgen.iree import ir
from dispatchgen.manifest.inputs import parse_input
from dispatchgen.manifest.suite import AutoShapes, Input, Model, ProfileShapes, Shape, Source

pytestmark = pytest.mark.main_path

NOTHING = SourceDims()
#: The second input has as many rows as the first; the rows must be even, and no more than the columns.
CHECKED = """
util.func public @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r0 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %c0d = tensor.dim %x, %c1 : tensor<?x?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %r, %c = util.assume.int %r0<umin = 2, umax = 64, udiv = 2>, %c0d[<umin = 8, umax = 8>, <umin = 32, umax = 64>]
      : index, index
  %same = arith.cmpi eq, %n, %r : index
  cf.assert %same, "y has another size"
  %fits = arith.cmpi ule, %r, %c : index
  cf.assert %fits, "more rows than columns"
  %e = tensor.empty(%r) : tensor<?xf32>
  %t = flow.tensor.tie_shape %x : tensor<?x?xf32>{%r, %c}
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%t : tensor<?x?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  util.return %s : tensor<?xf32>
}
"""


def model(*inputs: str, shapes: tuple[Shape, ...] = ()) -> Model:
    given: dict[str | None, tuple[Input, ...]] = {None: tuple(map(parse_input, inputs))} if inputs else {}
    return Model("m", "m", Source("m.mlir", "mlir"), inputs=given, shapes=shapes)


@pytest.fixture(scope="module")
def checked(configured: Configured) -> Path:
    source = configured.folder / "checked.in.mlir"
    source.write_text(CHECKED)
    return configured.module(source)


@contextmanager
def opened(module: Path) -> Iterator[Program]:
    with ir.read_module(module) as operation:
        yield Program(operation)


def chosen(module: Path, of: Model, auto: AutoShapes, source: SourceDims = NOTHING) -> dict[str, dict[str, int]]:
    """The sizes that are chosen, by label; each is checked to be taken by the program."""
    with opened(module) as program:
        stated = statement(program, of, source)
        shapes = choose(program, of, stated, auto)
        assert shapes == choose(program, of, stated, auto)
        for shape in shapes:
            check(program, of, stated, shape.symbols)
    return {shape.label: dict(shape.symbols) for shape in shapes}


def test_inputs_and_shapes_from_the_program(configured: Configured, models_dir: Path) -> None:
    found = chosen(configured.module(models_dir / "assume.mlir"), model(), AutoShapes(8))
    assert len(found) == 8
    assert {"A": 1, "B": 16} in found.values() and {"A": 8, "B": 4096} in found.values()
    assert all(1 <= each["A"] <= 8 and each["B"] in range(16, 4097, 16) for each in found.values())
    assert any(each["B"] % 64 for each in found.values()), "a size that the tiles do not divide"
    assert found["A1_B16"] == {"A": 1, "B": 16}
    assert list(found.values()) == sorted(found.values(), key=lambda each: list(each.values()))


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_limit(configured: Configured, models_dir: Path, limit: int) -> None:
    found = list(chosen(configured.module(models_dir / "assume.mlir"), model(), AutoShapes(limit)).values())
    assert len(found) == limit
    assert found[0] == {"A": 1, "B": 16}
    assert limit == 1 or found[-1] == {"A": 8, "B": 4096}


def test_names_of_the_source(configured: Configured, models_dir: Path) -> None:
    source = models_dir / "torchsym.mlir"
    found = chosen(configured.module(source), model(), AutoShapes(3), source_dims(source, "mlir"))
    assert found["BATCH1_S1_16"] == {"BATCH": 1, "S1": 16} and found["BATCH8_S1_4096"] == {"BATCH": 8, "S1": 4096}


def test_fixed_sizes(configured: Configured, models_dir: Path) -> None:
    module = configured.module(models_dir / "assume.mlir")
    found = chosen(module, model("BxSx64xf32", "64x128xf32"), AutoShapes(9, {"S": 48}))
    assert list(found) == ["B1_S48", "B2_S48", "B4_S48", "B7_S48", "B8_S48"]
    with opened(module) as program:
        stated = statement(program, model(), NOTHING)
        with pytest.raises(ModelError, match=r"all that is stated of `B`\n  B is 17 in the manifest\n  util"):
            choose(program, model(), stated, AutoShapes(9, {"B": 17}))
        with pytest.raises(ModelError, match=r"no input has the symbol `S`"):
            choose(program, model(), stated, AutoShapes(9, {"S": 16}))


def test_a_dim_that_is_static_in_the_program(configured: Configured, models_dir: Path) -> None:
    module = configured.module(models_dir / "assume.mlir")
    found = chosen(module, model("BxSxKxf32", "KxNxf32"), AutoShapes(3, {"S": 48}))
    assert {(each["K"], each["N"]) for each in found.values()} == {(64, 128)}
    with pytest.raises(ModelError, match=r"K is 32 in the manifest\n  the program's dim 2 of input 0: 64"):
        chosen(module, model("BxSxKxf32", "KxNxf32"), AutoShapes(3, {"S": 48, "K": 32}))


def test_only_what_the_program_takes(checked: Path) -> None:
    found = chosen(checked, model("RxCxf32", "Rxf32"), AutoShapes(50)).values()
    assert all(each["R"] % 2 == 0 and each["R"] <= each["C"] for each in found)
    assert {each["C"] for each in found} >= {8, 32, 64}, "all ends of both alternatives"
    assert {"R": 2, "C": 8} in found and {"R": 64, "C": 64} in found


def test_equal_sizes_need_one_symbol_or_a_source_that_says_so(checked: Path) -> None:
    sizes = model("RxCxf32", "Nxf32")
    rows = SourceDim("rows")
    source = SourceDims({"main": {0: [rows, None], 1: [rows]}})
    found = chosen(checked, sizes, AutoShapes(50), source).values()
    assert found and all(each["N"] == each["R"] for each in found)
    with opened(checked) as program:
        with pytest.raises(ModelError, match=r"no range is stated for the symbol `N` \(dim 0 of input 1\).*\n.*N: 1"):
            choose(program, sizes, statement(program, sizes, NOTHING), AutoShapes(50))
        with pytest.raises(ModelError, match=r"of `R`, `N`\n  R is rows in the source\n.*\n  N is 3 in the manifest"):
            choose(program, sizes, statement(program, sizes, source), AutoShapes(50, {"N": 3}))


def test_listed_sizes_and_what_the_source_has_as_equal(checked: Path) -> None:
    """They are refused where they differ, unless the program states that they do: here rows are even."""
    of = model("RxCxf32", "Nxf32")
    source = SourceDims({"main": {0: [SourceDim("n"), None], 1: [SourceDim("n")]}})
    with opened(checked) as program:
        same = statement(program, of, source).symbols
        check_sizes(same, {"R": 4, "C": 8, "N": 4})
        check_sizes(same, {"R": 4, "C": 8, "N": 0})
        with pytest.raises(ModelError, match=r"no size fits all that is stated of `R`, `N`"):
            check_sizes(same, {"R": 4, "C": 8, "N": 3})
        odd = replace(of, auto=AutoShapes(4, ranges={"N": range(3, 64, 2)}))
        check_sizes(statement(program, odd, source).symbols, {"R": 4, "C": 8, "N": 3})


@pytest.mark.parametrize(
    ("assumption", "sizes"),
    [
        (Assumption(17, 70, 16), [32, 48, 64]),
        (Assumption(16, 40, 16), [16, 32]),
        (Assumption(0, 3), [1, 2, 3]),
        (Assumption(0, 0), []),
    ],
)
def test_the_sizes_of_a_range(checked: Path, assumption: Assumption, sizes: list[int]) -> None:
    source = SourceDims({"main": {1: [SourceDim("n", assumption=assumption)]}})
    of, auto = model("RxCxf32", "Nxf32"), AutoShapes(4)
    with opened(checked) as program:
        stated = statement(program, of, source)
        if sizes:
            (number,) = (each for each in stated.numbers(auto) if each.symbols[0].name == "N")
            assert [size for choice in number.sizes for size in choice] == sizes
        else:
            with pytest.raises(ModelError, match=r"error: no size fits .* of `N`\n  torch.symbolic_int `n`: 0 to 0\n"):
                stated.numbers(auto)


def test_the_program_takes_none(checked: Path) -> None:
    of = model("RxCxf32", "Nxf32")
    with opened(checked) as program, pytest.raises(ModelError, match=r"takes none of \d+ shapes .*: the program's own"):
        choose(program, of, statement(program, of, NOTHING), AutoShapes(4, {"N": 65}))


def test_sizes_that_depend_on_each_other(checked: Path) -> None:
    """One dim is twice the other plus ten, and a third is not told."""
    source = SourceDims({"main": {0: [SourceDim("n", 2), SourceDim("n", 4, 8)], 1: [SourceDim("n", 2)]}})
    found = chosen(checked, model(), AutoShapes(50), source)
    assert found and all(each["N_2"] == 2 * each["N"] + 8 for each in found.values())
    assert {each["N_2"] for each in found.values()} <= {*range(32, 65)}


def test_a_symbol_for_sizes_that_the_source_keeps_apart(checked: Path) -> None:
    of = model("RxCxf32", "Rxf32")
    source = SourceDims({"main": {0: [SourceDim("n"), None], 1: [SourceDim("n", 2)]}})
    with opened(checked) as program, pytest.raises(ModelError, match=r"`R` stands for dim 0 of .* has as n and n \* 2"):
        statement(program, of, source)
    source = SourceDims({"main": {0: [SourceDim("n"), None], 1: [SourceDim("m")]}})
    assert chosen(checked, of, AutoShapes(2), source), "one size for two that may differ"


def test_listed_shapes_are_not_chosen_again(configured: Configured, models_dir: Path) -> None:
    listed = (Shape("first", {"A": 1, "B": 16}), Shape("a8_B4096", {"A": 2, "B": 32}))
    of = replace(model("AxBx64xf32", "64x128xf32", shapes=listed), profiles=(ProfileShapes("p.json", "A7_B80"),))
    found = chosen(configured.module(models_dir / "assume.mlir"), of, AutoShapes(8))
    assert {"A": 1, "B": 16} not in found.values()
    assert found["A8_B4096_2"] == {"A": 8, "B": 4096}, "another shape has the label"
    assert found["A7_B80_2"] == {"A": 7, "B": 80}


def test_a_symbol_of_an_override(configured: Configured, models_dir: Path) -> None:
    of = replace(model("Nxf32"), overrides={"reduction_D_f32xi64": "K"})
    module = configured.module(models_dir / "nonzero.mlir")
    assert chosen(module, of, AutoShapes(4, {"N": 130, "K": 65})) == {"N130_K65": {"N": 130, "K": 65}}
    with opened(module) as program, pytest.raises(ModelError, match="no range is stated for the symbol `K`: it needs"):
        choose(program, of, statement(program, of, NOTHING), AutoShapes(4, {"N": 130}))


def test_several_backends(configured: Configured, models_dir: Path) -> None:
    with opened(configured.module(models_dir / "assume.mlir")) as program:
        one = statement(program, model(), NOTHING)
    other = replace(one, tiles=(16, 64))
    assert merged({"a": one, "b": other}) == replace(one, tiles=(4, 8, 16, 64))
    less: Statement = replace(one, symbols=one.symbols[:1])
    with pytest.raises(ModelError, match="on the backends a and b the program does not state the same"):
        merged({"a": one, "b": less})


def test_a_program_without_symbols(configured: Configured) -> None:
    source = configured.folder / "fixed.in.mlir"
    source.write_text("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}""")
    assert chosen(configured.module(source), model(), AutoShapes(4)) == {"static": {}}
