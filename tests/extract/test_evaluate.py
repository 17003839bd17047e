"""Evaluation of host programs written for one thing each, around a real executable."""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from configured import Configured
from dispatchgen.errors import ModelError, ShapeError
from dispatchgen.extract import evaluator
from dispatchgen.extract.evaluate import Trace, evaluate
from dispatchgen.extract.evaluator import Stop
from dispatchgen.extract.program import Program
from dispatchgen.extract.stream_ops import NOT_GIVEN
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import ir

KEY = ("main_dispatch_0", "main_dispatch_0_elementwise_D_f32")

#: A dispatch of `%n` elements; `%tp` and `%r` are a timepoint and a resource of the function.
DISPATCH = """
    %done{id} = stream.cmd.execute on(#hal.device.affinity<@__device_0>) with(%r as %captured{id}: !stream.resource<transient>{{%size}}) {{
      stream.cmd.dispatch @main_dispatch_0::@embedded_elf_x86_64::@main_dispatch_0_elementwise_D_f32[{n}](%low, %low : i32, i32) {{
        ro %captured{id}[%c0 for %size] : !stream.resource<transient>{{%size}},
        ro %captured{id}[%c0 for %size] : !stream.resource<transient>{{%size}},
        wo %captured{id}[%c0 for %size] : !stream.resource<transient>{{%size}}
      }}
    }} => !stream.timepoint
"""
PROLOGUE = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %low = arith.constant 4 : i32
    %size = arith.constant 1024 : index
    %r, %tp = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%size} => !stream.timepoint
"""
#: Reads back what the dispatch wrote.
READ_BACK = """
    %staging, %staged = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<staging>{%size} => !stream.timepoint
    %copied = stream.cmd.execute on(#hal.device.affinity<@__device_0>) with(%r as %from: !stream.resource<transient>{%size}, %staging as %to: !stream.resource<staging>{%size}) {
      stream.cmd.copy %from[%c0], %to[%c0], %size : !stream.resource<transient>{%size} -> !stream.resource<staging>{%size}
    } => !stream.timepoint
    %ready = stream.timepoint.await %copied => %staging : !stream.resource<staging>{%size}
"""

Run = Callable[..., Trace]


def dispatch(n: str, id: int = 0) -> str:
    return DISPATCH.format(n=n, id=id)


@pytest.fixture
def run(configured: Configured, models_dir: Path, tmp_path: Path) -> Iterator[Run]:
    """Evaluates a host program: functions around the executable and the device of `mul.mlir`."""
    module = configured.module(models_dir / "mul.mlir").read_text()
    head = module[: module.index("  util.func public @main")]

    def run(functions: str, inputs: Sequence[str] = (), function: str = "f") -> Trace:
        path = tmp_path / "module.mlir"
        path.write_text(f"{head}\n{functions}\n}}\n")
        with ir.read_module(path) as operation:
            return evaluate(Program(operation), function, inputs)

    yield run


def workloads(trace: Trace) -> list[object]:
    return [each.workload[0] for each in trace.dispatched]


def test_branches_and_a_loop(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f(%n: index) {{{PROLOGUE}
    cf.br ^loop(%c0 : index)
  ^loop(%i: index):
    %again = arith.cmpi slt, %i, %n : index
    cf.cond_br %again, ^body, ^end
  ^body:
    %m = arith.muli %i, %c8 : index
    {dispatch("%m")}
    %next = arith.addi %i, %c1 : index
    cf.br ^loop(%next : index)
  ^end:
    util.return
  }}""",
        ["3"],
    )
    assert workloads(trace) == [0, 8, 16]
    assert not trace.stops


@pytest.mark.parametrize(("value", "expected"), [(0, 8), (5, 1), (7, 0)])
def test_switch(run: Run, value: int, expected: int) -> None:
    trace = run(
        f"""
  util.func public @f(%n: i32) {{{PROLOGUE}
    cf.switch %n : i32, [
      default: ^end(%c8 : index),
      5: ^end(%c1 : index),
      7: ^end(%c0 : index)
    ]
  ^end(%m: index):
    {dispatch("%m")}
    util.return
  }}""",
        [str(value)],
    )
    assert workloads(trace) == [expected]


def test_mutable_globals_and_calls(run: Run) -> None:
    trace = run(
        f"""
  util.global private mutable @counter = 5 : index
  util.func private @step() {{{PROLOGUE}
    %old = util.global.load @counter : index
    {dispatch("%old")}
    %new = arith.addi %old, %c1 : index
    util.global.store %new, @counter : index
    util.return
  }}
  util.func public @f() {{
    util.call @step() : () -> ()
    util.call @step() : () -> ()
    util.return
  }}"""
    )
    assert workloads(trace) == [5, 6]
    assert not any(each.initializer for each in trace.dispatched)


def test_what_the_host_fills_it_can_read_back(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f() {{{PROLOGUE}
    %seven = arith.constant 7 : i32
    %filled = stream.cmd.execute on(#hal.device.affinity<@__device_0>) with(%r as %c: !stream.resource<transient>{{%size}}) {{
      stream.cmd.fill %seven, %c[%c8 for %c8] : i32 -> !stream.resource<transient>{{%size}}
    }} => !stream.timepoint
    {READ_BACK}
    %c12 = arith.constant 12 : index
    %v = stream.resource.load %ready[%c12] : !stream.resource<staging>{{%size}} -> i32
    %m = arith.index_cast %v : i32 to index
    {dispatch("%m")}
    util.return
  }}"""
    )
    assert workloads(trace) == [7]


def test_a_value_of_the_device_is_named(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f() {{{PROLOGUE}
    {dispatch("%c8", 0)}
    {READ_BACK}
    %v = stream.resource.load %ready[%c0] : !stream.resource<staging>{{%size}} -> i32
    %m = arith.index_cast %v : i32 to index
    {dispatch("%m", 1)}
    {dispatch("%c1", 2)}
    util.return
  }}"""
    )
    reason = (
        "stream.resource.load of what the dispatch elementwise_D_f32 computes on the device "
        "(override elementwise_D_f32)"
    )
    assert workloads(trace) == [8, Unknown(reason), 1]
    assert not trace.stops


def test_a_branch_on_a_value_of_the_device_stops_there(run: Run) -> None:
    trace = run(
        f"""
  util.global private mutable @counter = 5 : index
  util.func private @inner() -> index {{{PROLOGUE}
    {dispatch("%c8", 0)}
    {READ_BACK}
    %v = stream.resource.load %ready[%c0] : !stream.resource<staging>{{%size}} -> i1
    cf.cond_br %v, ^yes, ^no
  ^yes:
    {dispatch("%c1", 1)}
    util.global.store %c0, @counter : index
    cf.br ^no
  ^no:
    util.return %c1 : index
  }}
  util.func public @f() {{{PROLOGUE}
    %m = util.call @inner() : () -> index
    %n = util.global.load @counter : index
    {dispatch("%m", 2)}
    {dispatch("%n", 3)}
    {dispatch("%c8", 4)}
    util.return
  }}"""
    )
    first, result, counter, last = workloads(trace)
    assert (first, last) == (8, 8)
    assert isinstance(result, Unknown) and isinstance(counter, Unknown)
    (stop,) = trace.stops
    assert not stop.initializer
    assert stop.pending == {KEY}
    assert stop.reason.startswith("a branch (cf.cond_br) on stream.resource.load of what the dispatch")


def test_what_comes_after_nothing_that_dispatches_is_not_pending(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f() {{{PROLOGUE}
    {dispatch("%c8", 0)}
    {READ_BACK}
    %v = stream.resource.load %ready[%c0] : !stream.resource<staging>{{%size}} -> i1
    cf.cond_br %v, ^end, ^end
  ^end:
    util.return
  }}"""
    )
    assert trace.stops == [], "the dispatch came before, and not in a loop"
    assert workloads(trace) == [8]


def test_an_endless_loop_is_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "STEP_LIMIT", 1000)
    trace = run(
        f"""
  util.func public @f() {{{PROLOGUE}
    cf.br ^loop
  ^loop:
    {dispatch("%c8")}
    cf.br ^loop
  }}"""
    )
    assert trace.dispatched
    assert trace.stops == [
        Stop(False, "a loop that has not ended after 1000 operations of the host program", frozenset({KEY}))
    ]


def test_an_operation_that_is_not_known_spoils_what_depends_on_it(run: Run) -> None:
    trace = run(
        f"""
  util.func private @import() -> index
  util.func public @f(%n: index) {{{PROLOGUE}
    %a = util.call @import() : () -> index
    %narrowed = util.numeric.optional_narrow %low : i32 as ui8
    %b = arith.index_cast %narrowed : i32 to index
    %known = arith.minui %n, %c8 : index
    %spoilt = arith.addi %a, %known : index
    {dispatch("%spoilt", 0)}
    {dispatch("%b", 1)}
    {dispatch("%known", 2)}
    util.return
  }}""",
        ["9"],
    )
    assert workloads(trace) == [
        Unknown("what the imported function @import returns"),
        Unknown("the result of util.numeric.optional_narrow"),
        8,
    ]


def test_an_operation_with_regions_that_is_not_known(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f(%n: index) {{{PROLOGUE}
    scf.for %i = %c0 to %n step %c1 {{
      {dispatch("%c8", 0)}
    }}
    {dispatch("%c1", 1)}
    util.return
  }}""",
        ["9"],
    )
    assert workloads(trace) == [1]
    assert trace.stops == [Stop(False, "the operation scf.for", frozenset({KEY}))]


def test_select_of_equal_values_is_known(run: Run) -> None:
    trace = run(
        f"""
  util.func private @import() -> i1
  util.func public @f() {{{PROLOGUE}
    %which = util.call @import() : () -> i1
    %same = arith.select %which, %c8, %c8 : index
    %other = arith.select %which, %c8, %c1 : index
    {dispatch("%same", 0)}
    {dispatch("%other", 1)}
    util.return
  }}"""
    )
    assert workloads(trace) == [8, Unknown("what the imported function @import returns")]


def test_several_results_that_are_not_known(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f(%n: i32) {{{PROLOGUE}
    %l, %h = arith.mului_extended %n, %low : i32
    %m = arith.index_cast %l : i32 to index
    %zero = util.align %c8, %c0 : index
    {dispatch("%m", 0)}
    {dispatch("%zero", 1)}
    {dispatch("%c1", 2)}
    util.return
  }}""",
        ["9"],
    )
    assert workloads(trace) == [Unknown("the result of arith.mului_extended"), Unknown("util.align to 0"), 1]


def test_a_choice_between_resources_that_is_not_known(run: Run) -> None:
    trace = run(
        f"""
  util.func private @import() -> i1
  util.func public @f() {{{PROLOGUE}
    %other, %tp2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{{%size}} => !stream.timepoint
    %which = util.call @import() : () -> i1
    %either = arith.select %which, %r, %other : !stream.resource<transient>
    %seven = arith.constant 7 : i32
    %filled = stream.cmd.execute on(#hal.device.affinity<@__device_0>) with(%either as %c: !stream.resource<transient>{{%size}}) {{
      stream.cmd.fill %seven, %c[%c0 for %size] : i32 -> !stream.resource<transient>{{%size}}
    }} => !stream.timepoint
    {READ_BACK}
    %v = stream.resource.load %ready[%c0] : !stream.resource<staging>{{%size}} -> i32
    %m = arith.index_cast %v : i32 to index
    {dispatch("%m")}
    util.return
  }}"""
    )
    (workload,) = workloads(trace)
    assert isinstance(workload, Unknown)


def test_what_initializers_call_runs_once(run: Run) -> None:
    trace = run(
        f"""
  util.func private @fill(%n: index) {{{PROLOGUE}
    {dispatch("%n")}
    util.return
  }}
  util.initializer {{
    %c5 = arith.constant 5 : index
    util.call @fill(%c5) : (index) -> ()
    util.return
  }}
  util.func public @f() {{
    %c6 = arith.constant 6 : index
    util.call @fill(%c6) : (index) -> ()
    util.return
  }}"""
    )
    assert [(each.initializer, each.workload) for each in trace.dispatched] == [(True, (5,)), (False, (6,))]


def test_affine(run: Run) -> None:
    trace = run(
        f"""
  util.func public @f(%n: index, %s: index) {{{PROLOGUE}
    %a = affine.apply affine_map<(d0)[s0] -> ((d0 ceildiv 4) * 4 + s0 mod 3)>(%n)[%s]
    %b = affine.min affine_map<(d0) -> (d0, 6)>(%n)
    %c = affine.max affine_map<(d0) -> (d0 floordiv 2 - 100, 2)>(%n)
    {dispatch("%a", 0)}
    {dispatch("%b", 1)}
    {dispatch("%c", 2)}
    util.return
  }}""",
        ["9", "8"],
    )
    assert workloads(trace) == [14, 6, 2]


def test_the_programs_own_checks(run: Run) -> None:
    program = f"""
  util.func public @f(%n: index) {{{PROLOGUE}
    %m = util.assume.int %n[<umin = 1, umax = 8>, <umin = 64, umax = 128, udiv = 16>] : index
    %fits = arith.cmpi ult, %m, %size : index
    %odd = arith.andi %m, %c1 : index
    %even = arith.cmpi eq, %odd, %c0 : index
    cf.assert %even, "an even size is needed"
    {dispatch("%m")}
    util.return
  }}"""
    assert workloads(run(program, ["8"])) == [8]
    assert workloads(run(program, ["96"])) == [96]
    with pytest.raises(ShapeError, match=r"is 9; the program assumes 1 to 8 or 64 to 128, a multiple of 16"):
        run(program, ["9"])
    with pytest.raises(ShapeError, match=r"an even size is needed \(cf.assert\)"):
        run(program, ["5"])


def test_sizes_that_64_bits_do_not_hold(run: Run) -> None:
    program = f"""
  util.func public @f(%n: index, %i: i64) {{{PROLOGUE}
    %hash = arith.muli %i, %i : i64
    %three = arith.constant 3 : i64
    %small = arith.remui %hash, %three : i64
    %rest = arith.index_cast %small : i64 to index
    %m = arith.muli %n, %c8 : index
    %more = affine.apply affine_map<()[s0, s1] -> (s0 * 8 + s1 - 8)>()[%m, %c8]
    %aligned = util.align %more, %c8 : index
    %sum = arith.addi %aligned, %rest : index
    {dispatch("%sum")}
    util.return
  }}"""
    assert workloads(run(program, ["4", "1"])) == [257]
    assert workloads(run(program, ["4", str(1 << 33)])) == [256], "what is no size may wrap"
    for size, message in (
        (1 << 61, rf"would have a size that does not fit 64 bits \({1 << 61} x 8\)"),
        (1 << 57, rf"does not fit 64 bits \(affine.apply of {1 << 60}, 8\)"),
        (-1, "elementwise_D_f32 would have the size -63"),
    ):
        with pytest.raises(ShapeError, match=message):
            run(program, [str(size), "1"])


def test_bindings_that_64_bits_do_not_hold(run: Run) -> None:
    program = f"""
  util.func public @f(%size: index) {{{PROLOGUE.replace("%size =", "%small =")}
    {dispatch("%c8")}
    util.return
  }}"""
    assert workloads(run(program, [str(1 << 61)])) == [8]
    with pytest.raises(ShapeError, match=f"would have bindings of {3 << 62} bytes"):
        run(program, [str(1 << 62)])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["42x63xf32", "64x128xf32", "128x32xf32"], "input 0 has the shape 42x63; the program expects 42x64"),
        (["42x64xf32", "64x128xf32", "128x32x1xf32"], "input 2 has the shape 128x32x1; the program expects 128x32"),
    ],
)
def test_shapes_that_the_program_refuses(
    inputs: list[str], message: str, configured: Configured, models_dir: Path
) -> None:
    module = configured.module(models_dir / "mlp.mlir")
    with ir.read_module(module) as operation, pytest.raises(ShapeError, match=message):
        evaluate(Program(operation), "main", inputs)


def test_a_wrong_number_of_inputs(run: Run) -> None:
    program = "util.func public @f(%n: index) { util.return }"
    with pytest.raises(ModelError, match="@f takes more than 0 inputs"):
        run(program)
    with pytest.raises(ModelError, match="@f takes 1 inputs, but 2 are given"):
        run(program, ["1", "2"])


@pytest.mark.parametrize(
    ("model", "inputs", "inputs_of_dispatches"),
    [
        ("embed", ["3x5xi64", "1000x256xf32"], [{0, 1}]),
        ("mlp", ["5x64xf32", "64x128xf32", "128x32xf32"], [{0, 1}, {2}]),
    ],
)
def test_bindings_that_hold_an_input_are_known(
    model: str, inputs: list[str], inputs_of_dispatches: list[set[int]], configured: Configured, models_dir: Path
) -> None:
    with ir.read_module(configured.module(models_dir / f"{model}.mlir")) as module:
        found = evaluate(Program(module), "main", inputs).dispatched
    origins = [[origin for origin in each.origins if origin is not None] for each in found]
    assert [{origin.input for origin in each} for each in origins] == inputs_of_dispatches
    assert all(origin.offset == 0 for each in origins for origin in each)
    assert all(each.origins[-1] is None for each in found), "outputs hold no input"


@pytest.mark.parametrize("values", ["", "=@ids.bin"])
def test_inputs_whose_values_are_not_known(values: str, configured: Configured, models_dir: Path) -> None:
    with ir.read_module(configured.module(models_dir / "datadep.mlir")) as module:
        (found,) = evaluate(Program(module), "main", ["64xf32", f"2xi64{values}"]).dispatched
    (reason,) = {value.reason for value in found.workload if isinstance(value, Unknown)}
    assert reason == f"stream.resource.load of the contents of input 1, {NOT_GIVEN}"
