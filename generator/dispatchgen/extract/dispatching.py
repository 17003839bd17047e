"""The functions of a benchmark module: each records the dispatch as often as it is asked to, runs that and waits."""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from dispatchgen.extract import commands


@dataclass(frozen=True)
class Target:
    """What a function dispatches; all are symbols as MLIR prints them."""

    executable: str
    export: str  #: In the executable: `@executable::@variant::@export`.
    device: str  #: The global that holds the device.
    workload: int  #: How many operands the workload has.
    constants: int  #: How many push constants it takes.
    bindings: int


def dispatching_function(signature: str, operands: Sequence[str], target: Target) -> str:
    """A function that dispatches `%batch_size` times.

    Args:
      signature: Its name, arguments and attributes; `%batch_size` is an i32.
      operands: Lines of IR that give `%workload0`..., `%constant0`..., `%offset0`... and `%length0`...
      target: What it dispatches.
    """
    workload = commands.operand_list("workload", target.workload, lambda i: f"%workload{i}")
    constants = commands.operand_list("constants", target.constants, lambda i: f"%constant{i}")
    lines = "\n".join(operands)
    bindings = ", ".join(f"(%buffer : !hal.buffer)[%offset{i}, %length{i}]" for i in range(target.bindings))
    return f"""\
util.func public {signature} {{
  %count = arith.index_cast %batch_size : i32 to index
  {commands.resolve(target.device)}
  {commands.begin()}
  %buffer = util.global.load @__buffer : !hal.buffer
{indent(lines, "  ")}
  %x, %y, %z = hal.executable.calculate_workgroups device(%device : !hal.device) target({target.export}){workload} : index, index, index
  %executable = hal.executable.lookup device(%device : !hal.device) executable({target.executable}) : !hal.executable
  %function = hal.executable.lookup.function target(%executable : !hal.executable) function({target.export}) : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %count step %c1 {{
    hal.command_buffer.dispatch<%commands : !hal.command_buffer> target(%executable : !hal.executable)[%function] \
workgroups([%x, %y, %z]){constants} bindings([{bindings}]) flags("None")
    {commands.barrier()}
  }}
{indent(commands.submit(), "  ")}
  util.return
}}"""
