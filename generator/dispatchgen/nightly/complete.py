"""Whether results are all of a night, and of that one: what is not there cannot be worse than anything."""

from __future__ import annotations

from collections.abc import Iterator

from dispatchgen.errors import Problem
from dispatchgen.manifest.suite import Suite
from dispatchgen.results.environment import flag_digests
from dispatchgen.results.merge import Merged
from dispatchgen.results.schema import Results


def missing(selected: Suite, merged: Merged) -> Iterator[Problem]:
    """A problem for each shard that is not there; else for each model of the suite that the results do not tell of."""
    for shard in merged.missing:
        message = f"the results of shard {shard.index}/{shard.count} are missing"
        yield Problem(message, hint="--results with each of them")
    if merged.missing:
        return  # it is not known what they have
    told = _told(merged.results)
    for model in selected.models:
        backends = [backend for backend in model.backends if (model.id, backend) not in told]
        if backends:
            yield Problem(f"the results have nothing of model {model.name} on {', '.join(backends)}")


def strange(selected: Suite, results: Results) -> Iterator[Problem]:
    """What results tell of that is not of the suite, or was compiled otherwise than it says."""
    known = {(model.id, backend) for model in selected.models for backend in model.backends}
    others = sorted(_told(results) - known)
    if others:
        names = ", ".join(f"{model} on {backend}" for model, backend in others)
        yield Problem(f"the results are not of this manifest and preset: they also have {names}")
    flags = flag_digests(selected)
    measured = results.environment.software.flags
    differing = sorted(name for name in flags.keys() & measured.keys() if flags[name] != measured[name])
    if differing:
        yield Problem(f"the results are of other compile flags than the manifest has: {', '.join(differing)}")


def _told(results: Results) -> set[tuple[str, str]]:
    """The models and backends that results tell of."""
    told = {(call.model, call.backend) for call in results.calls}
    return told | {(each.model, each.backend) for each in results.not_run}
