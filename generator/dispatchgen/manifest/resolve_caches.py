"""Which models have cold benchmarks, and how much memory these rotate over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dispatchgen.manifest.checks import Checks
from dispatchgen.manifest.quantities import parse_memory
from dispatchgen.manifest.suite import Model, Suite

#: Larger than the last cache of most processors, in bytes.
DEFAULT_COLD_MEMORY = 256 << 20


def with_cold_memory(checks: Checks, suite: Suite) -> tuple[Model, ...]:
    """The models of a suite, those with cold benchmarks with the memory for them.

    What a build has must be there for each preset that measures it: a model has cold benchmarks where it is to be
    measured cold, or a preset that selects it is.
    """
    for name, section in checks.manifest.presets.items():
        if section.run.cold_memory is not None:
            message = "`cold_memory` is not for presets: all of them measure what one build has"
            checks.add(("presets", name, "run", "cold_memory"), message, "give it to the model or the manifest")
    return tuple(replace(model, cold_memory=_cold_memory(checks, suite, model)) for model in suite.models)


def _cold_memory(checks: Checks, suite: Suite, model: Model) -> int | None:
    backends = [suite.backend(backend) for backend in model.backends]
    presets = [preset for preset in suite.presets if any(preset.selects(model, backend) for backend in backends)]
    if {model.run.caches, *(preset.run.get("caches") for preset in presets)}.isdisjoint(("cold", "both")):
        return None
    sections: Sequence[str | None] = [
        checks.manifest.models[model.name].run.cold_memory,
        checks.manifest.run.cold_memory,
    ]
    return next((parse_memory(text) for text in sections if text is not None), DEFAULT_COLD_MEMORY)
