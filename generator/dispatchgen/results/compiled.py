"""What compiling took, and what came out, as far as a build left it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from dispatchgen.buildtree.layout import COMPILE, Step
from dispatchgen.buildtree.records import read_record, recorded_steps
from dispatchgen.files import sha256_of
from dispatchgen.results.proof import Built
from dispatchgen.results.schema import BuildStep, Compiled
from dispatchgen.selection.variants import Variant


def compiled(built: Built, dispatch: str | None, variant: str | None = None) -> Compiled | None:
    """What is known of a module that the build left up to date; None: there is none.

    Args:
      built: A model on a backend.
      dispatch: Its name; None: the whole model.
      variant: Id of a substitution or combination; None: the compiler's own.
    """
    if _why_not(built, dispatch, variant) is not None:
        return None
    module = built.whole_model(variant) if dispatch is None else built.dispatch(dispatch, variant)
    try:
        size, sha256 = module.stat().st_size, sha256_of(module)
    except OSError:
        return None
    record = read_record(module)
    return Compiled(
        seconds=None if record is None else record.seconds,
        peak_bytes=None if record is None else record.peak_bytes,
        size=size,
        sha256=sha256,
    )


def build_steps(built: Built, dispatches: Collection[str], variants: Sequence[Variant]) -> tuple[BuildStep, ...]:
    """The steps of a model on a backend that left a record and whose product is up to date.

    Args:
      built: The model on the backend.
      dispatches: Names of the dispatches that the lock lists: what an earlier build left of others does not count.
      variants: Substitutions and combinations of the model.
    """
    return tuple(_build_steps(built, dispatches, variants))


def _build_steps(built: Built, dispatches: Collection[str], variants: Sequence[Variant]) -> Iterator[BuildStep]:
    if (built.model, built.backend) in built.state.models:
        return
    ids = {part.id for variant in variants for part in (variant, *variant.parts)}
    for step, product in recorded_steps(built.tree, built.model, built.backend):
        is_known = step.dispatch is None or step.dispatch in dispatches
        is_wanted = step.substitution is None or step.substitution in ids
        record = read_record(product)
        if not (is_known and is_wanted) or record is None or _is_outdated(built, step, product):
            continue
        yield BuildStep(
            step=step.step,
            model=built.model,
            backend=step.backend,
            dispatch=step.dispatch,
            substitution=step.substitution,
            seconds=record.seconds,
            peak_bytes=record.peak_bytes,
        )


def _is_outdated(built: Built, step: Step, product: Path) -> bool:
    if step.substitution is not None:
        return built.why_not(product) is not None
    return step.step == COMPILE and (built.model, built.backend, step.dispatch) in built.state.modules


def _why_not(built: Built, dispatch: str | None, variant: str | None) -> str | None:
    if variant is None:
        return built.state.modules.get((built.model, built.backend, dispatch))
    return built.why_not(built.whole_model(variant) if dispatch is None else built.dispatch(dispatch, variant))
