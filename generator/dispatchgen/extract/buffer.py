"""The buffer of a benchmark module: its allocation and what fills it, and the file with the bytes that fill it.

Patterns are part of the module. Other bytes are in a parameter archive beside it, so that the module stays small and is
not compiled again when they change: `--parameters=data=<dispatch>.irpa` of IREE's tools.
"""

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
{indent(commands.allocator(), "  ")}
  %size = arith.constant {layout.size} : index
  {commands.allocate("%buffer", "%size")}
  %timeout = arith.constant -1 : i32
{fills}
  util.global.store %buffer, @__buffer : !hal.buffer
  util.return
}}"""


def _fills(layout: Layout) -> Iterator[str]:
    """Zeros everywhere, then what else there is."""
    yield from commands.fill("zeros", "%buffer", 0, layout.size, bytes(1))
    for region in layout.regions:
        pattern = region.content.pattern
        if pattern is not None and pattern != bytes(1) and region.length:
            yield from commands.fill(region.key, "%buffer", region.offset, region.end - region.offset, pattern)
    regions = list(archived(layout))
    if regions:
        yield from _gather(regions)


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
    yield from commands.transfer("data")
    yield (
        "io_parameters.gather<%device : !hal.device> affinity(%affinity) wait(%wait_data) signal(%signal_data) {\n"
        + ",\n".join(entries)
        + "\n}"
    )
    yield from commands.transferred(
        "data", f"failed to read the data; it is in an archive: --parameters={SCOPE}=FILE.irpa"
    )


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
