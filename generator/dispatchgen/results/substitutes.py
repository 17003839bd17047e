"""Running what stands in the place of a model's own kernels, and proving that it does."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import DispatchgenError
from dispatchgen.extract.schema import Call, Dispatch
from dispatchgen.results import agreement
from dispatchgen.results.benchmark import Outcome, Runner, run_dispatches, run_model
from dispatchgen.results.schema import Agreement
from dispatchgen.substitute.schema import Substituted
from dispatchgen.substitute.variants import Variant

#: In what a substitute and its original are the same.
Same = Literal["text", "code"]


@dataclass(frozen=True)
class Built:
    """What a build made of a model on a backend."""

    tree: BuildTree
    state: BuildState
    model: str  #: Id.
    backend: str  #: Id.

    def dispatch(self, name: str, variant: str | None = None) -> Path:
        """The benchmark module of a dispatch, or of its substitute."""
        return self.tree.dispatch_module(self.model, self.backend, name, variant)

    def whole_model(self, variant: str | None = None) -> Path:
        """The whole model, or a variant of it."""
        return self.tree.model_module(self.model, self.backend, variant)

    def flag_file(self, call: str) -> Path:
        """The flag file of a call of the whole model, which its variants share."""
        return self.tree.flag_file(self.model, self.backend, call)

    def why_not(self, module: Path) -> str | None:
        """Why a module of a variant cannot be used; None: it can."""
        return self.state.substituted.get(module)

    def are_equal(self, dispatch: str | None, variant: str) -> bool | None:
        """Whether a variant's module is byte for byte the original's; None: there are not both of them.

        Args:
          dispatch: Its name; None: the whole model.
          variant: Id.
        """
        if dispatch is None:
            original, other = self.whole_model(), self.whole_model(variant)
        else:
            original, other = self.dispatch(dispatch), self.dispatch(dispatch, variant)
        if (self.model, self.backend, dispatch) in self.state.modules or self.why_not(other) is not None:
            return None
        try:
            return filecmp.cmp(original, other, shallow=False)
        except OSError:
            return None


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
    checker: agreement.Checker,
    variant: Variant,
    dispatch: Dispatch,
    functions: Sequence[str],
    output: Path,
) -> Substitute:
    """Runs a substitute's benchmarks and, where that is asked for, compares its outputs with the original's.

    What is the compiler's own kernel is not run: its time would differ by chance alone.
    """

    def failed(reason: str, record: Substituted | None = None) -> Substitute:
        return Substitute(record=record, outcome=Outcome(failures=dict.fromkeys(functions, reason)))

    module = built.dispatch(dispatch.name, variant.id)
    reason = built.why_not(module)
    if reason is not None:
        return failed(reason)
    record = _read_record(built.tree.record(built.model, built.backend, variant.id, dispatch.name))
    if record is None:
        return failed("the build left no readable record of the substitute")
    if record.skipped is not None:
        return failed(record.skipped, record)
    if record.same:
        return Substitute(record, "text")
    if built.are_equal(dispatch.name, variant.id):
        return Substitute(record, "code")
    every = len(functions) == len(dispatch.benchmarks)
    outcome = run_dispatches(runner, module, functions, output, every=every)
    agreements = {}
    if variant.tolerance is not None and outcome.absent is None:
        agreements = _agreements(built, checker, variant.id, variant.tolerance, dispatch.name, functions)
    return Substitute(record, None, outcome, agreements)


def _agreements(
    built: Built, checker: agreement.Checker, variant: str, tolerance: float, dispatch: str, functions: Sequence[str]
) -> dict[str, Agreement]:
    """How the outputs of these benchmarks compare; nothing is kept from an earlier run."""

    def failed(reason: str) -> Agreement:
        return Agreement(tolerance=tolerance, worst=None, agrees=False, failure=reason)

    module = built.tree.check_module(built.model, built.backend, variant, dispatch)
    reason = built.why_not(module)
    if reason is not None:
        return dict.fromkeys(functions, failed(reason))
    try:
        spec = agreement.read_spec(built.tree.check_spec(built.model, built.backend, variant, dispatch))
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
        for agreed in agreement.check(checker, module, spec.model_copy(update={"benchmarks": wanted}), tolerance)
    }
    return dict.fromkeys(functions, failed("the check module has no such benchmark")) | found


def _read_record(path: Path) -> Substituted | None:
    try:
        return Substituted.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def run_substituted_model(
    built: Built, runner: Runner, variant: Variant, call: Call, parameters: Sequence[str], output: Path
) -> SubstitutedModel:
    """Runs a variant of the whole model, unless it is the compiler's own.

    That is an error where the module of a dispatch differs: what was built for the benchmark is not in the program.

    Args:
      parameters: Values of `--parameters=`.
    """

    def failed(reason: str) -> SubstitutedModel:
        return SubstitutedModel(outcome=Outcome(failures={call.function: reason}))

    module = built.whole_model(variant.id)
    reason = built.why_not(module)
    if reason is not None:
        return failed(reason)
    if built.are_equal(None, variant.id):
        differing = [
            target.dispatch.name
            for part in variant.parts
            for target in part.targets
            if built.are_equal(target.dispatch.name, part.id) is False
        ]
        if differing:
            names = ", ".join(differing)
            return failed(
                f"nothing is substituted: it is the compiler's own program, byte for byte, though not {names}"
            )
        return SubstitutedModel(same=True)
    flag_file = built.flag_file(call.name)
    return SubstitutedModel(outcome=run_model(runner, module, call.function, flag_file, parameters, output))
