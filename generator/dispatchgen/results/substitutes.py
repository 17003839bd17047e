"""Running what stands in the place of a model's own kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dispatchgen.agreement.run import Checker, check
from dispatchgen.agreement.spec import read_spec
from dispatchgen.errors import DispatchgenError
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.results.benchmark import Outcome, Runner, run_dispatches
from dispatchgen.results.proof import Built, Same, examine, examine_model
from dispatchgen.results.schema import Agreement
from dispatchgen.results.scope import acting
from dispatchgen.selection.variants import Variant
from dispatchgen.substitute.schema import Substituted


@dataclass(frozen=True)
class Substitute:
    """What running the substitute of a dispatch gave, by the benchmark's name."""

    record: Substituted | None = None
    same: Same | None = None
    outcome: Outcome = field(default_factory=Outcome)
    agreements: Mapping[str, Agreement] = field(default_factory=dict)


@dataclass(frozen=True)
class SubstitutedModel:
    """What running a variant of the whole model gave."""

    same: bool = False
    outcome: Outcome = field(default_factory=Outcome)


def run_substitute(
    built: Built,
    runner: Runner,
    checker: Checker,
    variant: Variant,
    dispatch: Dispatch,
    functions: Sequence[str],
    output: Path,
) -> Substitute:
    """Runs a substitute's benchmarks and, where that is asked for, compares its outputs with the original's.

    What is the compiler's own kernel is not run: its time would differ by chance alone.
    """

    found = examine(built, variant.id, dispatch.name)
    if found.failure is not None:
        return Substitute(found.record, outcome=Outcome(failures=dict.fromkeys(functions, found.failure)))
    if found.same is not None:
        return Substitute(found.record, found.same)
    every = len(functions) == len(dispatch.benchmarks)
    module, archive = built.dispatch(dispatch.name, variant.id), built.archive(dispatch)
    outcome = run_dispatches(runner, module, functions, output, every=every, archive=archive)
    agreements = {}
    if variant.tolerance is not None and outcome.absent is None:
        agreements = _agreements(built, checker, variant.id, variant.tolerance, dispatch.name, functions, outcome.hung)
    return Substitute(found.record, None, outcome, agreements)


def _agreements(
    built: Built,
    checker: Checker,
    variant: str,
    tolerance: float,
    dispatch: str,
    functions: Sequence[str],
    hung: str | None,
) -> dict[str, Agreement]:
    """How the outputs of these benchmarks compare; nothing is kept from an earlier run.

    Args:
      hung: Why nothing is run of a substitute that did not end in time.
    """

    def failed(reason: str) -> Agreement:
        return Agreement(tolerance=tolerance, worst=None, agrees=False, failure=reason)

    module = built.tree.check_module(built.model, built.backend, variant, dispatch)
    reason = built.why_not(module) or hung
    if reason is not None:
        return dict.fromkeys(functions, failed(reason))
    try:
        spec = read_spec(built.tree.check_spec(built.model, built.backend, variant, dispatch))
    except DispatchgenError as error:
        return dict.fromkeys(functions, failed(error.problems[0].message))
    wanted = tuple(benchmark for benchmark in spec.benchmarks if benchmark.name in functions)
    found = {
        agreed.benchmark: Agreement(
            tolerance=tolerance,
            worst=agreed.worst,
            agrees=agreed.failure is None,
            failure=agreed.failure,
            note=agreed.note,
        )
        for agreed in check(checker, module, spec.model_copy(update={"benchmarks": wanted}), tolerance)
    }
    return dict.fromkeys(functions, failed("the check module has no such benchmark")) | found


def run_substituted_model(
    built: Built, variant: Variant, call: Call, run: Callable[[Path], Outcome]
) -> SubstitutedModel:
    """Runs a variant of the whole model, unless it is the compiler's own or replaces nothing that the call runs.

    Args:
      run: Runs the call of a module.
    """
    found = examine_model(built, variant)
    if found.failure is not None:
        return SubstitutedModel(outcome=Outcome(failures={call.function: found.failure}))
    if found.same:
        return SubstitutedModel(same=True)
    if not acting(variant, call):
        return SubstitutedModel()
    return SubstitutedModel(outcome=run(built.whole_model(variant.id)))
