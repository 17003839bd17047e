"""What a program passes to a dispatch, whatever the sizes: as its dispatch sites say."""

from __future__ import annotations

from dataclasses import dataclass

from dispatchgen.extract.accesses import written_bindings
from dispatchgen.extract.program import Program, Site
from dispatchgen.extract.stream_ops import device_of
from dispatchgen.iree import ir


@dataclass(frozen=True)
class Interface:
    """The interface of a dispatch."""

    workload: tuple[int | None, ...]  #: The operands that are the same constant at all sites; None: they are computed.
    constants: tuple[str, ...]  #: Types of the push constants.
    written: tuple[bool, ...]  #: Which bindings a site may write.
    device: str | None  #: Symbol of the device that the first site runs on, where it names one.


def interface_of(program: Program, executable: str, export: str) -> Interface | None:
    """The interface of a dispatch; None: no site dispatches it, or its sites do not agree in number."""
    sites = [site for site in program.sites if (site.executable, site.export) == (executable, export)]
    found = [_at(site) for site in sites]
    if not found or len({(len(each.workload), each.constants, len(each.written)) for each in found}) != 1:
        return None
    return Interface(
        workload=tuple(
            values[0] if len({*values}) == 1 else None
            for values in zip(*(each.workload for each in found), strict=True)
        ),
        constants=found[0].constants,
        written=tuple(any(values) for values in zip(*(each.written for each in found), strict=True)),
        device=found[0].device,
    )


def _at(site: Site) -> Interface:
    view = site.operation.opview
    return Interface(
        workload=tuple(_constant(value) for value in view.workload),
        constants=tuple(str(value.type) for value in view.uniform_operands),
        written=written_bindings(view.resource_accesses),
        device=_device(site.operation),
    )


def _constant(value: ir.Value) -> int | None:
    from iree.compiler import ir as mlir

    owner = value.owner
    if isinstance(owner, mlir.Block) or owner.name != "arith.constant":
        return None
    return ir.integer(owner.attributes["value"])


def _device(dispatch: ir.Operation) -> str | None:
    """The device of the `stream.cmd.execute` that a dispatch is in."""
    operation = dispatch.parent
    while operation is not None and operation.name != "stream.cmd.execute":
        operation = operation.parent
    return None if operation is None else device_of(operation.operation)
