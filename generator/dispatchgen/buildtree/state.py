"""What of a build tree can be used after a build: nothing that an earlier build left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.buildtree.build import BuildReport, up_to_date
from dispatchgen.buildtree.layout import COMPILE, BuildTree, Step
from dispatchgen.buildtree.programs import BuildPrograms
from dispatchgen.lock.schema import Lock

_NOT_MADE = "it was not built, because the build did not come that far"


@dataclass(frozen=True)
class BuildState:
    """Why parts of a build cannot be used. What is not named here is up to date."""

    #: (model, backend) -> why nothing of it can be used.
    models: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: (model, backend, dispatch; None: the whole model) -> why its module cannot be used.
    modules: Mapping[tuple[str, str, str | None], str] = field(default_factory=dict)


def state_after(programs: BuildPrograms, tree: BuildTree, report: BuildReport, locks: Mapping[str, Lock]) -> BuildState:
    """The state of a build tree after a build of these locks (by model id). Asks Ninja where the build failed."""
    if report.complete:
        return BuildState()
    reasons = {failure.step: failure.reason for failure in report.failures}
    general = next((failure.reason for failure in report.failures if failure.step.model is None), _NOT_MADE)
    models: dict[tuple[str, str], str] = {}
    modules: dict[tuple[str, str, str | None], str] = {}
    for model, lock in locks.items():
        for backend, found in lock.backends.items():
            broken = _broken_model(reasons, model, backend)
            if broken is not None:
                models[model, backend] = broken
                continue
            outputs: dict[Path, str | None] = {tree.model_module(model, backend): None}
            outputs |= {tree.dispatch_module(model, backend, d.name): d.name for d in found.dispatches}
            current = up_to_date(programs, tree, list(outputs))
            for output, name in outputs.items():
                if output not in current:
                    reason = reasons.get(Step(COMPILE, model, backend, name), general)
                    modules[model, backend, name] = f"{COMPILE}: {reason}" if reason is not general else reason
    return BuildState(models, modules)


def _broken_model(reasons: Mapping[Step, str], model: str, backend: str) -> str | None:
    """Why the steps that all dispatches of a model need failed, if one did."""
    for step, reason in reasons.items():
        if step.step != COMPILE and step.model == model and step.backend in (None, backend):
            return f"{step.step}: {reason}"
    return None
