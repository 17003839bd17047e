"""IR of functions that record dispatches, run them and wait: what all such functions have in common."""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatchgen.extract.schema import Benchmark


def resolve(device: str) -> str:
    """Gives `%device` and `%affinity`; `device` is the symbol of the device's global."""
    return f"%device, %affinity = hal.device.resolve on(#hal.device.affinity<{device}>) : !hal.device, i64"


def begin() -> str:
    """Gives `%commands`, a command buffer."""
    return (
        '%commands = hal.command_buffer.create device(%device : !hal.device) mode("OneShot|AllowInlineExecution") '
        "categories(Dispatch) affinity(%affinity) : !hal.command_buffer"
    )


def barrier() -> str:
    """Lets what comes next in `%commands` wait for the dispatches so far."""
    return (
        'hal.command_buffer.execution_barrier<%commands : !hal.command_buffer> source("Dispatch|CommandRetire") '
        'target("CommandIssue|Dispatch") flags("None")'
    )


def submit() -> str:
    """Runs `%commands` and waits for it."""
    return """\
hal.command_buffer.finalize<%commands : !hal.command_buffer>
%wait = util.null : !hal.fence
%signal = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
hal.device.queue.execute<%device : !hal.device> affinity(%affinity) wait(%wait) signal(%signal) commands(%commands) flags("None")
%timeout = arith.constant -1 : i32
%status = hal.fence.await until([%signal]) timeout_millis(%timeout) flags("None") : i32
util.status.check_ok %status, "failed to wait for the dispatches\""""


def scalars(benchmark: Benchmark) -> list[str]:
    """Gives `%workload0`... and the push constants, `%constant0`..."""
    constants = [(type_, _signed(type_, value)) for type_, value in benchmark.constants]
    return [*indices("workload", benchmark.workload), *_constants("constant", constants)]


def indices(prefix: str, values: Sequence[int]) -> list[str]:
    """Gives `%<prefix>0`..., of type `index`."""
    return _constants(prefix, [("index", value) for value in values])


def _constants(prefix: str, values: Sequence[tuple[str, int]]) -> list[str]:
    return [f"%{prefix}{i} = arith.constant {value} : {type_}" for i, (type_, value) in enumerate(values)]


def _signed(type_: str, value: int) -> int:
    """A push constant as MLIR prints it: integers are signed."""
    bits = int(type_.lstrip("sui"))
    return value - (1 << bits) if value >> (bits - 1) else value


def operand_list(keyword: str, count: int, item: Callable[[int], str]) -> str:
    """` keyword([...])`, or nothing where there are no items."""
    return f" {keyword}([{', '.join(item(i) for i in range(count))}])" if count else ""
