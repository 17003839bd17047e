"""Emission of benchmark modules: one dispatch, a function for each of its benchmarks.

The form is that of IREE's own dump pass (`iree-hal-dump-executable-benchmarks`): `iree-benchmark-module` recognises
functions with `iree.reflection = {iree.benchmark = "dispatch"}` that take the number of dispatches as an i32. Unlike
there, all functions share one buffer (`layout`), and the buffer is filled (`buffer`). Cold benchmarks have functions of
their own, which rotate over copies of it (`rotation`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.extract import commands
from dispatchgen.extract.buffer import buffer_operations
from dispatchgen.extract.dispatching import Operands, Target, dispatching_function, rotating_function
from dispatchgen.extract.layout import Layout
from dispatchgen.extract.parameterized import AnySize
from dispatchgen.extract.parameterized_emit import any_size_functions
from dispatchgen.extract.program import Export
from dispatchgen.extract.rotation import Rotation, Rotations
from dispatchgen.extract.rotation_emit import pool_operations
from dispatchgen.extract.schema import Benchmark
from dispatchgen.iree import ir
from dispatchgen.iree.executable import limit_alignments
from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.resources import module_of, operation_asm
from dispatchgen.iree.symbols import rename_symbols


def executable_text(export: Export, executable_name: str, export_name: str) -> str:
    """An executable as text, its symbol and that of the export renamed, its bindings aligned as any allocation is."""
    text = operation_asm(limit_alignments(export.executable_op))
    return rename_symbols(text, export.executable, executable_name, {export.name: export_name})


def benchmark_module(
    export: Export,
    name: str,
    device: ir.Operation,
    layout: Layout,
    benchmarks: Sequence[Benchmark],
    any_size: AnySize | None = None,
    rotations: Rotations | None = None,
) -> str:
    """The benchmark module of a dispatch.

    Args:
      export: The dispatch.
      name: Its stable name; no symbol of IREE's remains in the module.
      device: The `util.global` of the device it runs on.
      layout: The buffer that its functions share (see `layout_of`).
      benchmarks: Its benchmarks, each of which becomes a function of that name.
      any_size: What is known of its sizes. None: they are constants of the program.
      rotations: Copies for those benchmarks that have a cold function. None: no benchmark has one.
    """
    executable = f"{name}_executable"
    target = Target(
        executable=f"@{executable}",
        export=f"@{executable}::{symbol_text(export.variant)}::@{name}",
        device=symbol_text(ir.symbol(device)),
    )
    parts = [device.get_asm(use_local_scope=True), executable_text(export, executable, name)]
    parts.append(buffer_operations(target.device, layout))
    if rotations is not None and rotations.pools:
        parts.append(pool_operations(target.device, rotations.pools))
    parts += [_function(benchmark.name, benchmark, layout, target) for benchmark in benchmarks]
    for benchmark in benchmarks:
        if benchmark.cold is not None and rotations is not None:
            rotation = rotations.of_benchmarks.get(benchmark.name)
            parts.append(_function(benchmark.cold, benchmark, layout, target, rotation))
    if any_size is not None:
        parts += any_size_functions(name, benchmarks, any_size, layout, target)
    return module_of(parts)


def _function(name: str, benchmark: Benchmark, layout: Layout, target: Target, rotation: Rotation | None = None) -> str:
    """A function that runs a benchmark, on the buffer or on copies."""
    signature = (
        f'@{name}(%batch_size: i32) attributes {{iree.abi.stub, iree.reflection = {{iree.benchmark = "dispatch"}}}}'
    )
    offsets = layout.offsets_of(benchmark) if rotation is None else ()
    lines = [
        *commands.scalars(benchmark),
        *commands.indices("offset", offsets),
        *commands.indices("length", benchmark.bindings),
    ]
    operands = Operands(
        lines,
        workload=[f"%workload{i}" for i in range(len(benchmark.workload))],
        constants=[f"%constant{i}" for i in range(len(benchmark.constants))],
        offsets=[f"%offset{i}" for i in range(len(offsets))],
        lengths=[f"%length{i}" for i in range(len(benchmark.bindings))],
    )
    if rotation is None:
        return dispatching_function(signature, operands, target)
    return rotating_function(signature, operands, target, rotation)
