"""What is built and run beside a model's own program: its substitutions and combinations on a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.manifest.suite import Backend, Combination, Model, Substitution, Suite
from dispatchgen.selection.select import Target, select_substitutions


@dataclass(frozen=True)
class Variant:
    """A substitution or a combination on a backend."""

    name: str  #: As the user wrote it.
    id: str
    targets: tuple[Target, ...] = ()  #: What a substitution replaces.
    tolerance: float | None = None  #: Largest error of the outputs; None: they are not compared.
    members: tuple[Variant, ...] = ()  #: What a combination is made of; empty: it is a substitution.

    @property
    def parts(self) -> tuple[Variant, ...]:
        """The substitutions: itself, or the members of a combination."""
        return self.members or (self,)

    @property
    def dispatches(self) -> list[str]:
        """Names of all dispatches that are replaced."""
        return [target.dispatch.name for part in self.parts for target in part.targets]


def variants_of(suite: Suite, model: Model, backend: Backend, lock: Lock) -> list[Variant]:
    """The variants of a model on a backend, combinations last. Raises SubstitutionError."""
    found = {
        selected.substitution.id: Variant(
            selected.substitution.name, selected.substitution.id, selected.targets, selected.substitution.tolerance
        )
        for selected in select_substitutions(suite, model, backend, lock)
    }
    combined = [
        Variant(combination.name, combination.id, members=tuple(found[member] for member in combination.members))
        for combination in model.combinations
        if backend.id in combination.backends
    ]
    return [*found.values(), *combined]


#: The variants of each model on each backend, by the ids of both.
Variants = Mapping[tuple[str, str], Sequence[Variant]]


def all_variants(suite: Suite, locks: Mapping[str, Lock]) -> Variants:
    """The variants of a suite. Raises SubstitutionError with all problems."""
    found: dict[tuple[str, str], Sequence[Variant]] = {}
    problems: list[Problem] = []
    for model in suite.models:
        for backend in model.backends:
            try:
                found[model.id, backend] = variants_of(suite, model, suite.backend(backend), locks[model.id])
            except SubstitutionError as error:
                problems += error.problems
    if problems:
        raise SubstitutionError(*problems)
    return found


def narrow(suite: Suite, wanted: Sequence[str]) -> Suite:
    """The models and backends that have a substitution or combination of these names or ids; none given: all of them.

    Raises SubstitutionError for names that there are not.
    """
    if not wanted:
        return suite
    declared = [(model, each) for model in suite.models for each in _declared(model)]
    names = {name for _, each in declared for name in (each.name, each.id)}
    problems = [
        Problem(
            f"there is no substitution or combination {show(name)} among those selected",
            Place(str(suite.manifest)),
            did_you_mean(name, sorted({each.name for _, each in declared})),
        )
        for name in dict.fromkeys(wanted)
        if name not in names
    ]
    if problems:
        raise SubstitutionError(*problems)
    models = []
    for model in suite.models:
        has = {backend for each in _declared(model) if _is_wanted(each, wanted) for backend in each.backends}
        backends = tuple(backend for backend in model.backends if backend in has)
        if backends:
            models.append(replace(model, backends=backends))
    return replace(suite, models=tuple(models))


def _declared(model: Model) -> list[Substitution | Combination]:
    """The substitutions and combinations on backends that the model is run on."""
    declared: list[Substitution | Combination] = [*model.substitutions, *model.combinations]
    return [each for each in declared if not set(each.backends).isdisjoint(model.backends)]


def _is_wanted(each: Substitution | Combination | Variant, wanted: Sequence[str]) -> bool:
    return each.name in wanted or each.id in wanted


def only(variants: Variants, wanted: Sequence[str]) -> Variants:
    """The variants of these names or ids; all of them where none is given."""
    if not wanted:
        return variants
    return {pair: [each for each in found if _is_wanted(each, wanted)] for pair, found in variants.items()}
