"""From a program and a call to the dispatches that run: the entry to host-program evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract import inputs
from dispatchgen.extract.evaluator import Dispatched, Evaluator, Handler, Stop, arguments_and_results
from dispatchgen.extract.host_ops import HOST_OPS
from dispatchgen.extract.program import Program
from dispatchgen.extract.read_backs import ReadBacks
from dispatchgen.extract.stream_ops import STREAM_OPS
from dispatchgen.extract.values import HostValue, Unknown
from dispatchgen.iree.types import scalar_type

HANDLERS: Mapping[str, Handler] = {**HOST_OPS, **STREAM_OPS}


@dataclass(frozen=True)
class Trace:
    """What ran: the dispatches in order, and where evaluation had to stop."""

    dispatched: Sequence[Dispatched]
    stops: Sequence[Stop]


def evaluate(
    program: Program,
    function: str,
    call_inputs: Sequence[str],
    overrides: Mapping[str, int] | None = None,
    read_backs: ReadBacks | None = None,
) -> Trace:
    """Runs the initializers, then `function` with these inputs (values of `--input=`).

    Args:
      overrides: Values that the host reads back from the device, by the name that `read_backs` gives them.
      read_backs: Gathers the names of what is read back; None: nobody asks for them.

    Raises:
      ModelError: the inputs do not fit the function.
      ShapeError: the program itself rejects them.
    """
    evaluator = Evaluator(program, HANDLERS, overrides, read_backs)
    arguments = _arguments(program, function, call_inputs)
    evaluator.call(function, arguments)
    return Trace(evaluator.dispatched, evaluator.stops)


def evaluate_initializers(program: Program) -> Trace:
    """Runs what a program runs when it is loaded, and nothing else."""
    evaluator = Evaluator(program, HANDLERS)
    return Trace(evaluator.dispatched, evaluator.stops)


def _arguments(program: Program, function: str, call_inputs: Sequence[str]) -> list[HostValue]:
    types, _ = arguments_and_results(program.functions[function])
    remaining = list(call_inputs)
    arguments: list[HostValue] = []
    for type_ in types:
        scalar = scalar_type(type_)
        if type_ != "!hal.buffer_view" and scalar is None:
            arguments.append(Unknown(f"an argument of type {type_}"))  # fences, which take no input
            continue
        if not remaining:
            raise ModelError(Problem(f"@{function} takes more than {len(call_inputs)} inputs"))
        index = len(call_inputs) - len(remaining)
        text = remaining.pop(0)
        if scalar is None:
            arguments.append(inputs.buffer_view(index, inputs.parse(text)))
        else:
            value = inputs.parse(text, type_).data
            assert value is not None
            arguments.append(value[0] if scalar.kind != "i" else int(value[0]) & ((1 << scalar.bits) - 1))
    if remaining:
        raise ModelError(
            Problem(f"@{function} takes {len(call_inputs) - len(remaining)} inputs, but {len(call_inputs)} are given")
        )
    return arguments
