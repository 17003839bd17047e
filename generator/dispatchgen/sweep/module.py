"""The module that a sweep compiles: one executable, and a function that tells how many workgroups a workload takes.

The executable is taken out of the compiled module and run by itself. The function is the compiler's own way to count
workgroups, run by IREE's VM: evaluation is checked against it.
"""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from textwrap import indent

from dispatchgen.extract import commands, emit
from dispatchgen.extract.program import Export
from dispatchgen.iree import ir
from dispatchgen.iree.ir import symbol_text
from dispatchgen.iree.resources import module_of

#: The function that counts workgroups: i64 workload operands to three i64.
COUNT_FUNCTION = "workgroups"
#: Symbols of the executable and its export.
EXECUTABLE, EXPORT = "sweep_executable", "sweep"


def sweep_module(export: Export, device: ir.Operation, workload: int) -> str:
    """The module of an export.

    Args:
      export: What is swept.
      device: The `util.global` of the device it runs on.
      workload: How many workload operands it takes.
    """
    executable = emit.executable_text(export, EXECUTABLE, EXPORT)
    return module_of([device.get_asm(use_local_scope=True), executable, _count_function(export, device, workload)])


def _count_function(export: Export, device: ir.Operation, workload: int) -> str:
    target = f"@{EXECUTABLE}::{symbol_text(export.variant)}::@{EXPORT}"
    arguments = ", ".join(f"%argument{i}: i64" for i in range(workload))
    casts = "\n".join(f"%workload{i} = arith.index_cast %argument{i} : i64 to index" for i in range(workload))
    operands = commands.operand_list("workload", workload, lambda i: f"%workload{i}")
    results = "\n".join(f"%count{axis} = arith.index_cast %{axis} : index to i64" for axis in "xyz")
    # An executable that no place asks for would be left out of the compiled module.
    return f"""\
util.func public @{COUNT_FUNCTION}({arguments}) -> (i64, i64, i64) attributes {{iree.abi.stub}} {{
  {commands.resolve(symbol_text(ir.symbol(device)))}
{indent(casts, "  ")}
  %executable = hal.executable.lookup device(%device : !hal.device) executable(@{EXECUTABLE}) : !hal.executable
  %function = hal.executable.lookup.function target(%executable : !hal.executable) function({target}) : i64
  %kept = util.optimization_barrier %function : i64
  %x, %y, %z = hal.executable.calculate_workgroups device(%device : !hal.device) target({target}){operands} : index, index, index
{indent(results, "  ")}
  util.return %countx, %county, %countz : i64, i64, i64
}}"""
