"""Sizes as expressions of C and GLSL."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.iree import ir
from dispatchgen.kernel_template.sizes import (
    Number,
    Operation,
    PushConstant,
    Size,
    Variable,
    Workload,
    c_text,
    glsl_text,
    product,
    read_size,
    workloads,
)

_LOW, _HIGH = PushConstant(0), PushConstant(1)
_LONG = Operation("|", _LOW, Operation("<<", _HIGH, Number(32)))
_N = Workload(0, _LONG)


@pytest.mark.parametrize(
    ("size", "c", "glsl"),
    [
        (Number(12), "12", "12u"),
        (Number(1 << 40), "UINT64_C(1099511627776)", "0u"),
        (_LONG, "(uint64_t)constant0 | ((uint64_t)constant1 << 32)", "constant0"),
        (Operation("*", _N, Number(64)), "workload0 * 64", "workload0 * 64u"),
        (
            Operation("*", Operation("+", Variable("i"), Number(1)), Number(3)),
            "(i + 1) * 3",
            "(i + 1u) * 3u",
        ),
        (Operation("-", _LOW, Operation("-", _HIGH, Number(1))), None, "constant0 - (constant1 - 1u)"),
        (Operation(">>", _HIGH, Number(32)), None, "0u"),
    ],
)
def test_text(size: Size, c: str | None, glsl: str) -> None:
    assert c is None or c_text(size) == c
    assert glsl_text(size) == glsl


def test_products() -> None:
    assert product([]) == Number(1)
    assert product([Number(2), Number(3)]) == Number(6)
    assert product([Number(2), _N, Number(3)]) == Operation("*", _N, Number(6))
    assert product([_N, Number(0)]) == Number(0)
    assert product([_N, Number(1)]) == _N


def test_workloads() -> None:
    nested = Workload(1, Operation("+", _N, PushConstant(2)))
    assert workloads(Operation("*", nested, Number(2))) == {0: _LONG, 1: nested.definition}


_CONSTANTS = (3, 5, 7)
_SIZES = st.recursive(
    st.integers(0, 40).map(Number) | st.sampled_from([PushConstant(i) for i in range(3)]),
    lambda sizes: st.builds(Operation, st.sampled_from(["+", "-", "*", "|"]), sizes, sizes),
    max_leaves=12,
)


def value(size: Size) -> int:
    match size:
        case Number(number):
            return number
        case PushConstant(ordinal):
            return _CONSTANTS[ordinal]
        case Operation(operator, left, right):
            values = value(left), value(right)
            return {
                "+": values[0] + values[1],
                "-": values[0] - values[1],
                "*": values[0] * values[1],
                "|": values[0] | values[1],
            }[operator]
    raise AssertionError(size)


@given(_SIZES)
def test_parentheses_are_where_they_are_needed(size: Size) -> None:
    c = re.sub(r"\(uint64_t\)constant(\d)", lambda match: str(_CONSTANTS[int(match[1])]), c_text(size))
    assert eval(c) == value(size)
    glsl = re.sub(r"constant(\d)", lambda match: str(_CONSTANTS[int(match[1])]), glsl_text(size))
    assert eval(re.sub(r"\b(\d+)u\b", r"\1", glsl)) == value(size)


def test_reading() -> None:
    layout = "layout(<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer>]>)"
    program = f"""
      func.func private @use(index, index, index, index)
      func.func @kernel(%argument: index) {{
        %c32 = arith.constant 32 : i64
        %minus = arith.constant -1 : index
        %0 = hal.interface.constant.load {layout} ordinal(0) : i32
        %1 = hal.interface.constant.load {layout} ordinal(1) : i32
        %2 = arith.extui %0 : i32 to i64
        %3 = arith.extui %1 : i32 to i64
        %4 = arith.shli %3, %c32 : i64
        %5 = arith.ori %2, %4 : i64
        %6 = arith.index_castui %5 : i64 to index
        %7 = util.assume.int %6<umin = 1, umax = 4096> : index
        %8 = iree_tensor_ext.dispatch.workload.ordinal %7, 0 : index
        %9 = affine.apply affine_map<(d0)[s0] -> ((d0 + s0) ceildiv 16)>(%8)[%c16]
        %10 = arith.addi %argument, %8 : index
        %11 = arith.addi %minus, %8 : index
        func.call @use(%8, %9, %10, %11) : (index, index, index, index) -> ()
        return
      }}
    """.replace("%c32 =", "%c16 = arith.constant 16 : index\n%c32 =")
    with ir.parse_module(program) as module:
        (call,) = ir.walk(module, "func.call")
        plain, applied, of_argument, negative = (read_size(operand) for operand in call.operands)
    assert plain == _N
    assert applied is not None
    assert c_text(applied) == "(workload0 + 16 + (16 - 1)) / 16"
    assert of_argument is None
    assert negative is None
