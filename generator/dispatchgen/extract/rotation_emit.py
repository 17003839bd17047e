"""What a benchmark module with cold benchmarks has besides: the copies, and functions that rotate over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent

from dispatchgen.extract import commands
from dispatchgen.extract.rotation import Pool, Rotation

#: The global with the number of the copy that comes next. It goes on over calls, and from one function to another.
_NEXT = "@__copy"


def pool_operations(device: str, pools: Sequence[Pool]) -> str:
    """The globals that hold the copies, and the initializer that makes them when the module is loaded.

    Args:
      device: Symbol of the device's global.
      pools: The copies, one at least.
    """
    buffers = "\n".join(f"util.global private mutable {_symbol(pool.key)} : !hal.buffer" for pool in pools)
    made = indent("\n".join(line for pool in pools for line in _made(pool)), "  ")
    return f"""\
util.global private mutable {_NEXT} = 0 : index
{buffers}
util.initializer {{
  {commands.resolve(device)}
{indent(commands.allocator(), "  ")}
  %timeout = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = util.global.load @__buffer : !hal.buffer
{made}
  util.return
}}"""


def _symbol(key: str) -> str:
    return f"@__copies_{key}"


def _made(pool: Pool) -> Iterator[str]:
    """Lines that allocate a pool and fill it."""
    key, target = pool.key, f"%copies_{pool.key}"
    yield f"%size_{key} = arith.constant {pool.size} : index"
    yield commands.allocate(target, f"%size_{key}")
    pattern = pool.region.content.pattern if pool.stride else b"\0"  # an empty binding has nothing to copy
    if pattern is not None:
        yield from commands.fill(key, target, 0, pool.size, pattern)
    else:
        yield from _copied(pool, target)
    yield f"util.global.store {target}, {_symbol(key)} : !hal.buffer"


def _copied(pool: Pool, target: str) -> Iterator[str]:
    """Lines that copy what the buffer holds, then as often as needed all copies that there are behind them."""
    key = pool.key
    yield f"%offset_{key} = arith.constant {pool.region.offset} : index"
    yield f"%start_{key} = arith.constant {pool.start} : index"
    yield f"%stride_{key} = arith.constant {pool.stride} : index"
    yield f"%doublings_{key} = arith.constant {((pool.size - pool.start) // pool.stride - 1).bit_length()} : index"
    yield from commands.copy(key, ("%buffer", f"%offset_{key}"), (target, f"%start_{key}"), f"%stride_{key}")
    yield f"%end_{key} = scf.for %i = %c0 to %doublings_{key} step %c1 iter_args(%done = %stride_{key}) -> (index) {{"
    yield f"  %next = arith.addi %start_{key}, %done : index"
    yield f"  %left = arith.subi %size_{key}, %next : index"
    yield "  %length = arith.minui %done, %left : index"
    for line in commands.copy("more", (target, f"%start_{key}"), (target, "%next"), "%length"):
        yield f"  {line}"
    yield "  %end = arith.addi %done, %length : index"
    yield "  scf.yield %end : index"
    yield "}"


def begin(rotation: Rotation) -> list[str]:
    """Lines that give what `places` and `loop` use."""
    pools = [
        f"%copies{index} = util.global.load {_symbol(key)} : !hal.buffer" for index, key in enumerate(rotation.pools)
    ]
    return [
        *pools,
        *commands.indices("start", rotation.starts),
        *commands.indices("stride", rotation.strides),
        f"%copies = arith.constant {rotation.copies} : index",
        f"%copy_step = arith.constant {rotation.step} : index",
        f"%reached = util.global.load {_NEXT} : index",
        "%first_copy = arith.remui %reached, %copies : index",
    ]


def places(rotation: Rotation) -> list[tuple[str, str]]:
    """Where the bindings of a copy begin, in the loop: buffers and offsets."""
    return [(f"%copies{index}", f"%place{index}") for index in range(len(rotation.pools))]


def loop(rotation: Rotation, recorded: str) -> str:
    """The loop that goes from copy to copy and records a dispatch on each."""
    offsets = "\n".join(
        f"%before{index} = arith.muli %copy, %stride{index} : index\n"
        f"%place{index} = arith.addi %start{index}, %before{index} : index"
        for index in range(len(rotation.pools))
    )
    return f"""\
%next_copy = scf.for %i = %c0 to %count step %c1 iter_args(%copy = %first_copy) -> (index) {{
{indent(offsets, "  ")}
{indent(recorded, "  ")}
  %stepped = arith.addi %copy, %copy_step : index
  %following = arith.remui %stepped, %copies : index
  scf.yield %following : index
}}
util.global.store %next_copy, {_NEXT} : index"""
