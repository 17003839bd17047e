"""Rows as far as no time is compared: what is in both results, in one of them, or failed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from dispatchgen.comparison.match import Pair
from dispatchgen.comparison.options import Options
from dispatchgen.comparison.schema import Row, Verdict
from dispatchgen.results import lean
from dispatchgen.results.estimate import FEWEST

_TOO_FEW = f"measured in {{}}: an interval needs {FEWEST} rounds"
_FEW_PAIRS = f"fewer than {FEWEST} rounds were measured in both"


class Missing:
    """Why rows of BASE have no counterpart in NEW, as far as NEW tells."""

    def __init__(self, new: lean.Results):
        self._not_run: dict[tuple[object, object], list[Mapping[str, object]]] = defaultdict(list)
        for each in new.not_run:
            self._not_run[each["model"], each["backend"]].append(each)
        self._skipped = {
            (one.model, one.backend, one.device.id, one.call): {skip.operation: skip.reason for skip in one.skipped}
            for one in new.calls
        }

    def not_run(self, row: lean.Row) -> str | None:
        """Why nothing of its model was run on its device; None: it was, or nothing is known of it."""
        for each in self._not_run.get((row.key.model, row.key.backend), ()):
            device = each["device"]
            if not isinstance(device, dict) or device["id"] == row.key.device:
                return str(each["reason"])
        return None

    def skipped(self, row: lean.Row) -> str | None:
        """Why dispatches of its operation have no benchmark; None: it is not told."""
        operation = row.dispatch.operation if row.dispatch else ""
        return self._skipped.get(row.key[:4], {}).get(operation)


def present(pair: Pair, missing: Missing, options: Options) -> Row:
    """The row of a pair, with the verdict that it has unless its times can be compared."""
    verdict, reason = _verdict(pair, missing)
    base, new, either = pair.base, pair.new, pair.either
    old_time, new_time = base.timing if base else None, new.timing if new else None
    limit = options.limits(either.key)
    return Row(
        *either.key,
        verdict=verdict,
        base=old_time.seconds if old_time else None,
        new=new_time.seconds if new_time else None,
        ratio=new_time.seconds / old_time.seconds if new_time and old_time and old_time.seconds else None,
        base_rounds=len(old_time.rounds) if old_time else 0,
        new_rounds=len(new_time.rounds) if new_time else 0,
        count=either.count,
        operation=either.dispatch.operation if either.dispatch else "",
        renamed_from=base.key.benchmark if base and new and base.key != new.key else None,
        same_code=_same_code(pair),
        reason=reason,
        limit=None if limit is None or math.isinf(limit) else limit,
        ignored=limit is not None and math.isinf(limit),
    )


def _same_code(pair: Pair) -> bool | None:
    """Whether the module is the same, byte for byte; None: not known."""
    if pair.base is None or pair.new is None or pair.base.compiled is None or pair.new.compiled is None:
        return None
    return pair.base.compiled.sha256 == pair.new.compiled.sha256


def _verdict(pair: Pair, missing: Missing) -> tuple[Verdict, str | None]:
    base, new = pair.base, pair.new
    if new is None:
        assert base is not None
        if base.timing is not None and (reason := missing.not_run(base)):
            return "failed", reason
        return "gone", missing.skipped(base)
    if new.timing is None:
        return "failed" if base and base.timing else "failing", new.failure
    if base is None:
        return "new", None
    if base.timing is None:
        return "fixed", f"before: {base.failure}" if base.failure else None
    fewest = min(len(base.timing.rounds), len(new.timing.rounds))
    if fewest < FEWEST:
        return "noisy", _TOO_FEW.format("one round" if fewest == 1 else f"{fewest} rounds")
    if base.timing.low is None or new.timing.low is None:
        return "noisy", "the clock is too coarse for it: a time of 0 was measured"
    return "noisy", _FEW_PAIRS
