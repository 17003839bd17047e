"""What a dynamic dispatch's benchmark module tells of itself: the JSON that its function `@__shapes` returns."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from dispatchgen.extract.parameterized import AnySize
from dispatchgen.extract.schema import Benchmark, Data

#: Version of the format.
SHAPES_VERSION = 1


class ListedFunction(Data):
    """A benchmark."""

    name: str = Field(description="The function, which takes the batch size (i32) alone.")
    label: str = Field(
        description="Its call, `<shape>` or `<function>__<shape>`, or the label of its profile; `_2`... for more sizes "
        "of the same."
    )
    symbols: dict[str, int] = Field(description="The sizes that it is of, of the symbols that the dispatch depends on.")


class SizedFunction(Data):
    """A function that takes sizes."""

    name: str = Field(description="The function, which takes the batch size (i32) and a size (i64) for each symbol.")
    symbols: tuple[str, ...] = Field(description="The symbols, in the order of the arguments.")
    limits: dict[str, int] = Field(
        description="The largest size of each symbol that the dispatch depends on; the others are ignored."
    )


class ModuleShapes(Data):
    """The whole text."""

    version: int = Field(default=SHAPES_VERSION, description="Version of this format.")
    dispatch: str = Field(description="Stable name of the dispatch.")
    functions: tuple[ListedFunction, ...] = Field(description="The listed shapes: a benchmark each.")
    parameterized: tuple[SizedFunction, ...] = Field(
        description="The functions that take sizes. Empty: only listed shapes exist."
    )
    unparameterized: str | None = Field(
        description="Why there are places that dispatch it with sizes that no such function computes; null: there are "
        "none."
    )
    capacities: tuple[int, ...] = Field(description="Most bytes of each binding: those of the largest listed shape.")


def module_shapes(
    dispatch: str, benchmarks: Sequence[Benchmark], any_size: AnySize, capacities: Sequence[int]
) -> ModuleShapes:
    """What the module of a dispatch holds.

    Nothing of shapes that give it no other sizes: with these it would change, and be compiled again.
    """
    return ModuleShapes(
        dispatch=dispatch,
        functions=tuple(_listed(dispatch, benchmark, any_size) for benchmark in benchmarks),
        parameterized=tuple(
            SizedFunction(name=each.name, symbols=each.function.symbols, limits=each.limits)
            for each in any_size.functions
        ),
        unparameterized=any_size.reason,
        capacities=tuple(capacities),
    )


def _listed(dispatch: str, benchmark: Benchmark, any_size: AnySize) -> ListedFunction:
    used = {symbol for each in any_size.functions for symbol in each.limits}
    symbols = next((call.symbols for call in any_size.calls if call.name in benchmark.counts), {})
    return ListedFunction(
        name=benchmark.name,
        label=benchmark.name.removeprefix(dispatch).removeprefix("__"),
        symbols={symbol: size for symbol, size in symbols.items() if symbol in used or not used},
    )
