"""Extraction of whole programs: counts, names, skips; benchmark modules that really run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configured import Configured
from dispatchgen.errors import ModelError, ShapeError
from dispatchgen.extract import evaluator
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches, Call
from dispatchgen.iree import ir
from dispatchgen.manifest.suite import STATIC

pytestmark = pytest.mark.main_path


def call(name: str, *inputs: str, function: str = "main") -> Call:
    return Call(name=name, function=function, shape=name, symbols={}, inputs=inputs)


def mlp(*batches: int) -> list[Call]:
    return [call(f"B{b}", f"{b}x64xf32", "64x128xf32", "128x32xf32") for b in batches]


@contextmanager
def extraction(module: Path, calls: Sequence[Call], previous: BackendDispatches | None = None) -> Iterator[Extraction]:
    with ir.read_module(module) as operation:
        yield extract(Program(operation), calls, "cpu", previous)


def lock(module: Path, calls: Sequence[Call], previous: BackendDispatches | None = None) -> BackendDispatches:
    with extraction(module, calls, previous) as found:
        return found.lock


def benchmarks(found: BackendDispatches) -> dict[str, dict[str, int | None]]:
    return {b.name: b.counts for d in found.dispatches for b in d.benchmarks}


def test_counts_of_calls_branches_and_loops(configured: Configured, models_dir: Path) -> None:
    calls = [call("big", "130x64xf32", "7x64xf32", "3"), call("small", "7x64xf32", "7x64xf32", "1")]
    found = lock(configured.module(models_dir / "ctrl.mlir"), calls)
    assert benchmarks(found) == {
        "matmul_Dx64x64_f32__big": {"big": 2},
        "matmul_Dx64x64_f32__small": {"big": 1, "small": 2},
        "elementwise_D_f32__big": {"big": 3},
        "elementwise_D_f32__small": {"small": 1},
        "elementwise_broadcast_D_f32__big": {"big": 1, "small": 1},
    }
    assert not found.skipped


def test_sites_of_other_constants_stay_apart(configured: Configured, models_dir: Path) -> None:
    found = lock(configured.module(models_dir / "merge.mlir"), [call("B6", "6x256xf32", "6x256xf32", "64", "128")])
    (dispatch,) = found.dispatches
    assert len(dispatch.benchmarks) == 2
    assert [b.name for b in dispatch.benchmarks] == [f"{dispatch.name}__B6", f"{dispatch.name}__B6_2"]
    assert len({b.constants for b in dispatch.benchmarks}) == 2


def test_a_read_back_is_named_and_the_rest_goes_on(configured: Configured, models_dir: Path) -> None:
    found = lock(configured.module(models_dir / "nonzero.mlir"), [call("N130", "130xf32")])
    assert benchmarks(found) == {"reduction_D_f32xi64__N130": {"N130": 1}}
    (skipped,) = found.skipped
    assert skipped.export == "main_dispatch_1_elementwise_broadcast_D_f32"
    assert skipped.calls == ("N130",)
    assert skipped.reason == (
        "its size depends on stream.resource.load of what the dispatch reduction_D_f32xi64 computes on the device "
        "(override reduction_D_f32xi64)"
    )


def test_what_writes_nothing_is_skipped(configured: Configured, models_dir: Path) -> None:
    """It has no workgroups: its time would be that of an empty call."""
    calls = [call("B0", "0x64xf32", "64x128xf32", "128x32xf32"), call("B4", "4x64xf32", "64x128xf32", "128x32xf32")]
    found = lock(configured.module(models_dir / "mlp.mlir"), calls)
    assert [list(each.counts) for dispatch in found.dispatches for each in dispatch.benchmarks] == [["B4"], ["B4"]]
    assert [(each.calls, each.reason) for each in found.skipped] == [(("B0",), "its outputs have no elements")] * 2
    # A part of the runs does nothing where `ctrl` has no rows on one side: the others are measured.
    found = lock(configured.module(models_dir / "ctrl.mlir"), [call("P0", "0x64xf32", "7x64xf32", "1")])
    assert benchmarks(found)["matmul_Dx64x64_f32__P0"] == {"P0": 1}
    assert "matmul_Dx64x64_f32" not in [each.operation for each in found.skipped]


def test_a_dispatch_that_does_not_run_is_named(configured: Configured, models_dir: Path) -> None:
    found = lock(configured.module(models_dir / "ctrl.mlir"), [call("none", "5x64xf32", "7x64xf32", "0")])
    assert [(s.operation, s.reason) for s in found.skipped] == [
        ("elementwise_D_f32", "it does not run at any of the shapes")
    ]


def test_what_no_call_reaches_is_left_out(configured: Configured) -> None:
    source = configured.folder / "unreached.in.mlir"
    body = "%y = arith.{op} %x, %x : tensor<4xf32>\n  return %y : tensor<4xf32>"
    source.write_text(
        "\n".join(
            f"func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {body.format(op=op)}\n}}"
            for name, op in (("add", "addf"), ("mul", "mulf"))
        )
    )
    found = lock(configured.module(source), [call("static", "4xf32", function="add")])
    assert [d.operation for d in found.dispatches] == ["elementwise_4_f32"]
    assert not found.skipped, "what the manifest leaves out is not missing"


LOOP = """
func.func @main(%n: index, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %b = math.exp %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
"""


def test_a_loop_that_is_too_long_to_count(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "STEP_LIMIT", 1000)
    source = configured.folder / "loop.in.mlir"
    source.write_text(LOOP)
    found = lock(configured.module(source), [call("few", "10", "8xf32"), call("many", "5000", "8xf32")])
    assert benchmarks(found) == {"elementwise_8_f32": {"few": 10, "many": None}}
    assert not found.skipped
    assert [(each.calls, each.reason) for each in found.uncounted] == [
        (("many",), "a loop that has not ended after 1000 operations of the host program")
    ]


def test_further_sizes_and_further_dispatches_have_names_of_their_own(configured: Configured, tmp_path: Path) -> None:
    """A static loop whose two dispatches of one operation change their sizes from turn to turn."""
    turn = """
    %p{i} = tensor.extract_slice %t{i}[{at}] [%n] [1] : tensor<64xf32> to tensor<?xf32>
    %e{i} = tensor.empty(%n) : tensor<?xf32>
    %r{i} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}
      ins(%p{i} : tensor<?xf32>) outs(%e{i} : tensor<?xf32>) {{
    ^bb0(%v: f32, %o: f32):
      %s = math.{op} %v : f32
      linalg.yield %s : f32
    }} -> tensor<?xf32>
    %t{j} = tensor.insert_slice %r{i} into %t{i}[{at}] [%n] [1] : tensor<?xf32> into tensor<64xf32>"""
    source = tmp_path / "turns.in.mlir"
    source.write_text(
        """#map = affine_map<(i) -> (i)>
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%t0 = %x) -> tensor<64xf32> {
    %n = arith.addi %i, %c2 : index"""
        + turn.format(i=0, j=1, at=0, op="tanh")
        + turn.format(i=1, j=2, at=16, op="exp")
        + "\n    scf.yield %t2 : tensor<64xf32>\n  }\n  return %y : tensor<64xf32>\n}\n"
    )
    static = Call(name=STATIC, function="main", shape=STATIC, symbols={}, inputs=("64xf32",))
    found = lock(configured.module(source), [static])
    names = [benchmark.name for dispatch in found.dispatches for benchmark in dispatch.benchmarks]
    assert names == [
        *("elementwise_D_f32", "elementwise_D_f32__2"),
        *("elementwise_D_f32_2", "elementwise_D_f32_2__2"),
    ]


def test_an_export_that_is_called_like_its_executable(configured: Configured, models_dir: Path, tmp_path: Path) -> None:
    """Where IREE finds no operation to name an export after, both have one name."""
    text = configured.module(models_dir / "mul.mlir").read_text()
    module = tmp_path / "same.mlir"
    module.write_text(text.replace("@main_dispatch_0_elementwise_D_f32", "@main_dispatch_0"))
    with extraction(module, [call("N8", "8xf32", "8xf32")]) as found:
        ((name, text),) = found.modules()
    assert name == "dispatch"
    assert run_benchmarks(configured, text, tmp_path) == ["dispatch__N8"]


def test_a_shape_that_the_program_rejects_names_the_call(configured: Configured, models_dir: Path) -> None:
    module = configured.module(models_dir / "assume.mlir")
    with pytest.raises(ShapeError, match=r"(?s)dim 1 of input 0 is 17; the program assumes 16 to 4096.*shape S17"):
        lock(module, [call("S17", "2x17x64xf32", "64x128xf32")])


def test_all_calls_that_the_program_does_not_take_are_named(configured: Configured, models_dir: Path) -> None:
    """A function that is gone is named once, beside inputs that do not fit a function that is there."""
    module = configured.module(models_dir / "mlp.mlir")
    gone = [call(name, "4xf32", function="gone") for name in ("B1", "B8")]
    with pytest.raises(ModelError) as caught:
        lock(module, [*mlp(1), *gone, call("B2", "2x64xf32")])
    assert [(problem.message, str(problem.place)) for problem in caught.value.problems] == [
        ("the program has no public function @gone; it has @main", "function @gone"),
        ("@main takes more than 1 inputs", "function @main, shape B2"),
    ]
    assert type(caught.value) is ModelError, "not the shapes alone are wrong"


def test_a_renewed_extraction_keeps_names(configured: Configured, models_dir: Path) -> None:
    module = configured.module(models_dir / "mlp.mlir")
    before = lock(module, mlp(1, 42))
    assert lock(module, mlp(1, 42), before) == before
    more = benchmarks(lock(module, mlp(7, 42, 1), before))
    assert benchmarks(before).keys() < more.keys()


def test_a_layer_in_front_changes_no_other_module(configured: Configured, models_dir: Path) -> None:
    """Promise 3 and 4: names and bytes of the other dispatches stay."""
    text = (models_dir / "mlp.mlir").read_text()
    source = configured.folder / "deeper.in.mlir"
    source.write_text(
        text.replace("ins(%x, %w1 :", "ins(%scaled, %w1 :").replace(
            "  %e1 = tensor.empty",
            """  %e0 = tensor.empty(%d) : tensor<?x64xf32>
  %scaled = linalg.softmax dimension(1) ins(%x : tensor<?x64xf32>) outs(%e0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e1 = tensor.empty""",
            1,
        )
    )
    with extraction(configured.module(models_dir / "mlp.mlir"), mlp(1, 42)) as found:
        before, old_modules = found.lock, dict(found.modules())
    with extraction(configured.module(source), mlp(1, 42), before) as found:
        after, new_modules = found.lock, dict(found.modules())
    assert len(after.dispatches) > len(before.dispatches)
    kept = {dispatch.name for dispatch in before.dispatches}
    assert {name: text for name, text in new_modules.items() if name in kept} == old_modules
    symbols = {d.name: d.export for d in before.dispatches}
    shifted = [d.name for d in after.dispatches if d.name in symbols and d.export != symbols[d.name]]
    assert shifted, "the test shows nothing where IREE's numbers did not shift"


def run_benchmarks(configured: Configured, text: str, folder: Path, device: str = "local-sync") -> list[str]:
    """Compiles and runs a benchmark module; returns the names of what ran."""
    module = folder / "module.mlir"
    module.write_text(text)
    output = folder / "out.json"
    command: list[str | Path] = [configured.tools.benchmark_module, f"--module={configured.compiled(module)}"]
    command += [f"--device={device}", "--benchmark_min_time=1x", f"--benchmark_out={output}"]
    subprocess.run(command, check=True, capture_output=True)
    return [row["name"].split("/")[0].removeprefix("BM_") for row in json.loads(output.read_text())["benchmarks"]]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("embed", ["3x17xi64", "1000x256xf32"]),
        ("multi", ["2x24x32xf32", "2x40x32xf32", "57xf32"]),
        ("merge", ["6x256xf32", "6x256xf32", "64", "128"]),
        ("nonzero", ["0xf32"]),
    ],
)
def test_modules_run(
    name: str, inputs: list[str], configured: Configured, models_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    function = "attn" if name == "multi" else "main"
    with extraction(configured.module(models_dir / f"{name}.mlir"), [call("S", *inputs, function=function)]) as found:
        modules = dict(found.modules())
        expected = {d.name: [b.name for b in d.benchmarks] for d in found.lock.dispatches}
    assert modules
    for dispatch, text in modules.items():
        assert run_benchmarks(configured, text, tmp_path_factory.mktemp(dispatch)) == expected[dispatch]


def test_index_operands_stay_in_bounds_whatever_ran_before(
    configured: Configured, models_dir: Path, tmp_path: Path
) -> None:
    """The output of a large gather would lie where a small one reads its indices, were they not kept apart."""
    calls = [call(f"S{s}", f"1x{s}xi64", "1000x256xf32") for s in (4000, 1, 64)]
    with extraction(configured.module(models_dir / "embed.mlir"), calls) as found:
        ((_, text),) = found.modules()
        (dispatch,) = found.lock.dispatches
    assert dispatch.written == (False, False, True)
    names = [benchmark.name for benchmark in dispatch.benchmarks]
    assert run_benchmarks(configured, text, tmp_path) == names


@given(st.text())
def test_symbols_are_quoted_as_mlir_reads_them(name: str) -> None:
    from iree.compiler import ir as mlir

    name = name.encode("utf-8", "replace").decode()
    with mlir.Context():
        if name:
            assert mlir.FlatSymbolRefAttr(mlir.Attribute.parse(ir.symbol_text(name))).value == name


def test_names_of_an_importer(configured: Configured, tmp_path: Path) -> None:
    """Entry names with `$`, dots and spaces, as importers make them, reach no symbol of a module."""
    source = tmp_path / "names.in.mlir"
    source.write_text(
        """func.func @"a b.c$d"(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}"""
    )
    calls = [call("N5", "5xf32", function="a b.c$d")]
    with extraction(configured.module(source), calls) as found:
        ((name, text),) = found.modules()
    assert name == "elementwise_D_f32"
    assert "a b" not in text
    assert run_benchmarks(configured, text, tmp_path) == ["elementwise_D_f32__N5"]


def test_a_dispatch_without_benchmarks_has_no_module(configured: Configured, models_dir: Path) -> None:
    with extraction(configured.module(models_dir / "nonzero.mlir"), [call("N1", "1xf32")]) as found:
        assert [name for name, _ in found.modules()] == [d.name for d in found.lock.dispatches]
