"""Sizes that only the device computes, given by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from configured import Configured
from dispatchgen.errors import ModelError
from dispatchgen.extract.evaluate import evaluate
from dispatchgen.extract.extraction import extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.read_backs import ReadBacks, computed_by, overridden
from dispatchgen.extract.schema import Call
from dispatchgen.iree import ir, types

pytestmark = pytest.mark.main_path

NAME = "reduction_D_f32xi64"
#: Counts of two inputs, the product of which is a size.
TWO = """
util.func private @count(%x: tensor<?xf32>) -> index {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%zi : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %count = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->()>], iterator_types=["reduction"]}
      ins(%x : tensor<?xf32>) outs(%f : tensor<i64>) {
  ^bb0(%a: f32, %o: i64):
    %p = arith.cmpf ogt, %a, %z : f32
    %i = arith.extui %p : i1 to i64
    %s = arith.addi %o, %i : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %n64 = tensor.extract %count[] : tensor<i64>
  %n = arith.index_cast %n64 : i64 to index
  util.return %n : index
}
util.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?x64xf32> {
  %n = util.call @count(%x) : (tensor<?xf32>) -> index
  %m = util.call @count(%y) : (tensor<?xf32>) -> index
  %size = arith.muli %n, %m : index
  %e = tensor.empty(%size) : tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]}
      outs(%e : tensor<?x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %ic = arith.index_cast %i : index to i32
    %fl = arith.sitofp %ic : i32 to f32
    %t = math.tanh %fl : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  util.return %r : tensor<?x64xf32>
}
"""


@pytest.fixture(scope="module")
def two(configured: Configured) -> Path:
    source = configured.folder / "two_counts.in.mlir"
    source.write_text(TWO)
    return configured.module(source)


def call(name: str, overrides: Mapping[str, int], *inputs: str) -> Call:
    return Call(name=name, function="main", shape=name, symbols={}, inputs=inputs, overrides=dict(overrides))


def test_an_override_gives_the_sizes_of_what_depends_on_it(configured: Configured, models_dir: Path) -> None:
    calls = [call(f"K{count}", {NAME: count}, "130xf32") for count in (1, 65)]
    with ir.read_module(configured.module(models_dir / "nonzero.mlir")) as operation:
        found = extract(Program(operation), calls, "cpu")
    count, fill = found.lock.dispatches
    assert (found.read_backs, found.lock.skipped) == ((NAME,), ())
    assert [(b.counts, b.bindings) for b in count.benchmarks] == [({"K1": 1, "K65": 1}, (520, 8))]
    assert [(b.name, b.workload, b.bindings) for b in fill.benchmarks] == [
        (f"{fill.name}__K1", (64,), (256,)),
        (f"{fill.name}__K65", (65 * 64,), (65 * 256,)),
    ]


def test_more_read_backs_of_one_operation_are_numbered(two: Path) -> None:
    inputs = ("130xf32", "7xf32")
    with ir.read_module(two) as operation:
        program = Program(operation)
        one = extract(program, [call("one", {NAME: 5}, *inputs)], "cpu")
        both = extract(program, [call("both", {NAME: 5, f"{NAME}_2": 3}, *inputs)], "cpu")
    assert one.read_backs == both.read_backs == (NAME, f"{NAME}_2")
    (skipped,) = one.lock.skipped
    assert skipped.reason.endswith(f"what the dispatch {NAME} computes on the device (override {NAME}_2)")
    assert not both.lock.skipped
    assert [b.workload for b in both.lock.dispatches[-1].benchmarks] == [(15 * 64,)]


def test_a_name_means_the_same_in_all_calls(two: Path) -> None:
    with ir.read_module(two) as operation:
        program = Program(operation)
        read_backs = ReadBacks(program)
        for overrides in ({}, {f"{NAME}_2": 3}):
            evaluate(program, "main", ["130xf32", "7xf32"], overrides, read_backs)
            assert read_backs.names == (NAME, f"{NAME}_2")


def test_a_value_that_does_not_fit() -> None:
    i32, f32 = types.scalar_type("i32"), types.scalar_type("f32")
    assert i32 is not None and f32 is not None
    assert overridden("a", {"a": 2**32 - 1}, i32) == 2**32 - 1
    assert overridden("a", {"b": 1}, i32) is None
    assert overridden("a", {"a": 3}, f32) == 3.0
    with pytest.raises(ModelError, match="the override of a is 4294967296; the program reads at most 4294967295 there"):
        overridden("a", {"a": 2**32}, i32)


SUM = "reduction_D_f32xi32"
#: Two functions that read back a count and a sum; the first of them a count only of few elements.
SEVERAL = (
    TWO[: TWO.index("util.func public")]
    + """
util.func private @sum(%x: tensor<?xf32>) -> index {
  %zi = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zi : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i)->(i)>, affine_map<(i)->()>], iterator_types=["reduction"]}
      ins(%x : tensor<?xf32>) outs(%f : tensor<i32>) {
  ^bb0(%a: f32, %o: i32):
    %i = arith.fptosi %a : f32 to i32
    %s = arith.addi %o, %i : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  %n32 = tensor.extract %sum[] : tensor<i32>
  %n = arith.index_cast %n32 : i32 to index
  util.return %n : index
}
util.func public @first(%x: tensor<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %c8 = arith.constant 8 : index
  %few = arith.cmpi ult, %d, %c8 : index
  %n = scf.if %few -> index {
    %r = util.call @count(%x) : (tensor<?xf32>) -> index
    scf.yield %r : index
  } else {
    scf.yield %d : index
  }
  %s = util.call @sum(%x) : (tensor<?xf32>) -> index
  util.return %n, %s : index, index
}
util.func public @last(%x: tensor<?xf32>) -> (index, index) {
  %n = util.call @count(%x) : (tensor<?xf32>) -> index
  %s = util.call @sum(%x) : (tensor<?xf32>) -> index
  util.return %n, %s : index, index
}
"""
)


def test_names_do_not_depend_on_the_calls(configured: Configured) -> None:
    """Neither on which places are met, nor in which order."""
    source = configured.folder / "several_counts.in.mlir"
    source.write_text(SEVERAL)
    with ir.read_module(configured.module(source)) as operation:
        program = Program(operation)

        def names(*calls: tuple[str, str]) -> tuple[str, ...]:
            read_backs = ReadBacks(program)
            for function, given in calls:
                evaluate(program, function, [given], {}, read_backs)
            return read_backs.names

        assert sorted(names(("last", "4xf32"))) == [f"{SUM}_2", f"{NAME}_2"]
        assert names(("first", "9xf32")) == (SUM,)
        assert sorted(names(("last", "4xf32"), ("first", "4xf32"))) == [SUM, f"{SUM}_2", NAME, f"{NAME}_2"]


def test_a_name_that_is_an_operation_is_left_out(two: Path) -> None:
    """And a place of which it is not known what it reads has a number after all of which it is."""
    with ir.read_module(two) as operation:
        program = Program(operation)
        loads = [load for function in program.functions.values() for load in ir.walk(function, "stream.resource.load")]
        (export,) = (each for each in program.exports.values() if each.name.endswith(NAME))
        program.exports["x", f"{NAME}_2"] = replace(export, name=f"{NAME}_2")
        names = [ReadBacks(program).name(computed_by(NAME), load) for load in loads]
        assert names == [NAME, f"{NAME}_3"]
        fill = "elementwise_broadcast_D_f32"
        assert [ReadBacks(program).name(computed_by(fill), load) for load in loads] == [fill, f"{fill}_2"]
