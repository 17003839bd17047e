"""Values that the host reads back from the device: their names, and the values that the manifest gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.names import numbered
from dispatchgen.extract.values import Unknown
from dispatchgen.iree import ir
from dispatchgen.iree.types import ScalarType


@dataclass(frozen=True)
class Computed(Unknown):
    """What a dispatch computes on the device."""

    operation: str


def computed_by(operation: str) -> Computed:
    """What a dispatch of this operation computes."""
    return Computed(f"what the dispatch {operation} computes on the device", operation)


@dataclass
class ReadBacks:
    """The read-backs of a program by name: the operation of the dispatch that computes the value, `_2`, `_3`... for
    more of the same, as they are met when its calls are evaluated in order."""

    _names: dict[tuple[str, ir.Operation], str] = field(default_factory=dict)

    def name(self, computed: Computed, load: ir.Operation) -> str:
        """The name of what an operation (`stream.resource.load`) reads."""
        key = computed.operation, load
        if key not in self._names:
            self._names[key] = numbered(computed.operation, set(self._names.values()))
        return self._names[key]

    @property
    def names(self) -> tuple[str, ...]:
        """All names so far."""
        return tuple(self._names.values())


def overridden(name: str, overrides: Mapping[str, int], type_: ScalarType) -> int | float | None:
    """The value that stands for a read-back; None: none does. Raises ModelError where its type cannot hold it."""
    if name not in overrides:
        return None
    value = overrides[name]
    if type_.kind != "i":
        return float(value)
    if value >> type_.bits:
        limit = (1 << type_.bits) - 1
        raise ModelError(Problem(f"the override of {name} is {value}; the program reads at most {limit} there"))
    return value
