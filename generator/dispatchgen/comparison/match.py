"""Which rows of two results belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple

from dispatchgen.results.lean import Call, Dispatch, Key, Results, Row, rows


class Pair(NamedTuple):
    """A benchmark in both results, or in one of them."""

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
    left = {row.key: row for row in _run(base)}
    news = list(_run(new))
    pairs: list[Pair | None] = [_taken(left, row, _same_kernel) for row in news]
    for index, other in _renamed(left, [(index, row) for index, row in enumerate(news) if pairs[index] is None]):
        pairs[index] = Pair(other, news[index])
    for index, row in enumerate(news):
        if pairs[index] is None:
            pairs[index] = _taken(left, row, _same_problem)
    told = (pair or Pair(None, row) for pair, row in zip(pairs, news, strict=True))
    return [*told, *(Pair(row, None) for row in left.values())]


def _run(results: Results) -> Iterator[Row]:
    """The rows that were to be measured."""
    return (row for row in rows(results) if row.timing is not None or row.failure is not None)


def _taken(left: dict[Key, Row], row: Row, same: Callable[[Row, Row], bool]) -> Pair | None:
    """The pair with the row of the same key, where it is the same; its row of BASE is removed from `left`."""
    other = left.get(row.key)
    if other is None or not same(other, row):
        return None
    del left[row.key]
    return Pair(other, row)


def _renamed(left: dict[Key, Row], news: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """The rows of BASE, by index in NEW, that are the same kernel under another name; removed from `left`."""
    candidates: dict[Hashable, list[Row]] = defaultdict(list)
    for row in reversed(left.values()):
        if row.dispatch is not None:
            candidates[_kernel(row, row.dispatch)].append(row)
    for index, row in news:
        if row.dispatch is not None and (same := candidates.get(_kernel(row, row.dispatch))):
            yield index, left.pop(same.pop().key)


def _kernel(row: Row, dispatch: Dispatch) -> Hashable:
    """What is equal for one kernel at one problem size, whatever it is called."""
    where = row.key._replace(benchmark="")
    symbols = (*sorted(row.call.symbols.items()), *sorted(row.call.overrides.items()))
    return where, symbols, dispatch.content, dispatch.workload, dispatch.constants, dispatch.bindings


def _same_kernel(base: Row, new: Row) -> bool:
    if base.dispatch is None or new.dispatch is None or not same_sizes(base.call, new.call):
        return False
    return base.dispatch.content == new.dispatch.content and _same_operands(base.dispatch, new.dispatch)


def _same_problem(base: Row, new: Row) -> bool:
    """Whether rows of one name are at one problem size, as far as can be told, whatever their kernels are."""
    if not same_sizes(base.call, new.call):
        return False
    if base.dispatch is None or new.dispatch is None:
        return True
    # Another compiler may pass a dispatch other operands for the same problem. But where the code is the same they tell
    # the sizes; and so they do where these are a profile's, which no symbol gives.
    if base.dispatch.content == new.dispatch.content or not new.call.function:
        return _same_operands(base.dispatch, new.dispatch)
    return True


def _same_operands(base: Dispatch, new: Dispatch) -> bool:
    return base.workload == new.workload and base.constants == new.constants and base.bindings == new.bindings


def same_sizes(base: Call, new: Call) -> bool:
    """Whether the sizes are the same that the manifest gives two calls."""
    return base is new or (base.symbols == new.symbols and base.overrides == new.overrides)
