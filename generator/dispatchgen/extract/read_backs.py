"""Values that the host reads back from the device: their names, and the values that the manifest gives them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.names import operation_of
from dispatchgen.extract.program import Program
from dispatchgen.extract.values import Unknown
from dispatchgen.extract.writers import writers
from dispatchgen.iree import ir
from dispatchgen.iree.types import ScalarType


@dataclass(frozen=True)
class Computed(Unknown):
    """What a dispatch computes on the device."""

    operation: str


def computed_by(operation: str) -> Computed:
    """What a dispatch of this operation computes."""
    return Computed(f"what the dispatch {operation} computes on the device", operation)


class ReadBacks:
    """The read-backs of a program by name: the operation of the dispatch that computes the value, `_2`, `_3`... for
    more places of the program, in its order, that read what the operation computes.

    A name is the same whatever the calls that are evaluated, and in whatever order.
    """

    def __init__(self, program: Program):
        self._program = program
        self._met: dict[str, None] = {}

    def name(self, computed: Computed, load: ir.Operation) -> str:
        """The name of what an operation (`stream.resource.load`) reads."""
        places = [operations for operations in self._places.values() if computed.operation in operations]
        place = list(self._places).index(load)
        if computed.operation in self._places[load]:
            number = sum(computed.operation in each for each in list(self._places.values())[:place])
        else:
            number = len(places) + place  # after all of which it is known that they may read it
        name = next(itertools.islice(self._names(computed.operation), number, None))
        self._met[name] = None
        return name

    def _names(self, operation: str) -> Iterator[str]:
        """The names of an operation's read-backs: none is another operation."""
        yield operation
        yield from (name for number in itertools.count(2) if (name := f"{operation}_{number}") not in self._operations)

    @cached_property
    def _operations(self) -> frozenset[str]:
        return frozenset(operation_of(export.name) for export in self._program.exports.values())

    @cached_property
    def _places(self) -> dict[ir.Operation, frozenset[str]]:
        """The operations of which each place is known that it may read what they compute, in order."""
        return {
            load: frozenset(writers(load, function))
            for function in (*self._program.initializers, *self._program.functions.values())
            for load in ir.walk(function, "stream.resource.load")
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All names so far."""
        return tuple(self._met)


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
