"""The columns of the page's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from dispatchgen.report.table import TableRow

Kind = Literal["name", "text", "count", "time", "seconds", "percent", "ratio", "verdict", "reason"]


class Column(NamedTuple):
    """A column: `id` is a field of `TableRow`."""

    id: str
    title: str
    kind: Kind
    description: str


_COLUMNS = (
    Column("benchmark", "benchmark", "name", "the dispatch at its sizes, or the whole model"),
    Column("run", "results", "text", "id of the results"),
    Column("model", "model", "text", "id of the model"),
    Column("backend", "backend", "text", "what it is compiled for"),
    Column("device", "device", "text", "what it ran on"),
    Column("call", "call", "text", "entry function and shape"),
    Column("variant", "kernel", "text", "the substitution; nothing: the compiler's own kernel"),
    Column("caches", "caches", "text", "cold: each run finds its buffers in no cache"),
    Column("verdict", "verdict", "verdict", "what can be said of the difference"),
    Column("ratio", "ratio", "ratio", "time by that of the base, with its 95 % confidence interval: below 1 is faster"),
    Column("seconds", "time", "time", "of one run, with half of its 95 % confidence interval"),
    Column("base", "base", "seconds", "time in the results that these are compared with"),
    Column("per_call", "count", "count", "runs per call of the model"),
    Column("total", "time x count", "seconds", "what it adds to one call"),
    Column("share", "share", "percent", "time x count by the time of the whole model, or of all dispatches"),
    Column("failure", "not measured because", "reason", "why there is no time"),
)
#: Columns that are there whatever they hold.
_ALWAYS = frozenset(("benchmark", "seconds", "per_call", "total"))


def columns(rows: Sequence[TableRow]) -> list[Column]:
    """Those that tell rows apart: of texts with one value for all, the page's top has it."""
    return [column for column in _COLUMNS if column.id in _ALWAYS or _tells(column, rows)]


def _tells(column: Column, rows: Sequence[TableRow]) -> bool:
    index = TableRow._fields.index(column.id)
    if column.kind == "text":
        return len({row[index] for row in rows}) > 1
    return any(row[index] not in (None, "") for row in rows)


def same_for_all(rows: Sequence[TableRow]) -> str:
    """What of the texts all rows have in common, in words."""
    found = []
    for name in ("model", "backend", "device", "call"):
        values = {getattr(row, name) for row in rows}
        if len(values) == 1:
            found.append(f"{name} {next(iter(values))}")
    return ", ".join(found)
