"""Whether results that were measured elsewhere are all of a night: what is not there cannot be worse than anything."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.errors import Problem
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.merge import Merged


def missing(selected: Suite, merged: Merged) -> Iterator[Problem]:
    """A problem for each shard that is not there; else for each model of the suite that the results do not tell of."""
    for shard in merged.missing:
        message = f"the results of shard {shard.index}/{shard.count} are missing"
        yield Problem(message, hint="--results with each of them")
    if merged.missing:
        return  # it is not known what they have
    results = merged.results
    told = {(call.model, call.backend) for call in results.calls}
    told |= {(each.model, each.backend) for each in results.not_run}
    for model in selected.models:
        backends = [backend for backend in model.backends if (model.id, backend) not in told]
        if backends:
            yield Problem(f"the results have nothing of model {model.name} on {', '.join(backends)}")
