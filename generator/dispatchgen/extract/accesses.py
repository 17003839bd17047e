"""How dispatches access their bindings."""

from __future__ import annotations

from collections.abc import Iterable

from dispatchgen.iree import ir

#: `#stream.resource_access`: bit of an access that writes.
_WRITES = 2


def written_bindings(accesses: Iterable[ir.Attribute]) -> tuple[bool, ...]:
    """Which bindings a `stream.cmd.dispatch` may write, from its accesses."""
    return tuple(bool(ir.integer(access) & _WRITES) for access in accesses)
