"""Which rows of two results belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from dispatchgen.results.lean import Dispatch, Results, Row, rows


@dataclass(frozen=True)
class Pair:
    """A benchmark in both results, or in one of them."""

    __slots__ = ("base", "new")

    base: Row | None
    new: Row | None

    @property
    def either(self) -> Row:
        """The row of NEW, where there is one."""
        row = self.new or self.base
        assert row is not None
        return row


def match(base: Results, new: Results) -> list[Pair]:
    """All rows: those of NEW in their order, then those that are only in BASE in theirs.

    The same kernel at the same sizes in the same call belongs together, first where it has the same name, then where it
    was renamed. Of what is left, rows with the same key do, unless they are of other problem sizes: the kernel changed.
    """
    olds, news = list(rows(base)), list(rows(new))
    found: dict[int, int] = {}  # index in NEW -> in BASE
    for identity in (lambda row: (row.key, _kernel(row)), _kernel, lambda row: (row.key, _problem(row))):
        _match_by(identity, olds, news, found)
    taken = set(found.values())
    pairs = [Pair(olds[found[index]] if index in found else None, row) for index, row in enumerate(news)]
    return [*pairs, *(Pair(row, None) for index, row in enumerate(olds) if index not in taken)]


def _match_by(
    identity: Callable[[Row], Hashable], olds: Sequence[Row], news: Sequence[Row], found: dict[int, int]
) -> None:
    """Adds those of the same identity to `found`, in order where several have it."""
    taken = set(found.values())
    if len(found) == len(news) or len(taken) == len(olds):
        return
    candidates: dict[Hashable, list[int]] = defaultdict(list)
    for index in reversed(range(len(olds))):
        if index not in taken:
            candidates[identity(olds[index])].append(index)
    for index, row in enumerate(news):
        if index not in found and (same := candidates.get(identity(row))):
            found[index] = same.pop()


def _kernel(row: Row) -> Hashable:
    """What is equal for one kernel at one problem size, whatever it is called. Whole models are known by their name."""
    if row.dispatch is None:
        return row.key, symbols_of(row)
    where = (*row.key[:5], *row.key[6:])
    return where, symbols_of(row), row.dispatch.content, _sizes(row.dispatch)


def _problem(row: Row) -> Hashable:
    """What is equal for one problem size, as far as can be told."""
    if row.dispatch is None or row.call.function:
        # Another compiler may pass a dispatch other operands for the same problem: they do not tell.
        return symbols_of(row)
    return symbols_of(row), _sizes(row.dispatch)  # no symbol gives the sizes of a profile


def _sizes(dispatch: Dispatch) -> Hashable:
    return dispatch.workload, dispatch.constants, dispatch.bindings


def symbols_of(row: Row) -> Hashable:
    """The sizes that the call of a row is at, as far as the manifest gives them."""
    return tuple(sorted(row.call.symbols.items())), tuple(sorted(row.call.overrides.items()))
