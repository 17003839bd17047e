"""What a dynamic dispatch's benchmark module has besides its benchmarks: functions that take sizes, and what it holds.

    util.func public @<dispatch>__dims(%batch_size: i32, %size0: i64, ...)
    util.func public @__shapes() -> !util.buffer

The first has no `iree.benchmark`: a plain run of iree-benchmark-module leaves it out. The second returns a
`ModuleShapes` as JSON; that tool leaves out all names that start with `__`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dispatchgen.extract import commands
from dispatchgen.extract.dispatching import Operands, Target, dispatching_function
from dispatchgen.extract.layout import Layout
from dispatchgen.extract.parameterized import AnySize, Named, SizesFunction
from dispatchgen.extract.parameterized_shapes import ModuleShapes, module_shapes
from dispatchgen.extract.schema import Benchmark

#: Of `iree_status_code_t`.
_OUT_OF_RANGE = 11


def any_size_functions(
    dispatch: str, benchmarks: Sequence[Benchmark], any_size: AnySize, layout: Layout, target: Target
) -> Iterator[str]:
    """The functions, as text, of a dispatch that has these benchmarks."""
    for each in any_size.functions:
        yield _dispatching(dispatch, each, layout, target)
    yield _query(module_shapes(dispatch, benchmarks, any_size, layout.capacities))


def _dispatching(dispatch: str, named: Named, layout: Layout, target: Target) -> str:
    """The function that takes sizes, refuses those that are beyond the limits, and dispatches."""
    symbols = named.function.symbols
    arguments = ", ".join(["%batch_size: i32", *(f"%size{index}: i64" for index in range(len(symbols)))])
    lines = [f"%out_of_range = arith.constant {_OUT_OF_RANGE} : i32"]
    for index, symbol in enumerate(symbols):
        if symbol in named.limits:
            limit = named.limits[symbol]
            text = f"{dispatch}: {symbol} is not between 0 and {limit}, the largest size that is listed"
            lines += _check(f"size{index}", f"%size{index}", named.limits[symbol], "i64", text)
    arithmetic, results = _inlined(named.function)
    first_length = len(results) - len(layout.offsets)
    lengths = results[first_length:]
    lines += arithmetic
    for index, (length, capacity) in enumerate(zip(lengths, layout.capacities, strict=True)):
        text = f"{dispatch}: binding {index} takes more than {capacity} bytes, the most that a listed shape needs"
        lines += _check(f"length{index}", length, capacity, "index", text)
    operands = Operands(
        [*lines, *commands.indices("offset", layout.offsets)],
        workload=results[: named.function.workload],
        constants=results[named.function.workload : first_length],
        offsets=[f"%offset{index}" for index in range(len(layout.offsets))],
        lengths=lengths,
    )
    return dispatching_function(f"@{named.name}({arguments}) attributes {{iree.abi.stub}}", operands, target)


#: A string, in which nothing is a value, or a value.
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|%(?P<name>[A-Za-z0-9_$.-]+)')


def _inlined(function: SizesFunction) -> tuple[list[str], list[str]]:
    """The lines of a function and the values that it returns; its arguments are `%size0`...

    It cannot be called: `iree-util-ipo` of IREE 3.13 breaks calls of functions that return a value twice.
    """
    _, *lines, end, _ = function.text.splitlines()
    renamed = [_VALUE.sub(_renamed, line.strip()) for line in (*lines, end)]
    return renamed[:-1], [match[0] for match in _VALUE.finditer(renamed[-1])]


def _renamed(match: re.Match[str]) -> str:
    name = match["name"]
    if name is None:
        return match[0]
    return f"%size{name.removeprefix('arg')}" if name.startswith("arg") else f"%arithmetic_{name}"


def _check(name: str, value: str, limit: int, type_: str, text: str) -> list[str]:
    """Lines that end the function with OUT_OF_RANGE where an unsigned value is beyond a limit.

    A status that the compiler can tell to be OK would be an error to it; a condition that never holds is none.
    """
    return [
        f"%{name}_limit = arith.constant {limit} : {type_}",
        f"%{name}_is_beyond = arith.cmpi ugt, {value}, %{name}_limit : {type_}",
        f"scf.if %{name}_is_beyond {{",
        f'  util.status.check_ok %out_of_range, "{text}"',
        "}",
    ]


def _query(shapes: ModuleShapes) -> str:
    """The function that returns what the module holds."""
    text = shapes.model_dump_json().replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
util.func public @__shapes() -> !util.buffer attributes {{iree.abi.stub}} {{
  %shapes = util.buffer.constant : !util.buffer = "{text}"
  util.return %shapes : !util.buffer
}}"""
