"""The functions of a benchmark module: each records the dispatch as often as it is asked to, runs that and waits."""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from dispatchgen.extract import commands, rotation_emit
from dispatchgen.extract.rotation import Rotation


@dataclass(frozen=True)
class Target:
    """What a function dispatches; all are symbols as MLIR prints them."""

    executable: str
    export: str  #: In the executable: `@executable::@variant::@export`.
    device: str  #: The global that holds the device.


@dataclass(frozen=True)
class Operands:
    """What a dispatch is run with: lines of IR, and the values among them."""

    lines: Sequence[str]
    workload: Sequence[str]
    constants: Sequence[str]
    offsets: Sequence[str]  #: Of each binding, in the buffer.
    lengths: Sequence[str]


def dispatching_function(signature: str, operands: Operands, target: Target) -> str:
    """A function that dispatches `%batch_size` times.

    Args:
      signature: Its name, arguments and attributes; `%batch_size` is an i32.
      operands: What it runs the dispatch with.
      target: What it dispatches.
    """
    lines = ["%buffer = util.global.load @__buffer : !hal.buffer", *operands.lines]
    places = [("%buffer", offset) for offset in operands.offsets]
    recorded = indent(_dispatch(operands, places), "  ")
    loop = f"scf.for %i = %c0 to %count step %c1 {{\n{recorded}\n}}"
    return _function(signature, lines, operands, target, loop)


def rotating_function(signature: str, operands: Operands, target: Target, rotation: Rotation) -> str:
    """A function that dispatches `%batch_size` times, each time on the next copy of what its bindings hold.

    Args:
      signature: As of `dispatching_function`.
      operands: What it runs the dispatch with; it has no `offsets`.
      target: What it dispatches.
      rotation: The copies.
    """
    lines = [*rotation_emit.begin(rotation), *operands.lines]
    loop = rotation_emit.loop(rotation, _dispatch(operands, rotation_emit.places(rotation)))
    return _function(signature, lines, operands, target, loop)


def _dispatch(operands: Operands, places: Sequence[tuple[str, str]]) -> str:
    """Records a dispatch, whose bindings begin at these places: buffers and offsets in them."""
    constants = commands.operand_list("constants", len(operands.constants), lambda i: operands.constants[i])
    bindings = ", ".join(
        f"({buffer} : !hal.buffer)[{offset}, {length}]"
        for (buffer, offset), length in zip(places, operands.lengths, strict=True)
    )
    return f"""\
hal.command_buffer.dispatch<%commands : !hal.command_buffer> target(%executable : !hal.executable)[%function] \
workgroups([%x, %y, %z]){constants} bindings([{bindings}]) flags("None")
{commands.barrier()}"""


def _function(signature: str, lines: Sequence[str], operands: Operands, target: Target, loop: str) -> str:
    """A function that runs what a loop records."""
    workload = commands.operand_list("workload", len(operands.workload), lambda i: operands.workload[i])
    text = "\n".join(lines)
    return f"""\
util.func public {signature} {{
  %count = arith.index_cast %batch_size : i32 to index
  {commands.resolve(target.device)}
  {commands.begin()}
{indent(text, "  ")}
  %x, %y, %z = hal.executable.calculate_workgroups device(%device : !hal.device) target({target.export}){workload} : index, index, index
  %executable = hal.executable.lookup device(%device : !hal.device) executable({target.executable}) : !hal.executable
  %function = hal.executable.lookup.function target(%executable : !hal.executable) function({target.export}) : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
{indent(loop, "  ")}
{indent(commands.submit(), "  ")}
  util.return
}}"""
