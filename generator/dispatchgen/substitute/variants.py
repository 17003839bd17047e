"""What is built and run beside a model's own program: its substitutions and combinations on a backend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dispatchgen.errors import Place, Problem, SubstitutionError
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.names import did_you_mean, show
from dispatchgen.manifest.suite import Backend, Combination, Model, Substitution, Suite
from dispatchgen.substitute.select import Target, select_substitutions


@dataclass(frozen=True)
class Variant:
    """A substitution or a combination on a backend."""

    name: str  #: As the user wrote it.
    id: str
    targets: tuple[Target, ...]  #: What it replaces; of a combination: what its members do.
    members: tuple[str, ...] = ()  #: Ids of the substitutions that a combination is made of; empty: a substitution.
    tolerance: float | None = None  #: Largest difference of the outputs; None: they are not compared.

    def target(self, dispatch: str) -> Target | None:
        """What replaces the dispatch of that name."""
        return next((target for target in self.targets if target.dispatch.name == dispatch), None)


def variants_of(suite: Suite, model: Model, backend: Backend, lock: Lock) -> list[Variant]:
    """The variants of a model on a backend, combinations last. Raises SubstitutionError."""
    found = {
        selected.substitution.id: Variant(
            name=selected.substitution.name,
            id=selected.substitution.id,
            targets=selected.targets,
            tolerance=selected.substitution.tolerance,
        )
        for selected in select_substitutions(suite, model, backend, lock)
    }
    combined = [
        Variant(
            name=combination.name,
            id=combination.id,
            targets=tuple(target for member in combination.members for target in found[member].targets),
            members=combination.members,
        )
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


def check_names(suite: Suite, wanted: Iterable[str]) -> None:
    """Raises SubstitutionError for names (or ids) that no substitution or combination of the suite's models has."""
    known = [
        (each.name, each.id)
        for model in suite.models
        for each in _declared(model)
        if not set(each.backends).isdisjoint(model.backends)
    ]
    names = sorted({name for name, _ in known})
    problems = [
        Problem(
            f"there is no substitution or combination {show(name)} among those selected",
            Place(str(suite.manifest)),
            did_you_mean(name, names),
        )
        for name in dict.fromkeys(wanted)
        if all(name not in pair for pair in known)
    ]
    if problems:
        raise SubstitutionError(*problems)


def _declared(model: Model) -> Iterator[Substitution | Combination]:
    yield from model.substitutions
    yield from model.combinations


def only(variants: Variants, wanted: Sequence[str]) -> Variants:
    """The variants of these names or ids; all of them where none is given."""
    if not wanted:
        return variants
    return {pair: [each for each in found if {each.name, each.id} & set(wanted)] for pair, found in variants.items()}
