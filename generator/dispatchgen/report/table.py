"""The rows of the page's table, as the data that its script reads: a list per column, texts only once.

Rows are in the order of importance: what failed first, then what changed most, then what takes most of its model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from dispatchgen.comparison import schema as comparison_schema
from dispatchgen.manifest.shapes import default_label
from dispatchgen.report.commands import COMMANDS
from dispatchgen.report.verdicts import CALM, SHOWN
from dispatchgen.results.lean import Call, Key, Results, Row, rows


class TableRow(NamedTuple):
    """A row of the table; texts that there are none of are empty, times are in seconds."""

    run: str  #: Id of the results; empty where no others have such a row.
    model: str
    backend: str
    device: str
    call: str
    kind: str
    benchmark: str  #: Empty: the whole model.
    dispatch: str
    variant: str
    caches: str
    operation: str
    symbol: str  #: IREE's.
    workload: str
    constants: str
    data: str
    shape: str
    state: str  #: `measured`, `not measured` or `gone`.
    failure: str
    verdict: str
    note: str  #: What there is to say of the verdict.
    per_call: int | None  #: How often it runs per call of the model.
    seconds: float | None
    half: float | None  #: Half of the confidence interval, relative.
    noise: float | None
    rounds: int | None
    total: float | None
    share: float | None
    overhead: float | None
    size: int | None  #: Bytes of the module.
    bindings: int | None  #: Bytes of all bindings.
    base: float | None
    ratio: float | None
    low: float | None
    high: float | None

    @property
    def link(self) -> str:
        """The part of a link to it behind `#`: the same in the next report of the same benchmark."""
        key = (self.model, self.backend, self.device, self.call, self.kind, self.benchmark, self.variant, self.caches)
        return "row=" + "/".join(quote(part, safe="!~*'()") for part in ([self.run, *key] if self.run else key))


_FIRST_NUMBER = TableRow._fields.index("per_call")
_TEXTS, _NUMBERS = TableRow._fields[:_FIRST_NUMBER], TableRow._fields[_FIRST_NUMBER:]
#: Columns of whole numbers.
_WHOLE = frozenset(("per_call", "rounds", "size", "bindings"))
_DIGITS = 4
_RANKS = {verdict: rank for rank, verdict in enumerate(SHOWN)}
#: The rank of what does not call for attention.
_LAST = min(_RANKS[verdict] for verdict in CALM)


def table_rows(results: Sequence[Results], comparison: comparison_schema.Comparison | None) -> list[TableRow]:
    """All rows of all results, the most important first; with a comparison also those that are gone."""
    several = len(results) > 1
    every = [(row, short_id(result.id) if several else "") for result in results for row in rows(result)]
    compared: dict[Key, comparison_schema.Row] = {}
    gone = []
    if comparison is not None:
        there = {row.key for row, _ in every}
        for row in comparison.rows:  # those of the results first: what is gone may have the key of one of them
            if row.key in there and row.key not in compared:
                compared[row.key] = row
            else:
                gone.append(_gone(row, short_id(comparison.base.id) if row.key in there else ""))
    found = [*(_table_row(row, run, compared.get(row.key)) for row, run in every), *gone]
    found.sort(key=_importance)
    return found


def short_id(id: str) -> str:
    """The beginning of a random id, for people."""
    return id[:8]


def _table_row(row: Row, run: str, compared: comparison_schema.Row | None) -> TableRow:
    key, timing, dispatch = row.key, row.timing, row.dispatch
    main = "cold" if row.call.settings.get("caches") == "cold" else "warm"  # shares are of this
    own = dispatch if not key.variant and key.caches == main else None
    return TableRow(
        run=run,
        **_key_columns(key),
        dispatch=dispatch.name if dispatch is not None else "",
        operation=dispatch.operation if dispatch is not None else "",
        symbol=dispatch.export if dispatch is not None else "",
        workload=", ".join(map(str, dispatch.workload)) if dispatch is not None else "",
        constants=", ".join(f"{value} : {type}" for type, value in dispatch.constants) if dispatch is not None else "",
        data="; ".join(dispatch.data) if dispatch is not None else "",
        shape=_shape(row.call),
        state="measured" if timing is not None else "not measured",
        failure=row.failure or "",
        verdict=compared.verdict if compared is not None else "",
        note=(compared.reason or "") if compared is not None else "",
        per_call=row.count,
        seconds=timing.seconds if timing is not None else None,
        half=half_width(timing.low, timing.high) if timing is not None else None,
        noise=timing.noise if timing is not None else None,
        rounds=len(timing.rounds) if timing is not None else None,
        total=timing.seconds * row.count if timing is not None and row.count is not None else None,
        share=own.share if own is not None and key.kind == "dispatch" else None,
        overhead=own.overhead_seconds if own is not None else None,
        size=row.compiled.size if row.compiled is not None else None,
        bindings=sum(dispatch.bindings) if dispatch is not None else None,
        base=compared.base if compared is not None else None,
        ratio=compared.ratio if compared is not None else None,
        low=compared.low if compared is not None else None,
        high=compared.high if compared is not None else None,
    )


def _gone(row: comparison_schema.Row, run: str) -> TableRow:
    """A row of the base that there is no longer, or that was not run; `run` tells it apart from one with its name."""
    numbers: dict[str, float | int | None] = dict.fromkeys(_NUMBERS)
    numbers.update(per_call=row.count, base=row.base)
    texts: dict[str, str] = dict.fromkeys(_TEXTS, "")
    texts.update(_key_columns(row.key), run=run, operation=row.operation, state="gone", verdict=row.verdict)
    texts["note" if row.verdict == "gone" else "failure"] = row.reason or ""
    return TableRow(**texts, **numbers)  # type: ignore[arg-type]


def _key_columns(key: Key) -> dict[str, str]:
    return key._asdict()


def _shape(call: Call) -> str:
    """The shape for `dispatchgen run --shape`: sizes, which need not be listed, or where it has one its own label."""
    if call.symbols and call.shape == default_label(call.symbols):
        return ",".join(f"{symbol}={size}" for symbol, size in call.symbols.items())
    return call.shape


def half_width(low: float | None, high: float | None) -> float | None:
    """Half of an interval of times, relative to them. None: there is no interval."""
    return None if not low or not high else math.log(high / low) / 2


def _importance(row: TableRow) -> tuple[float, ...]:
    rank = _RANKS["failed"] if row.failure else min(_LAST, _RANKS.get(row.verdict, _LAST))  # type: ignore[call-overload]
    return (rank, -_effect(row) if rank < _LAST else 0.0, -(row.share or 0.0), -(row.total or 0.0))


def _effect(row: TableRow) -> float:
    """Seconds per call that it differs by from the base."""
    return 0.0 if row.seconds is None or row.base is None else abs(row.seconds - row.base) * (row.per_call or 0)


def data_json(found: Sequence[TableRow], shown: Sequence[Sequence[str]]) -> str:
    """The data as JSON that is safe inside a script element: it holds no `<`, `>` or `&`. `shown` are columns."""
    columns: dict[str, object] = {}
    texts: dict[str, list[object]] = {}
    for name, values in _columns(found):
        if name in _NUMBERS:
            columns[name] = values if name in _WHOLE else _rounded(values)
        else:
            numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
            texts[name] = list(numbers)
            # One number stands for a column of the same.
            columns[name] = [numbers[value] for value in values] if len(numbers) > 1 else 0
    data = {
        "rows": len(found),
        "shown": shown,
        "texts": texts,
        "columns": columns,
        "commands": COMMANDS,
        "verdicts": SHOWN,
    }
    return script_json(data)


def _columns(found: Sequence[TableRow]) -> Iterator[tuple[str, Sequence[object]]]:
    yield from zip(TableRow._fields, zip(*found, strict=True) if found else ((),) * len(TableRow._fields), strict=True)


def _rounded(values: Sequence[object]) -> list[float]:
    """Times and the like to four digits; NaN, which is null in JSON, in place of None."""
    import numpy as np

    numbers = np.array(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(numbers))))
        rounded = np.round(numbers * scale) / scale
    found: list[float] = np.where(numbers == 0, 0.0, rounded).tolist()
    return found


def script_json(data: object) -> str:
    """Data as JSON for a script element, which would end at `</script` in a text of the data."""
    text = msgspec.json.encode(data).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def values_of(found: Sequence[TableRow], column: str) -> list[str]:
    """The texts of a column, sorted, without the empty one."""
    index = TableRow._fields.index(column)
    return sorted({str(row[index]) for row in found} - {""})


def as_mapping(row: TableRow) -> Mapping[str, str]:
    """The texts of a row by column, for `commands.command`."""
    return {name: str(getattr(row, name)) for name in _TEXTS}
