"""Modules (`.vmfb`) whose size differs between two results: of dispatches, of substitutes and of whole models."""

from __future__ import annotations

from dataclasses import dataclass

from dispatchgen.comparison.schema import Comparison
from dispatchgen.results import lean

#: Most modules that are shown.
MOST_MODULES = 20


@dataclass(frozen=True)
class ChangedModule:
    """A module of both results; sizes are in bytes."""

    model: str
    backend: str
    variant: str  #: Id of a substitution; empty: the compiler's own.
    dispatch: str  #: Empty: the whole model.
    base: int
    new: int

    @property
    def what(self) -> str:
        """Which module it is, in words."""
        with_variant = f" with {self.variant}" if self.variant else ""
        return f"{self.dispatch or 'the whole model'}{with_variant} of {self.model} on {self.backend}"


def changed_modules(base: lean.Results, new: lean.Results, comparison: Comparison) -> list[ChangedModule]:
    """The modules of another size, each once, those that changed by most bytes first.

    Args:
      comparison: That of the two: it knows which rows belong together.
    """
    before = {row.key: row for row in lean.rows(base)}
    now = {row.key: row for row in lean.rows(new)}
    found: dict[tuple[str, str, str, str], ChangedModule] = {}
    for row in comparison.rows:
        if row.same_code is not False:  # the same, not known, or in one of them only
            continue
        other = before[row.key._replace(benchmark=row.renamed_from or row.benchmark)]
        own = now[row.key]
        if other.compiled is None or own.compiled is None or other.compiled.size == own.compiled.size:
            continue
        dispatch = own.dispatch.name if own.dispatch is not None else row.benchmark
        module = (row.model, row.backend, row.variant, dispatch)
        found[module] = ChangedModule(*module, other.compiled.size, own.compiled.size)
    return sorted(found.values(), key=lambda each: -abs(each.new - each.base))
