"""What results are of that shards of a suite left."""

from __future__ import annotations

from dispatchgen.results.schema import Measuring


def part_of(measuring: Measuring) -> str | None:
    """What results are of where shards are missing, in words; None: none are."""
    shards = measuring.shards if measuring.shard is None else (measuring.shard,)
    if not shards or len(shards) == shards[0].count:
        return None
    if len(shards) == 1:
        return f"shard {shards[0].index}/{shards[0].count} alone"
    return f"{len(shards)} of {shards[0].count} shards"
