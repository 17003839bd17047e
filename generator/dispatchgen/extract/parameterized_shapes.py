"""What a dynamic dispatch's benchmark module tells of itself: the JSON that its function `@__shapes` returns."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from dispatchgen.extract.parameterized import AnySize
from dispatchgen.extract.schema import Benchmark, Data

#: Version of the format.
SHAPES_VERSION = 1


class ListedShape(Data):
    """A call of the model."""

    label: str = Field(
        description="Name of the call: `<shape>`, or `<function>__<shape>` where the model has several entry functions."
    )
    symbols: dict[str, int] = Field(description="The size of each symbol.")


class ListedFunction(Data):
    """A benchmark."""

    name: str = Field(description="The function, which takes the batch size (i32) alone.")
    shapes: tuple[ListedShape, ...] = Field(description="The calls that dispatch with these sizes.")


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
    """What the module of a dispatch holds."""
    symbols = {call.name: call.symbols for call in any_size.calls}
    return ModuleShapes(
        dispatch=dispatch,
        functions=tuple(_listed(benchmark, symbols) for benchmark in benchmarks),
        parameterized=tuple(
            SizedFunction(name=each.name, symbols=each.function.symbols, limits=each.limits)
            for each in any_size.functions
        ),
        unparameterized=any_size.reason,
        capacities=tuple(capacities),
    )


def _listed(benchmark: Benchmark, symbols: dict[str, dict[str, int]]) -> ListedFunction:
    calls = [call for call in benchmark.counts if call in symbols]
    shapes = tuple(ListedShape(label=call, symbols=symbols[call]) for call in calls)
    return ListedFunction(name=benchmark.name, shapes=shapes)
