"""Comparing the outputs of substitutes with those of the compiler's own kernels, once per run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.agreement.run import Agreed, check
from dispatchgen.agreement.spec import read_spec
from dispatchgen.errors import DispatchgenError
from dispatchgen.results.schema import Agreement, CallResult, Results, SubstitutionResult
from dispatchgen.results.subject import Subject
from dispatchgen.results.task import Target
from dispatchgen.selection.variants import Variant


@dataclass(frozen=True)
class Checked:
    """How the outputs of a substitute compare with its original's."""

    agreements: Mapping[str, Agreement]  #: By the benchmark's name.
    is_absent: bool = False  #: Whether the device is not there.


@dataclass(frozen=True)
class Check:
    """A comparison of outputs, to be done before anything is measured."""

    id: str  #: What is compared, for people.
    target: Target  #: Its `build` is empty: a frame is of one build.
    dispatch: str  #: Its name.
    run: Callable[[], Checked]


def checks_of(subject: Subject) -> Iterator[Check]:
    """What is to be compared: where the manifest asks for it, and the substitute is not the compiler's own kernel."""
    for dispatch, benchmarks in subject.dispatches():
        names = [each.name for each in benchmarks if each.name not in subject.sized]
        for variant in subject.variants:
            if names and variant.tolerance is not None and subject.is_substituted(dispatch.name, variant.id):
                yield _check(subject, variant, dispatch.name, names, variant.tolerance)


def _check(subject: Subject, variant: Variant, dispatch: str, benchmarks: Sequence[str], tolerance: float) -> Check:
    target = subject.target("dispatch", variant.id)._replace(build="")
    where = f"{target.model} on {target.backend}, {target.device}: {dispatch}, {variant.name}"
    return Check(where, target, dispatch, lambda: _run(subject, variant.id, dispatch, benchmarks, tolerance))


def _run(subject: Subject, variant: str, dispatch: str, benchmarks: Sequence[str], tolerance: float) -> Checked:
    """How the outputs of these benchmarks compare; nothing is kept from an earlier run."""

    def failed(reason: str) -> Checked:
        agreement = Agreement(tolerance=tolerance, worst=None, agrees=False, failure=reason)
        return Checked(dict.fromkeys(benchmarks, agreement))

    built = subject.built
    module = built.tree.check_module(built.model, built.backend, variant, dispatch)
    reason = built.why_not(module)
    if reason is not None:
        return failed(reason)
    try:
        spec = read_spec(built.tree.check_spec(built.model, built.backend, variant, dispatch))
    except DispatchgenError as error:
        return failed(error.problems[0].message)
    wanted = tuple(each for each in spec.benchmarks if each.name in benchmarks)
    agreed = list(check(subject.checker, module, spec.model_copy(update={"benchmarks": wanted}), tolerance))
    found = {each.benchmark: _agreement(each, tolerance) for each in agreed}
    missing = failed("the check module has no such benchmark").agreements
    return Checked({**missing, **found}, is_absent=any(each.absent for each in agreed))


def _agreement(agreed: Agreed, tolerance: float) -> Agreement:
    return Agreement(
        tolerance=tolerance,
        worst=agreed.worst,
        agrees=agreed.failure is None,
        failure=agreed.failure,
        note=agreed.note,
    )


def run_checks(frame: Results, checks: Sequence[Check], on_start: Callable[[int, int, str], None]) -> Results:
    """The frame with how outputs compare. Of a device that is absent, nothing more is compared.

    Args:
      frame: What was known before.
      checks: What is to be compared.
      on_start: Called before each comparison with the number of those that are done, of how many, and what starts.
    """
    found: dict[tuple[Target, str], Agreement] = {}
    absent: set[tuple[str, str]] = set()
    for number, each in enumerate(checks):
        on_start(number, len(checks), each.id)
        device = (each.target.backend, each.target.device)
        if device not in absent:
            checked = each.run()
            found |= {(each.target, name): agreement for name, agreement in checked.agreements.items()}
            absent |= {device} if checked.is_absent else set()
    return frame.model_copy(update={"calls": tuple(with_agreements(call, found) for call in frame.calls)})


def with_agreements(call: CallResult, found: Mapping[tuple[Target, str], Agreement]) -> CallResult:
    """A call with how outputs compare, by the substitute and the benchmark's name."""

    def of_substitution(result: SubstitutionResult) -> SubstitutionResult:
        target = Target(call.model, call.backend, call.device.id, "dispatch", result.id)
        rows = tuple(
            row.model_copy(update={"agreement": found.get((target, row.benchmark))}) for row in result.dispatches
        )
        return result.model_copy(update={"dispatches": rows})

    substitutions = tuple(of_substitution(result) for result in call.substitutions)
    return call.model_copy(update={"substitutions": substitutions})
