"""What of a build tree can be used after a build: nothing that an earlier build left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.buildtree.build import BuildReport, up_to_date
from dispatchgen.buildtree.layout import (
    COMPILE,
    COMPILE_CHECK,
    CONFIGURE,
    OBJECT,
    SUBSTITUTE,
    SUBSTITUTE_MODEL,
    BuildTree,
    Step,
)
from dispatchgen.buildtree.programs import BuildPrograms
from dispatchgen.lock.schema import Lock
from dispatchgen.selection.variants import Variant, Variants

_NOT_MADE = "it was not built, because the build did not come that far"


@dataclass(frozen=True)
class BuildState:
    """Why parts of a build cannot be used. What is not named here is up to date."""

    #: (model, backend) -> why nothing of it can be used.
    models: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: (model, backend, dispatch; None: the whole model) -> why its module cannot be used.
    modules: Mapping[tuple[str, str, str | None], str] = field(default_factory=dict)
    #: File of a substitution or combination -> why it cannot be used.
    substituted: Mapping[Path, str] = field(default_factory=dict)


def state_after(
    programs: BuildPrograms, tree: BuildTree, report: BuildReport, locks: Mapping[str, Lock], variants: Variants
) -> BuildState:
    """The state of a build tree after a build of these locks (by model id) and variants.

    Asks Ninja where the build failed.
    """
    if report.complete:
        return BuildState()
    reasons = {failure.step: failure.reason for failure in report.failures}
    general = next((failure.reason for failure in report.failures if failure.step.model is None), _NOT_MADE)
    models: dict[tuple[str, str], str] = {}
    modules: dict[tuple[str, str, str | None], str] = {}
    substituted: dict[Path, str] = {}
    for model, lock in locks.items():
        for backend, found in lock.backends.items():
            broken = _broken_model(reasons, model, backend)
            if broken is not None:
                models[model, backend] = broken
                continue
            outputs: dict[Path, str | None] = {tree.model_module(model, backend): None} if lock.is_called else {}
            outputs |= {tree.dispatch_module(model, backend, d.name): d.name for d in found.dispatches}
            current = up_to_date(programs, tree, list(outputs))
            for output, name in outputs.items():
                if output not in current:
                    reason = reasons.get(Step(COMPILE, model, backend, name), general)
                    modules[model, backend, name] = f"{COMPILE}: {reason}" if reason is not general else reason
            steps = _variant_steps(tree, model, backend, variants.get((model, backend), ()), is_called=lock.is_called)
            current = up_to_date(programs, tree, list(steps))
            for output, needed in steps.items():
                if output not in current:
                    failed = next((step for step in needed if step in reasons), None)
                    substituted[output] = general if failed is None else f"{failed.step}: {reasons[failed]}"
    return BuildState(models, modules, substituted)


def variant_outputs(
    tree: BuildTree, model: str, backend: str, variants: Sequence[Variant], *, is_called: bool = True
) -> list[Path]:
    """What a build makes of variants to be run.

    Args:
      is_called: Whether the lock has calls of the whole model: if not, it is not built.
    """
    return list(_variant_steps(tree, model, backend, variants, is_called=is_called))


def _variant_steps(
    tree: BuildTree, model: str, backend: str, variants: Sequence[Variant], *, is_called: bool
) -> dict[Path, Sequence[Step]]:
    """The modules of variants, each with the steps of substitutions that it needs, the last one first.

    To a combination belong those of its members' dispatches: by them it is proved that its whole model differs.
    """
    found: dict[Path, Sequence[Step]] = {}
    for variant in variants:
        whole = [Step(step, model, backend, None, variant.id) for step in (COMPILE, SUBSTITUTE_MODEL)]
        for part in variant.parts:
            for target in part.targets:
                name = target.dispatch.name
                steps = [Step(SUBSTITUTE, model, backend, name, part.id)]
                # An object that several dispatches share is copied for one of them.
                sharing = (each.dispatch.name for each in part.targets if each.file == target.file)
                steps += [Step(OBJECT, model, backend, each, part.id) for each in sharing]
                # Steps of all substitutes: of a tuned program, or of the object that a command builds.
                steps += [Step(step, model, backend, None, part.id) for step in (SUBSTITUTE, OBJECT, CONFIGURE)]
                whole += steps
                module = tree.dispatch_module(model, backend, name, part.id)
                found[module] = [Step(COMPILE, model, backend, name, part.id), *steps]
                if variant is part and part.tolerance is not None:
                    check = tree.check_module(model, backend, part.id, name)
                    found[check] = [Step(COMPILE_CHECK, model, backend, name, part.id), *steps]
        if is_called:
            found[tree.model_module(model, backend, variant.id)] = whole
    return found


def _broken_model(reasons: Mapping[Step, str], model: str, backend: str) -> str | None:
    """Why the steps that all dispatches of a model need failed, if one did."""
    for step, reason in reasons.items():
        is_shared = step.step != COMPILE and step.substitution is None
        if is_shared and step.model == model and step.backend in (None, backend):
            return f"{step.step}: {reason}"
    return None
