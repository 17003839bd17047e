"""IR of functions that record dispatches, run them and wait: what all such functions have in common."""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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


def allocator() -> str:
    """Gives what `allocate` needs."""
    return """\
%allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
%memory_type = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
%usage = hal.buffer_usage<"TransferSource|TransferTarget|Transfer|DispatchStorageRead|DispatchStorageWrite|DispatchStorage"> : i32"""


def allocate(buffer: str, size: str) -> str:
    """Gives a buffer of `size` bytes; both are values."""
    return f"{buffer} = hal.allocator.allocate<%allocator : !hal.allocator> affinity(%affinity) type(%memory_type) usage(%usage) : !hal.buffer{{{size}}}"


def fill(name: str, target: str, offset: int, length: int, pattern: bytes) -> Iterator[str]:
    """Fills a part of a buffer and waits for it; `name` makes the values unique. `%timeout` is there."""
    value, type_ = int.from_bytes(pattern, "little", signed=True), f"i{len(pattern) * 8}"
    yield f"%offset_{name} = arith.constant {offset} : index"
    yield f"%length_{name} = arith.constant {length} : index"
    yield f"%pattern_{name} = arith.constant {value} : {type_}"
    yield from transfer(name)
    yield (
        f"hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait_{name}) signal(%signal_{name}) "
        f"target({target} : !hal.buffer)[%offset_{name}] length(%length_{name}) pattern(%pattern_{name} : {type_}) "
        'flags("None")'
    )
    yield from transferred(name, "failed to fill the buffer")


def copy(name: str, source: tuple[str, str], target: tuple[str, str], length: str) -> Iterator[str]:
    """Copies from a place, a buffer and an offset, to another, and waits for it; else as `fill`."""
    yield from transfer(name)
    yield (
        f"hal.device.queue.copy<%device : !hal.device> affinity(%affinity) wait(%wait_{name}) signal(%signal_{name}) "
        f"source({source[0]} : !hal.buffer)[{source[1]}] target({target[0]} : !hal.buffer)[{target[1]}] "
        f'length({length}) flags("None")'
    )
    yield from transferred(name, "failed to copy what buffers hold")


def transfer(name: str) -> Iterator[str]:
    """Gives `%wait_<name>` and `%signal_<name>`, the fences of a transfer."""
    yield f"%wait_{name} = util.null : !hal.fence"
    yield f'%signal_{name} = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence'


def transferred(name: str, message: str) -> Iterator[str]:
    """Waits for a transfer; `message` is of the error where it failed."""
    yield f'%status_{name} = hal.fence.await until([%signal_{name}]) timeout_millis(%timeout) flags("None") : i32'
    yield f'util.status.check_ok %status_{name}, "{message}"'


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
