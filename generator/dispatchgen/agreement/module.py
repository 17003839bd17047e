"""The check module: a substitute beside the kernel that it replaces, each run on buffers of its own.

The module has a function for each benchmark of the dispatch. It takes the buffers as buffer views of bytes: of each
binding the original's, then the substitute's. It runs both kernels and returns what `outputs` lists. Who calls it fills
the buffers equally and compares what comes back. Around each binding lie guard bytes: a kernel that writes past a
binding is found even where nothing crashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from textwrap import indent

from dispatchgen.agreement.spec import GUARD, CheckedBenchmark, CheckedBinding, CheckSpec, Piece, Which, outputs
from dispatchgen.buffers import elements, uses
from dispatchgen.extract import commands
from dispatchgen.extract.schema import Benchmark, Dispatch
from dispatchgen.iree import ir
from dispatchgen.iree.executable import function_of
from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.resources import module_of, operation_asm
from dispatchgen.iree.symbols import rename_symbols, symbols


@dataclass(frozen=True)
class CheckModule:
    """A check module and what its functions take."""

    text: str
    spec: CheckSpec


def check_module(
    original: str, substitute: str, dispatch: Dispatch, device: str, tolerance: float, substitute_export: str
) -> CheckModule:
    """The check module of a substitute.

    Args:
      original: The executable of the dispatch, as in its benchmark module: its export is called like the dispatch.
      substitute: The executable that replaces it.
      dispatch: The dispatch.
      device: The `util.global` of the device that it runs on.
      tolerance: Goes into the spec.
      substitute_export: The export of the substitute that stands for the dispatch.
    """
    from iree.compiler import ir as mlir

    with mlir.Context(), mlir.Location.unknown():
        # The modules own what is in them.
        module = mlir.Module.parse(module_of([device, original])).operation
        other = mlir.Module.parse(module_of([substitute])).operation
        device_op, original_op = ir.body(module)
        (substitute_op,) = ir.body(other)
        renamed = _own_names(_exports(original_op), {*symbols(original), *symbols(substitute)})
        kernels: dict[Which, _Kernel] = {
            "original": _kernel(original_op, f"{dispatch.name}_original_executable", dispatch.name, renamed),
            "substitute": _kernel(substitute_op, f"{dispatch.name}_substitute_executable", substitute_export, {}),
        }
        spec = _spec(function_of(original_op, dispatch.name), dispatch, tolerance)
        device_symbol = symbol_text(ir.symbol(device_op))
        parts = [device, *(kernel.text for kernel in kernels.values())]
        parts += [
            _function(benchmark, checked, kernels, device_symbol)
            for benchmark, checked in zip(dispatch.benchmarks, spec.benchmarks, strict=True)
        ]
    return CheckModule(module_of(parts), spec)


def _variant(executable: ir.Operation) -> ir.Operation:
    return next(op for op in ir.body(executable) if op.name == "hal.executable.variant")


def _exports(executable: ir.Operation) -> list[str]:
    return [ir.symbol(op) for op in ir.body(_variant(executable)) if op.name == "hal.executable.export"]


def _own_names(exports: Sequence[str], taken: Set[str]) -> dict[str, str]:
    """Names for the original's exports that nothing else has: the compiler links all executables into one.

    The substitute's stay: an object's are its entry points.

    Args:
      exports: The exports.
      taken: Symbols of both executables, as MLIR prints them.
    """
    ending = "_original"
    while any(symbol_text(export + ending) in taken for export in exports):
        ending += "_"
    return {export: export + ending for export in exports}


@dataclass(frozen=True)
class _Kernel:
    """An executable of the check module."""

    text: str
    executable: str  #: Its symbol, as MLIR prints it.
    target: str  #: The reference to the export.


def _kernel(executable: ir.Operation, name: str, export: str, renamed: Mapping[str, str]) -> _Kernel:
    """An executable under another name, with some of its exports renamed, to be called through `export`."""
    text = rename_symbols(operation_asm(executable), ir.symbol(executable), name, renamed)
    symbol = symbol_text(name)
    variant = symbol_text(ir.symbol(_variant(executable)))
    return _Kernel(text, symbol, f"{symbol}::{variant}::{symbol_text(renamed.get(export, export))}")


def _spec(kernel: ir.Operation, dispatch: Dispatch, tolerance: float) -> CheckSpec:
    benchmarks = tuple(_checked(kernel, dispatch, benchmark) for benchmark in dispatch.benchmarks)
    return CheckSpec(dispatch=dispatch.name, guard=GUARD, tolerance=tolerance, benchmarks=benchmarks)


def _checked(kernel: ir.Operation, dispatch: Dispatch, benchmark: Benchmark) -> CheckedBenchmark:
    constants = [value for _, value in benchmark.constants]
    restricted = uses.bounds(kernel, constants)

    def piece(binding: int, offset: int, element: str) -> Piece:
        bound = uses.bound_of(restricted, binding, element)
        return Piece(offset=offset, element=element, bound=None if bound is None else max(bound, 1))

    bindings = tuple(
        CheckedBinding(
            length=length,
            written=written,
            pieces=tuple(piece(i, at, element) for at, element in elements.pieces(kernel, i, constants)),
        )
        for i, (length, written) in enumerate(zip(benchmark.bindings, dispatch.written, strict=True))
    )
    return CheckedBenchmark(name=benchmark.name, bindings=bindings)


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
