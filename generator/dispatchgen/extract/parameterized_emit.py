"""What a dynamic dispatch's benchmark module has besides its benchmarks: functions that take sizes, and what it holds.

    util.func public @<dispatch>__dims(%batch_size: i32, %size0: i64, ...)
    util.func public @__shapes() -> !util.buffer

The first has no `iree.benchmark`: a plain run of iree-benchmark-module leaves it out. The second returns a
`ModuleShapes` as JSON; that tool leaves out all names that start with `__`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from dispatchgen.extract import commands
from dispatchgen.extract.dispatching import Target, dispatching_function
from dispatchgen.extract.evaluator import arguments_and_results
from dispatchgen.extract.layout import Layout
from dispatchgen.extract.parameterized import SizesFunction
from dispatchgen.extract.schema import Benchmark, Call, Data

#: Version of the format of `ModuleShapes`.
SHAPES_VERSION = 1
#: `iree_status_code_t`.
_OK, _OUT_OF_RANGE = 0, 11


class ListedShape(Data):
    """A call of the model."""

    label: str = Field(
        description="Name of the call: the shape's label, `<function>__<label>` where there are several."
    )
    symbols: dict[str, int]


class ListedFunction(Data):
    """A benchmark: a function that takes the batch size (i32) alone."""

    name: str
    shapes: tuple[ListedShape, ...] = Field(description="The calls that dispatch with these sizes.")


class SizedFunction(Data):
    """A function that takes the batch size (i32) and a size (i64) for each symbol."""

    name: str
    symbols: tuple[str, ...] = Field(description="The symbols, in the order of the arguments.")
    limits: dict[str, int] = Field(
        description="The largest size of each symbol that the dispatch depends on; the others are ignored."
    )


class ModuleShapes(Data):
    """What `@__shapes` returns, as JSON in UTF-8."""

    version: int = SHAPES_VERSION
    dispatch: str = Field(description="Stable name of the dispatch.")
    functions: tuple[ListedFunction, ...]
    parameterized: tuple[SizedFunction, ...] = Field(default=(), description="Empty: only listed shapes exist.")
    unparameterized: str | None = Field(
        default=None, description="Why there are places that dispatch it with sizes that no such function computes."
    )
    capacities: tuple[int, ...] = Field(description="Most bytes of each binding: those of the largest listed shape.")


@dataclass(frozen=True)
class Sized:
    """A function of a benchmark module that takes sizes."""

    name: str
    function: SizesFunction
    limits: Mapping[str, int]  #: Of the symbols that the sizes depend on.


@dataclass(frozen=True)
class AnySize:
    """What a dynamic dispatch's benchmark module is to have besides its benchmarks."""

    calls: Sequence[Call]
    functions: Sequence[Sized]
    unparameterized: str | None

    def shapes(self, dispatch: str, benchmarks: Sequence[Benchmark], layout: Layout) -> ModuleShapes:
        """What the module holds."""
        symbols = {call.name: call.symbols for call in self.calls}
        return ModuleShapes(
            dispatch=dispatch,
            functions=tuple(
                ListedFunction(
                    name=each.name,
                    shapes=tuple(
                        ListedShape(label=call, symbols=symbols[call]) for call in each.counts if call in symbols
                    ),
                )
                for each in benchmarks
            ),
            parameterized=tuple(
                SizedFunction(name=each.name, symbols=each.function.symbols, limits=dict(each.limits))
                for each in self.functions
            ),
            unparameterized=self.unparameterized,
            capacities=layout.capacities,
        )

    def parts(self, dispatch: str, benchmarks: Sequence[Benchmark], layout: Layout, target: Target) -> Iterator[str]:
        """The functions, as text."""
        for each in self.functions:
            yield each.function.text.replace("@sizes(", f"@{each.name}_sizes(", 1)
            yield _dispatching(dispatch, each, layout, target)
        yield _query(self.shapes(dispatch, benchmarks, layout))


def _dispatching(dispatch: str, sized: Sized, layout: Layout, target: Target) -> str:
    """The function that takes sizes, refuses those that are beyond the limits, and dispatches."""
    symbols = sized.function.symbols
    arguments = ", ".join(["%batch_size: i32", *(f"%size{index}: i64" for index in range(len(symbols)))])
    lines = [f"%ok = arith.constant {_OK} : i32", f"%out_of_range = arith.constant {_OUT_OF_RANGE} : i32"]
    for index, symbol in enumerate(symbols):
        if symbol in sized.limits:
            limit = sized.limits[symbol]
            text = f"{dispatch}: {symbol} is more than {limit}, the largest size that is listed"
            lines += _check(f"size{index}", limit, "i64", text)
    names = [f"%{prefix}{index}" for prefix, count in _operands(target) for index in range(count)]
    types = arguments_and_results(sized.function.function)[1]
    passed = ", ".join(f"%size{index}" for index in range(len(symbols)))
    signature = f"({', '.join(['i64'] * len(symbols))}) -> ({', '.join(types)})"
    lines.append(f"{', '.join(names)} = util.call @{sized.name}_sizes({passed}) : {signature}")
    for index, capacity in enumerate(layout.capacities):
        text = f"{dispatch}: binding {index} is more than {capacity} bytes, which the largest listed shape needs"
        lines += _check(f"length{index}", capacity, "index", text)
    lines += commands.indices("offset", layout.offsets)
    return dispatching_function(f"@{sized.name}({arguments}) attributes {{iree.abi.stub}}", lines, target)


def _operands(target: Target) -> list[tuple[str, int]]:
    return [("workload", target.workload), ("constant", target.constants), ("length", target.bindings)]


def _check(value: str, limit: int, type_: str, text: str) -> list[str]:
    """Lines that end the function with OUT_OF_RANGE where an unsigned value is beyond a limit."""
    return [
        f"%{value}_limit = arith.constant {limit} : {type_}",
        f"%{value}_fits = arith.cmpi ule, %{value}, %{value}_limit : {type_}",
        f"%{value}_status = arith.select %{value}_fits, %ok, %out_of_range : i32",
        f'util.status.check_ok %{value}_status, "{text}"',
    ]


def _query(shapes: ModuleShapes) -> str:
    """The function that returns what the module holds."""
    text = shapes.model_dump_json().replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
util.func public @__shapes() -> !util.buffer attributes {{iree.abi.stub}} {{
  %shapes = util.buffer.constant : !util.buffer = "{text}"
  util.return %shapes : !util.buffer
}}"""
