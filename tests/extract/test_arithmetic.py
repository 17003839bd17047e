"""Where sizes come from, in host programs of a few operations: what is followed, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.errors import ShapeError
from dispatchgen.extract.arithmetic import Arithmetic, At, Refused
from dispatchgen.extract.arithmetic_function import ArithmeticFunction
from dispatchgen.extract.evaluate import HANDLERS
from dispatchgen.extract.evaluator import Evaluator
from dispatchgen.extract.program import Program
from dispatchgen.iree import ir
from dispatchgen.manifest.inputs import parse_input

#: What `@main` is called with.
INPUTS = ("BxSx4xf32", "index=N", "i32=M")
SYMBOLS = ("B", "S", "N", "M")
HEAD = "util.func public @main(%view: !hal.buffer_view, %n: index, %m: i32)"
DIMS = """
  %b = hal.buffer_view.dim<%view : !hal.buffer_view>[0] : index
  %s = hal.buffer_view.dim<%view : !hal.buffer_view>[1] : index
"""


def sizes(text: str, *values: int) -> list[object]:
    """What the function that is made of the results of `@main` gives for sizes of the symbols. Raises Refused."""
    with ir.parse_module(text) as module:
        program = Program(module)
        arithmetic = Arithmetic(program, "main")
        function = ArithmeticFunction(arithmetic, [parse_input(each) for each in INPUTS], SYMBOLS)
        (end,) = ir.walk(program.functions["main"], "util.return")
        results = [function.value(At(value)) for value in end.operands]
        for check, chain in arithmetic.checks:
            function.check(check, chain)
        made = function.finish(results)
        assert made.verify()
        names = {op.name for op in ir.walk(made)}
        # Nothing else of the program is in it.
        assert not names & {"util.call", "util.global.load", "hal.buffer_view.dim", "util.assume.int", "cf.br"}
        return list(Evaluator(Program(made), HANDLERS).call("sizes", values))


def program(body: str, types: str, *others: str) -> str:
    """A module with a `@main` that returns values of these types."""
    return "\n".join(["module {", *others, f"{HEAD} -> ({types}) {{", body, "}", "}"])


def test_dims_scalars_and_constants() -> None:
    body = f"""{DIMS}
      %four = hal.buffer_view.dim<%view : !hal.buffer_view>[2] : index
      %c7 = arith.constant 7 : i32
      util.return %b, %s, %four, %n, %m, %c7 : index, index, index, index, i32, i32
    """
    assert sizes(program(body, "index, index, index, index, i32, i32"), 2, 3, 5, (1 << 32) + 6) == [2, 3, 4, 5, 6, 7]


@given(b=st.integers(0, 1 << 20), s=st.integers(0, 1 << 20))
def test_arithmetic_is_kept(b: int, s: int) -> None:
    body = f"""{DIMS}
      %c3 = arith.constant 3 : index
      %c16 = arith.constant 16 : index
      %product = arith.muli %b, %c3 : index
      %aligned = util.align %product, %c16 : index
      %mapped = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv 16 + s0)>(%s)[%b]
      %is_large = arith.cmpi ugt, %b, %s : index
      %larger = arith.select %is_large, %b, %s : index
      %wide = arith.index_castui %s : index to i64
      %float = arith.uitofp %wide : i64 to f32
      %half = arith.constant 5.000000e-01 : f32
      %scaled = arith.mulf %float, %half : f32
      %ceil = math.ceil %scaled : f32
      %halved = arith.fptoui %ceil : f32 to i64
      util.return %aligned, %mapped, %larger, %halved : index, index, index, i64
    """
    found = sizes(program(body, "index, index, index, i64"), b, s, 0, 0)
    assert found == [-(-b * 3 // 16) * 16, -(-s // 16) + b, max(b, s), -(-s // 2)]


def test_calls_are_followed_into_and_out_of() -> None:
    twice = """util.func private @twice(%view: !hal.buffer_view, %a: index) -> (index, index) {
      %s = hal.buffer_view.dim<%view : !hal.buffer_view>[1] : index
      %two = arith.constant 2 : index
      %0 = arith.muli %a, %two : index
      util.return %0, %s : index, index
    }"""
    body = """
      %0:2 = util.call @twice(%view, %n) : (!hal.buffer_view, index) -> (index, index)
      %1:2 = util.call @twice(%view, %0#0) : (!hal.buffer_view, index) -> (index, index)
      %2 = util.optimization_barrier %1#0 : index
      util.return %2, %1#1 : index, index
    """
    assert sizes(program(body, "index, index", twice), 1, 9, 5, 0) == [20, 9]


def test_globals_that_never_change_are_known() -> None:
    others = """
      util.global private @constant = 6 : index
      util.global private @stored : index
      util.initializer {
        %c3 = arith.constant 3 : index
        %constant = util.global.load @constant : index
        %sum = arith.addi %c3, %constant : index
        util.global.store %sum, @stored : index
        util.return
      }"""
    body = """
      %0 = util.global.load immutable @constant : index
      %1 = util.global.load @stored : index
      util.return %0, %1 : index, index
    """
    assert sizes(program(body, "index, index", others), 1, 1, 1, 1) == [6, 9]


LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^loop(%c0 : index)
^loop(%i: index):
  %next = arith.addi %i, %c1 : index
  %more = arith.cmpi ult, %next, %n : index
  cf.cond_br %more, ^loop(%next : index), ^end
^end:
  util.return %i : index
"""
BRANCH = """
  %c0 = arith.constant 0 : index
  %is_zero = arith.cmpi eq, %n, %c0 : index
  cf.cond_br %is_zero, ^end(%c0 : index), ^other
^other:
  cf.br ^end(%n : index)
^end(%0: index):
  util.return %0 : index
"""
TWO_RETURNS = """util.func private @callee(%a: index) -> index {
  %c0 = arith.constant 0 : index
  %is_zero = arith.cmpi eq, %a, %c0 : index
  cf.cond_br %is_zero, ^one, ^other
^one:
  util.return %c0 : index
^other:
  util.return %a : index
}"""
RECURSIVE = """util.func private @callee(%a: index) -> index {
  %0 = util.call @callee(%a) : (index) -> index
  util.return %0 : index
}"""
CALL = """
  %0 = util.call @callee(%n) : (index) -> index
  util.return %0 : index
"""
READ = """
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %memory = util.call @callee() : () -> !stream.resource<staging>
  %0 = stream.resource.load %memory[%c0] : !stream.resource<staging>{%c8} -> i32
  %1 = arith.index_cast %0 : i32 to index
  util.return %1 : index
"""
OTHER_VIEW = """
  %other = util.call @callee() : () -> !hal.buffer_view
  %0 = hal.buffer_view.dim<%other : !hal.buffer_view>[0] : index
  util.return %0 : index
"""
GLOBAL = """
  %0 = util.global.load @size : index
  util.return %0 : index
"""
STORES = """util.global private @size : index
util.initializer {
  %c3 = arith.constant 3 : index
  util.global.store %c3, @size : index
  util.global.store %c3, @size : index
  util.return
}"""


@pytest.mark.parametrize(
    ("body", "others", "reason"),
    [
        (LOOP, "", "a value that a loop carries"),
        (BRANCH, "", "a value that a branch chooses"),
        (CALL, TWO_RETURNS, "a value that a branch chooses"),
        (CALL, RECURSIVE, "what more than 16 calls within each other return"),
        (CALL, "util.func private @callee(index) -> index", "what the imported function @callee returns"),
        (
            READ,
            "util.func private @callee() -> !stream.resource<staging>",
            "what is read back from the device's memory",
        ),
        (OTHER_VIEW, "util.func private @callee() -> !hal.buffer_view", "a dim of a tensor that is no input"),
        (GLOBAL, "util.global private mutable @size = 3 : index", "the mutable global @size"),
        (GLOBAL, STORES, "the global @size"),
    ],
)
def test_what_is_no_function_of_the_sizes_is_refused(body: str, others: str, reason: str) -> None:
    with pytest.raises(Refused) as raised:
        sizes(program(body, "index", others), 1, 1, 1, 1)
    assert str(raised.value) == reason


ASSUMED = f"""{DIMS}
  %0 = util.assume.int %b[<umin = 1, umax = 3>, <umin = 8, umax = 64, udiv = 8>] : index
  %1 = util.assume.int %s[<umin = 2, umax = 9>, <>] : index
  %two = arith.constant 2 : index
  %even = arith.remui %s, %two : index
  %is_even = arith.cmpi eq, %even, %n : index
  cf.assert %is_even, "half of S"
  util.return %0, %1 : index, index
"""


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((1, 2, 0, 0), None),
        ((3, 10, 0, 0), None),  # an alternative without bounds admits all
        ((8, 3, 1, 0), None),
        ((4, 2, 0, 0), "dim 0 of input 0 is not what the program assumes: 1 to 3 or 8 to 64, a multiple of 8"),
        ((12, 2, 0, 0), "dim 0 of input 0 is not what the program assumes: 1 to 3 or 8 to 64, a multiple of 8"),
        ((8, 3, 0, 0), "half of S"),
    ],
)
def test_what_the_program_assumes_and_asserts_is_asserted(values: tuple[int, ...], reason: str | None) -> None:
    text = program(ASSUMED, "index, index")
    if reason is None:
        assert sizes(text, *values) == list(values[:2])
        return
    with pytest.raises(ShapeError) as raised:
        sizes(text, *values)
    assert f"the program's own check fails: {reason}" in str(raised.value)


def test_dims_that_have_to_be_equal_are_asserted() -> None:
    body = f"""{DIMS}
      %c4 = arith.constant 4 : index
      %type = hal.element_type<f32> : i32
      %encoding = hal.encoding_type<dense_row_major> : i32
      hal.buffer_view.assert<%view : !hal.buffer_view> message("input0") shape([%s, %s, %c4]) type(%type)
        encoding(%encoding)
      util.return %s : index
    """
    assert sizes(program(body, "index"), 3, 3, 0, 0) == [3]
    with pytest.raises(ShapeError, match="input0 does not have the shape that is expected"):
        sizes(program(body, "index"), 3, 4, 0, 0)


def test_chains_of_calls() -> None:
    others = """util.func private @inner() { util.return }
    util.func private @outer() {
      util.call @inner() : () -> ()
      util.call @inner() : () -> ()
      util.return
    }"""
    body = """
      util.call @outer() : () -> ()
      util.call @outer() : () -> ()
      util.call @inner() : () -> ()
      util.return
    """
    with ir.parse_module(program(body, "", others)) as module:
        arithmetic = Arithmetic(Program(module), "main")
        assert arithmetic.chains("main") == [()]
        assert sorted(map(len, arithmetic.chains("inner"))) == [1, 2, 2, 2, 2]
        assert len(set(arithmetic.chains("inner"))) == 5


def test_too_many_chains_are_refused() -> None:
    functions = ["util.func private @f0() { util.return }"]
    for i in range(8):
        call = f"util.call @f{i}() : () -> ()"
        functions.append(f"util.func private @f{i + 1}() {{\n{call}\n{call}\nutil.return\n}}")
    body = "util.call @f8() : () -> ()\nutil.return"
    with (
        ir.parse_module(program(body, "", *functions)) as module,
        pytest.raises(Refused, match="what more than 16 calls within each other, or 64 of them, pass on"),
    ):
        Arithmetic(Program(module), "main").chains("f0")
