"""What takes the time of each call: its dispatches by their share, and the whole model beside their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dispatchgen.report.table import TableRow, short_id
from dispatchgen.results.lean import Call, Results

#: Most dispatches that are shown of a call.
MOST_DISPATCHES = 12
#: Most calls of which the page's text tells; the table has all.
MOST_CALLS = 60


@dataclass(frozen=True)
class Ranked:
    """A call and the most expensive of its dispatches."""

    run: str
    call: Call
    seconds: float | None  #: Of the whole model.
    half: float | None  #: Half of its confidence interval, relative.
    share_of: str  #: What shares are of.
    rows: tuple[TableRow, ...]
    others: int  #: Measured dispatches that are not shown.
    others_share: float

    @property
    def title(self) -> str:
        """The call in words."""
        return f"{self.call.model} on {self.call.backend}, {self.call.device.id}, {self.call.call}"


def ranked(results: Sequence[Results], rows: Sequence[TableRow]) -> list[Ranked]:
    """All calls, the most expensive first."""
    by_call: dict[tuple[str, ...], list[TableRow]] = {}
    models: dict[tuple[str, ...], TableRow] = {}
    for row in rows:
        key = (row.run, row.model, row.backend, row.device, row.call)
        if row.kind == "model" and not row.variant:
            models[key] = row
        elif row.share is not None:
            by_call.setdefault(key, []).append(row)
    several = len(results) > 1
    found = [
        _ranked(call, key, models.get(key), by_call.get(key, []))
        for result in results
        for call in result.calls
        for key in [(short_id(result.id) if several else "", call.model, call.backend, call.device.id, call.call)]
    ]
    return sorted(found, key=lambda each: -(each.seconds or each.call.sum_seconds or 0.0))


def _ranked(call: Call, key: tuple[str, ...], model: TableRow | None, rows: Sequence[TableRow]) -> Ranked:
    rows = sorted(rows, key=lambda row: -(row.share or 0.0))
    shown, rest = rows[:MOST_DISPATCHES], rows[MOST_DISPATCHES:]
    of_model = call.whole_model.timing is not None and not call.overrides
    return Ranked(
        run=key[0],
        call=call,
        seconds=model.seconds if model is not None else None,
        half=model.half if model is not None else None,
        share_of="the whole model's time" if of_model else "the sum of all dispatches",
        rows=tuple(shown),
        others=len(rest),
        others_share=sum(row.share or 0.0 for row in rest),
    )
