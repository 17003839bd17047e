"""The check module: a substitute beside the kernel that it replaces, each run on buffers of its own.

The module has a function for each benchmark of the dispatch. It takes the buffers as buffer views of bytes: of each
binding the original's, then the substitute's. It runs both kernels and returns what `outputs` lists. Who calls it fills
the buffers equally and compares what comes back. Around each binding lie guard bytes: a kernel that writes past a
binding is found even where nothing crashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import indent
from typing import Literal

from pydantic import Field

from dispatchgen.agreement import elements
from dispatchgen.extract import commands
from dispatchgen.extract.schema import Benchmark, Data, Dispatch
from dispatchgen.iree import ir
from dispatchgen.iree.ir import symbol_text

#: Version of the format of `<dispatch>.check.json`.
CHECK_VERSION = 1
#: Bytes before and behind each binding; a multiple of the largest alignment that IREE's devices ask for.
GUARD = 1024

#: The two kernels, in the order in which they run and in which a function takes their buffers.
Which = Literal["original", "substitute"]
Values = Literal["random", "zeros", "booleans"]


class Piece(Data):
    """Elements of one type that lie behind each other in a binding, up to the next piece."""

    offset: int = Field(description="Where they begin, in bytes.")
    element: str = Field(description="Their type, as MLIR prints it.")
    values: Values = Field(
        description="What they hold: `random`; `zeros`, which are in bounds where the kernel uses them as an index; "
        "`booleans`, 0 or 1."
    )


class CheckedBinding(Data):
    """A binding of both kernels."""

    length: int = Field(description="In bytes.")
    written: bool = Field(description="Whether the original may write it.")
    pieces: tuple[Piece, ...] = Field(description="Empty: not known; then it holds zeros, and bytes are compared.")


class CheckedBenchmark(Data):
    """A function of the check module."""

    name: str = Field(description="The benchmark's name, and the function's.")
    bindings: tuple[CheckedBinding, ...]


class CheckSpec(Data):
    """What a check module takes and returns: `<dispatch>.check.json`."""

    version: int = Field(default=CHECK_VERSION, description="Version of this format.")
    dispatch: str = Field(description="Stable name of the dispatch.")
    guard: int = Field(description="Bytes before and behind each binding in its buffer.")
    tolerance: float = Field(
        description="Largest |a - b| / max(1, |a|) of floats, and |a - b| of integers, that is no disagreement."
    )
    benchmarks: tuple[CheckedBenchmark, ...]


@dataclass(frozen=True)
class Output:
    """A buffer that a function of the check module returns, with its guards."""

    binding: int
    kernel: Which


def outputs(benchmark: CheckedBenchmark) -> Iterator[Output]:
    """What a benchmark's function returns, in order.

    What the original only reads stays as it was: only the substitute's is returned, which may have written it.
    """
    for binding, checked in enumerate(benchmark.bindings):
        if checked.written:
            yield Output(binding, "original")
        yield Output(binding, "substitute")


@dataclass(frozen=True)
class CheckModule:
    """A check module and what its functions take."""

    text: str
    spec: CheckSpec


def check_module(original: str, substitute: str, dispatch: Dispatch, device: str, tolerance: float) -> CheckModule:
    """The check module of a substitute.

    Args:
      original: The executable of the dispatch, as in its benchmark module.
      substitute: The executable that replaces it, with the export at the same place.
      dispatch: The dispatch.
      device: The `util.global` of the device that it runs on.
      tolerance: Goes into the spec.
    """
    from iree.compiler import ir as mlir

    with mlir.Context(), mlir.Location.unknown():
        module = mlir.Module.parse(f"module {{\n{device}\n{_with_own_export(original, dispatch.name)}\n}}").operation
        other = mlir.Module.parse(f"module {{\n{substitute}\n}}").operation
        device_op, original_op = ir.body(module)
        (substitute_op,) = ir.body(other)
        kernels: dict[Which, _Kernel] = {
            "original": _kernel(original_op, f"{dispatch.name}_original_executable", f"{dispatch.name}_original"),
            "substitute": _kernel(substitute_op, f"{dispatch.name}_substitute_executable", dispatch.name),
        }
        spec = _spec(original_op, dispatch, tolerance)
        parts = [device_op.get_asm(use_local_scope=True), *(kernel.text for kernel in kernels.values())]
        device_symbol = symbol_text(ir.symbol(device_op))
        parts += [
            _function(benchmark, checked, kernels, device_symbol)
            for benchmark, checked in zip(dispatch.benchmarks, spec.benchmarks, strict=True)
        ]
    return CheckModule("module {\n" + "\n".join(indent(part.strip("\n"), "  ") for part in parts) + "\n}\n", spec)


def _with_own_export(executable: str, export: str) -> str:
    """The original with its export renamed: executables are linked into one, where symbols of kernels must differ."""
    return re.sub(rf"@{export}(?![A-Za-z0-9_$.])", f"@{export}_original", executable)


@dataclass(frozen=True)
class _Kernel:
    """An executable of the check module."""

    text: str
    executable: str  #: Its symbol, as MLIR prints it.
    target: str  #: The reference to the export.


def _kernel(executable: ir.Operation, name: str, export: str) -> _Kernel:
    """An executable under another name. Its export is the one called `export`, else the first."""
    from iree.compiler import ir as mlir

    executable.attributes["sym_name"] = mlir.StringAttr.get(name)
    variant = next(op for op in ir.body(executable) if op.name == "hal.executable.variant")
    exports = [ir.symbol(op) for op in ir.body(variant) if op.name == "hal.executable.export"]
    chosen = export if export in exports else exports[0]
    symbol = symbol_text(name)
    target = f"{symbol}::{symbol_text(ir.symbol(variant))}::{symbol_text(chosen)}"
    return _Kernel(executable.get_asm(use_local_scope=True), symbol, target)


def _spec(executable: ir.Operation, dispatch: Dispatch, tolerance: float) -> CheckSpec:
    index, boolean = elements.index_elements(executable), elements.boolean_elements(executable)

    def values(element: str) -> Values:
        return "zeros" if element in index else "booleans" if element in boolean else "random"

    def binding(benchmark: Benchmark, ordinal: int) -> CheckedBinding:
        found = elements.pieces(executable, ordinal, [value for _, value in benchmark.constants])
        return CheckedBinding(
            length=benchmark.bindings[ordinal],
            written=dispatch.written[ordinal],
            pieces=tuple(Piece(offset=at, element=element, values=values(element)) for at, element in found),
        )

    return CheckSpec(
        dispatch=dispatch.name,
        guard=GUARD,
        tolerance=tolerance,
        benchmarks=tuple(
            CheckedBenchmark(
                name=benchmark.name, bindings=tuple(binding(benchmark, i) for i in range(len(benchmark.bindings)))
            )
            for benchmark in dispatch.benchmarks
        ),
    )


def _function(benchmark: Benchmark, checked: CheckedBenchmark, kernels: Mapping[Which, _Kernel], device: str) -> str:
    """The function that runs each kernel once, the original first."""
    views = [f"{binding}_{which}" for binding in range(len(benchmark.bindings)) for which in kernels]
    returned = [f"%view{output.binding}_{output.kernel}" for output in outputs(checked)]
    types = ", ".join(["!hal.buffer_view"] * len(returned))
    lines = [
        commands.resolve(device),
        commands.begin(),
        f"%offset = arith.constant {GUARD} : index",
        *commands.scalars(benchmark),
        *commands.indices("length", benchmark.bindings),
        *(f"%buffer{view} = hal.buffer_view.buffer<%view{view} : !hal.buffer_view> : !hal.buffer" for view in views),
        *(line for which, kernel in kernels.items() for line in _dispatch(benchmark, which, kernel)),
        commands.submit(),
        f"util.return {', '.join(returned)} : {types}",
    ]
    parameters = ", ".join(f"%view{view}: !hal.buffer_view" for view in views)
    signature = f"@{benchmark.name}({parameters}) -> ({types})"
    body = indent("\n".join(lines), "  ")
    return f"util.func public {signature} attributes {{iree.abi.stub}} {{\n{body}\n}}"


def _dispatch(benchmark: Benchmark, which: Which, kernel: _Kernel) -> list[str]:
    """Records one dispatch of a kernel on its own buffers."""
    workload = commands.operand_list("workload", len(benchmark.workload), lambda i: f"%workload{i}")
    constants = commands.operand_list("constants", len(benchmark.constants), lambda i: f"%constant{i}")
    bindings = ", ".join(
        f"(%buffer{i}_{which} : !hal.buffer)[%offset, %length{i}]" for i in range(len(benchmark.bindings))
    )
    return [
        f"%x_{which}, %y_{which}, %z_{which} = hal.executable.calculate_workgroups device(%device : !hal.device) "
        f"target({kernel.target}){workload} : index, index, index",
        f"%executable_{which} = hal.executable.lookup device(%device : !hal.device) "
        f"executable({kernel.executable}) : !hal.executable",
        f"%function_{which} = hal.executable.lookup.function target(%executable_{which} : !hal.executable) "
        f"function({kernel.target}) : i64",
        f"hal.command_buffer.dispatch<%commands : !hal.command_buffer> "
        f"target(%executable_{which} : !hal.executable)[%function_{which}] "
        f"workgroups([%x_{which}, %y_{which}, %z_{which}]){constants} bindings([{bindings}]) "
        'flags("None")',
        commands.barrier(),
    ]
