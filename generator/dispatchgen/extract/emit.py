"""Emission of benchmark modules: one dispatch, a function for each of its benchmarks.

The form is that of IREE's own dump pass (`iree-hal-dump-executable-benchmarks`): `iree-benchmark-module` recognises
functions with `iree.reflection = {iree.benchmark = "dispatch"}` that take the number of dispatches as an i32. Unlike
there, all functions share one buffer (`layout`), and the buffer is filled.
"""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Sequence

from dispatchgen.extract import commands
from dispatchgen.extract.dispatching import Target, dispatching_function
from dispatchgen.extract.layout import layout_of
from dispatchgen.extract.program import Export
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
    export: Export, name: str, device: ir.Operation, written: Sequence[bool], benchmarks: Sequence[Benchmark]
) -> str:
    """The benchmark module of a dispatch.

    Args:
      export: The dispatch.
      name: Its stable name; no symbol of IREE's remains in the module.
      device: The `util.global` of the device it runs on.
      written: Which bindings the dispatch may write.
      benchmarks: Its benchmarks, each of which becomes a function of that name.
    """
    executable = f"{name}_executable"
    target = Target(
        executable=f"@{executable}",
        export=f"@{executable}::{symbol_text(export.variant)}::@{name}",
        device=symbol_text(ir.symbol(device)),
        workload=len(benchmarks[0].workload),
        constants=len(benchmarks[0].constants),
        bindings=len(written),
    )
    layout = layout_of(written, benchmarks)
    parts = [device.get_asm(use_local_scope=True), executable_text(export, executable, name)]
    parts.append(_buffer(target.device, layout.size))
    parts += [_function(benchmark, layout.offsets, target) for benchmark in benchmarks]
    return module_of(parts)


def _buffer(device: str, size: int) -> str:
    """The buffer, allocated and filled with zeros when the module is loaded."""
    return f"""\
util.global private mutable @__buffer : !hal.buffer
util.initializer {{
  {commands.resolve(device)}
  %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
  %memory_type = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
  %usage = hal.buffer_usage<"TransferSource|TransferTarget|Transfer|DispatchStorageRead|DispatchStorageWrite|DispatchStorage"> : i32
  %size = arith.constant {size} : index
  %buffer = hal.allocator.allocate<%allocator : !hal.allocator> affinity(%affinity) type(%memory_type) usage(%usage) : !hal.buffer{{%size}}
  %offset = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %wait = util.null : !hal.fence
  %signal = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait) signal(%signal) target(%buffer : !hal.buffer)[%offset] \
length(%size) pattern(%zero : i8) flags("None")
  %timeout = arith.constant -1 : i32
  %status = hal.fence.await until([%signal]) timeout_millis(%timeout) flags("None") : i32
  util.status.check_ok %status, "failed to fill the buffer"
  util.global.store %buffer, @__buffer : !hal.buffer
  util.return
}}"""


def _function(benchmark: Benchmark, offsets: Sequence[int], target: Target) -> str:
    """The function of a benchmark."""
    attributes = 'attributes {iree.abi.stub, iree.reflection = {iree.benchmark = "dispatch"}}'
    operands = [
        *commands.scalars(benchmark),
        *commands.indices("offset", offsets),
        *commands.indices("length", benchmark.bindings),
    ]
    return dispatching_function(f"@{benchmark.name}(%batch_size: i32) {attributes}", operands, target)
