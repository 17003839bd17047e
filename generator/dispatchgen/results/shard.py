"""Measuring a suite in parts, on several machines: which part a group of tasks belongs to depends on its name alone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from dispatchgen.results.leave_out import leave_out
from dispatchgen.results.prepare import Prepared
from dispatchgen.results.schema import Shard

#: The most shards.
MOST = 1000


def parse_shard(text: str) -> Shard:
    """Reads `1/3`, the first of three. Raises ValueError, with what is allowed."""
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST:
        raise ValueError(f"'{text}' is no shard: 1/3 is the first of three, 3/3 the last")
    return Shard(index=int(found[1]), count=int(found[2]))


def is_in(group: str, shard: Shard) -> bool:
    """Whether a shard measures a group of tasks. It stays there when others are added or removed."""
    return int.from_bytes(hashlib.sha256(group.encode()).digest(), "big") % shard.count == shard.index - 1


def narrowed(prepared: Prepared, shard: Shard) -> Prepared:
    """What a shard measures of what was prepared. Rows of other shards are taken out; what cannot be measured stays."""
    found = leave_out(prepared, lambda task: not is_in(task.group, shard))
    measuring = found.frame.measuring.model_copy(update={"shard": shard})
    return replace(found, frame=found.frame.model_copy(update={"measuring": measuring}))
