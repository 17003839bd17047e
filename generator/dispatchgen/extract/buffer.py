"""The buffer of a benchmark module: its allocation and what fills it, and the file with the bytes that fill it.

Patterns are part of the module. Other bytes are in a parameter archive beside it, so that the module stays small and is
not compiled again when they change: `--parameters=data=<dispatch>.irpa` of IREE's tools.
"""
# ruff: noqa: E501 (IR is written one operation per line)

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from dispatchgen.extract import commands
from dispatchgen.extract.layout import Layout, Region, archived
from dispatchgen.files import work_folder

#: Scope of the parameters that hold data.
SCOPE = "data"


def buffer_operations(device: str, layout: Layout) -> str:
    """The global that holds the buffer, and the initializer that allocates and fills it when the module is loaded.

    Args:
      device: Symbol of the device's global.
      layout: What is where.
    """
    fills = indent("\n".join(_fills(layout)), "  ")
    return f"""\
util.global private mutable @__buffer : !hal.buffer
util.initializer {{
  {commands.resolve(device)}
  %allocator = hal.device.allocator<%device : !hal.device> : !hal.allocator
  %memory_type = hal.memory_type<"DeviceVisible|DeviceLocal"> : i32
  %usage = hal.buffer_usage<"TransferSource|TransferTarget|Transfer|DispatchStorageRead|DispatchStorageWrite|DispatchStorage"> : i32
  %size = arith.constant {layout.size} : index
  %buffer = hal.allocator.allocate<%allocator : !hal.allocator> affinity(%affinity) type(%memory_type) usage(%usage) : !hal.buffer{{%size}}
  %timeout = arith.constant -1 : i32
{fills}
  util.global.store %buffer, @__buffer : !hal.buffer
  util.return
}}"""


def _fills(layout: Layout) -> Iterator[str]:
    """Zeros everywhere, then what else there is."""
    yield from _fill("zeros", 0, layout.size, bytes(1))
    for region in layout.regions:
        pattern = region.content.pattern
        if pattern is not None and pattern != bytes(1) and region.length:
            yield from _fill(region.key, region.offset, region.end - region.offset, pattern)
    regions = list(archived(layout))
    if regions:
        yield from _gather(regions)


def _fill(name: str, offset: int, length: int, pattern: bytes) -> Iterator[str]:
    value, type_ = int.from_bytes(pattern, "little", signed=True), f"i{len(pattern) * 8}"
    yield f"%offset_{name} = arith.constant {offset} : index"
    yield f"%length_{name} = arith.constant {length} : index"
    yield f"%pattern_{name} = arith.constant {value} : {type_}"
    yield from _begin(name)
    yield (
        f"hal.device.queue.fill<%device : !hal.device> affinity(%affinity) wait(%wait_{name}) signal(%signal_{name}) "
        f"target(%buffer : !hal.buffer)[%offset_{name}] length(%length_{name}) pattern(%pattern_{name} : {type_}) "
        'flags("None")'
    )
    yield from _await(name, "failed to fill the buffer")


def _gather(regions: list[Region]) -> Iterator[str]:
    """Reads regions from the archive."""
    yield f'%scope = util.buffer.constant : !util.buffer = "{SCOPE}"'
    yield "%start = arith.constant 0 : i64"
    entries = []
    for region in regions:
        yield f'%key_{region.key} = util.buffer.constant : !util.buffer = "{region.key}"'
        yield f"%at_{region.key} = arith.constant {region.offset} : index"
        yield f"%bytes_{region.key} = arith.constant {region.length} : index"
        entries.append(
            f"  %scope::%key_{region.key}[%start] -> %buffer[%at_{region.key} for %bytes_{region.key}] : !hal.buffer"
        )
    yield from _begin("data")
    yield (
        "io_parameters.gather<%device : !hal.device> affinity(%affinity) wait(%wait_data) signal(%signal_data) {\n"
        + ",\n".join(entries)
        + "\n}"
    )
    yield from _await("data", f"failed to read the data; it is in an archive: --parameters={SCOPE}=FILE.irpa")


def _begin(name: str) -> Iterator[str]:
    yield f"%wait_{name} = util.null : !hal.fence"
    yield f'%signal_{name} = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence'


def _await(name: str, message: str) -> Iterator[str]:
    yield f'%status_{name} = hal.fence.await until([%signal_{name}]) timeout_millis(%timeout) flags("None") : i32'
    yield f'util.status.check_ok %status_{name}, "{message}"'


def archive_bytes(layout: Layout) -> bytes:
    """The archive of a module's buffer. Raises OutputError where there is no temporary folder to make it in."""
    with work_folder() as folder:
        path = folder / "data.irpa"
        _write_archive(layout, path)
        return path.read_bytes()


def _write_archive(layout: Layout, path: Path) -> None:
    """Writes the archive; the data that it is made of are free at the end."""
    from iree.runtime import ParameterIndex

    index = ParameterIndex()
    for region in archived(layout):
        index.add_buffer(region.key, region.content.data(region.length))
    index.create_archive_file(str(path))
