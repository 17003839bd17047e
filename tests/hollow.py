"""Programs whose kernels do nothing: their host programs run as ever, and compile in a tenth of the time.

What the host asks of the device does not depend on what kernels compute, but where sizes are read back. So a recording
of a large model needs no code generation, which moreover fails for a few kernels of some models.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def hollow(configured: Path, output: Path) -> None:
    """Writes a configured module without what its kernels do; each has one workgroup."""
    from iree.compiler import ir

    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(configured.read_bytes())
        for variant in _inside(_inside([module.operation], "hal.executable"), "hal.executable.variant"):
            for export in _inside([variant], "hal.executable.export"):
                _count_one_workgroup(export.regions[0].blocks[0])
            for function in _inside(_inside([variant], "builtin.module"), "func.func"):
                if "translation_info" in function.attributes:
                    del function.attributes["translation_info"]
                _erase(list(function.regions[0].blocks[0].operations)[:-1])
        output.write_text(str(module))


def _inside(operations: Any, name: str) -> Iterator[Any]:
    """The operations called `name` directly inside others."""
    for operation in operations:
        yield from [op.operation for op in operation.regions[0].blocks[0].operations if op.operation.name == name]


def _erase(operations: list[Any]) -> None:
    for operation in reversed(operations):
        operation.operation.erase()


def _count_one_workgroup(block: Any) -> None:
    from iree.compiler import ir

    _erase(list(block.operations))
    index = ir.IndexType.get()
    with ir.InsertionPoint(block):
        one = ir.Operation.create("arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, 1)}).result
        ir.Operation.create("hal.return", operands=[one] * 3)
