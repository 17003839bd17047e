"""What results are of that shards of a suite left."""

from __future__ import annotations

from dispatchgen.results.schema import CallResult, Measuring, Results


def part_of(measuring: Measuring) -> str | None:
    """What results are of where shards are missing, in words; None: none are."""
    shards = measuring.shards if measuring.shard is None else (measuring.shard,)
    if not shards or len(shards) == shards[0].count:
        return None
    if len(shards) == 1:
        return f"shard {shards[0].index}/{shards[0].count} alone"
    return f"{len(shards)} of {shards[0].count} shards"


def nothing_in(results: Results) -> str | None:
    """That the shard has nothing of the suite, in words; None: it has something, or it is no shard."""
    shard = results.measuring.shard
    if shard is None or any(map(_has_rows, results.calls)):
        return None
    return f"nothing of this suite is in shard {shard.index}/{shard.count}"


def _has_rows(call: CallResult) -> bool:
    has_whole = bool(call.function) and not call.whole_model.left_out
    return has_whole or bool(call.dispatches or call.initializers)
