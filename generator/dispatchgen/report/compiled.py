"""What compiling took: time, memory and size, per model and backend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dispatchgen.results.lean import Results

#: Most steps of the build that are shown.
MOST_STEPS = 15


@dataclass(frozen=True)
class Step:
    """A step of the build."""

    name: str
    model: str
    backend: str
    what: str  #: Dispatch and substitution.
    seconds: float
    peak_bytes: int | None


@dataclass(frozen=True)
class CompiledModel:
    """A model on a backend."""

    model: str
    backend: str
    dispatches: int  #: Modules of dispatches, without those of substitutes.
    size: int  #: Bytes of these.
    model_size: int | None  #: Bytes of the whole model's module.
    seconds: float | None  #: Of all steps together. None: not recorded.
    peak_bytes: int | None


def compiled_models(results: Sequence[Results]) -> list[CompiledModel]:
    """All that anything is known of, in the order of the results."""
    modules: dict[tuple[str, str], dict[str, int]] = {}
    wholes: dict[tuple[str, str], int] = {}
    for call in (call for result in results for call in result.calls):
        key = (call.model, call.backend)
        found = modules.setdefault(key, {})
        for dispatch in (*call.dispatches, *call.initializers):
            if dispatch.compiled is not None:
                found[dispatch.name] = dispatch.compiled.size
        if call.whole_model.compiled is not None:
            wholes[key] = call.whole_model.compiled.size
    steps = build_steps(results)
    found_models = []
    for (model, backend), sizes in modules.items():
        own = [step for step in steps if step.model == model and step.backend in (backend, "")]
        if sizes or own:
            found_models.append(
                CompiledModel(
                    model,
                    backend,
                    len(sizes),
                    sum(sizes.values()),
                    wholes.get((model, backend)),
                    sum(step.seconds for step in own) if own else None,
                    max((step.peak_bytes for step in own if step.peak_bytes is not None), default=None),
                )
            )
    return found_models


def build_steps(results: Iterable[Results]) -> list[Step]:
    """The steps whose time is known, the longest first; what several results record is there once."""
    found: dict[tuple[str, str, str, str], Step] = {}
    for each in (each for result in results for each in result.build):
        seconds, peak = each.get("seconds"), each.get("peak_bytes")
        if isinstance(seconds, (int, float)):
            substitution = each.get("substitution")
            what = [str(each.get("dispatch") or "")] + ([f"with {substitution}"] if substitution else [])
            key = (
                str(each.get("step")),
                str(each.get("model")),
                str(each.get("backend") or ""),
                " ".join(what).strip(),
            )
            found[key] = Step(*key, float(seconds), peak if isinstance(peak, int) else None)
    return sorted(found.values(), key=lambda step: -step.seconds)
