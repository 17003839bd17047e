"""What is to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.buildtree.state import BuildState
from dispatchgen.errors import DispatchgenError, ModelError
from dispatchgen.extract.schema import Call
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.select_shapes import settle
from dispatchgen.manifest.suite import Model, Shape, Suite
from dispatchgen.results.any_size import AtSizes, at_sizes
from dispatchgen.results.index import read_index
from dispatchgen.selection.variants import Variant, Variants


def calls_of(model: Model, lock: Lock) -> list[Call]:
    """The calls of a model that are run, of those that are locked."""
    return [call for call in lock.calls if model.wanted is None or call.shape in model.wanted]


def with_calls(suite: Suite, locks: Mapping[str, Lock], *, all_locked: bool = True) -> Suite:
    """The suite without the models that have no shape of those that are wanted.

    Raises ManifestError for a label that no shape has, if all models that were asked for are locked: the labels of
    chosen shapes are known from locks.
    """
    shapes = {model.id: [Shape(call.shape, call.symbols) for call in locks[model.id].calls] for model in suite.models}
    return settle(suite, shapes, all_known=all_locked)


@dataclass(frozen=True)
class Plan:
    """What is to be run."""

    #: Narrowed to the models, shapes, backends and devices to run; each model with the run settings to use.
    suite: Suite
    locks: Mapping[str, Lock]  #: Of the whole models, by model id.
    variants: Variants = field(default_factory=dict)  #: Substitutions and combinations to run.
    #: Whether only these, their originals and the whole models are run; else all dispatches are.
    variants_only: bool = False
    #: Calls at sizes that the locks do not list, by model id and backend id.
    at_sizes: Mapping[tuple[str, str], AtSizes] = field(default_factory=dict)
    #: Names of the only dispatches to run of a model on a backend, by their ids; those of others: all.
    named: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def calls(self, model: Model, backend: str) -> list[Call]:
        """The calls of a model on a backend that are run."""
        more = self.at_sizes.get((model.id, backend))
        lock = self.locks[model.id]
        listed = [call for call in calls_of(model, lock) if lock.backends[backend].has(call)]
        return [*listed, *(more.calls if more is not None else ())]

    def variants_of(self, model: str, backend: str) -> Sequence[Variant]:
        """The variants of a model on a backend that are run: none where only sizes are asked for that nothing lists."""
        if (model, backend) in self.at_sizes and not any(
            calls_of(each, self.locks[model]) for each in self.suite.models if each.id == model
        ):
            return ()
        return self.variants.get((model, backend), ())

    def only(self, model: str, backend: str) -> frozenset[str] | None:
        """Names of the dispatches that are run; None: all of them."""
        if not self.variants_only:
            return self.named.get((model, backend))
        return frozenset(name for variant in self.variants_of(model, backend) for name in variant.dispatches)


def add_sizes(plan: Plan, tree: BuildTree, state: BuildState, work: BuildTree) -> Plan:
    """The plan with the calls at sizes that the locks do not list; nothing is compiled for them.

    Args:
      plan: What is to be run.
      tree: What was built.
      state: What of that can be used.
      work: Where flag files of these calls are written.

    Raises:
      ModelError: sizes do not fit the program, or are beyond the limits of what is built.
      ShapeError: the program itself rejects them.
    """
    found: dict[tuple[str, str], AtSizes] = {}
    errors: list[DispatchgenError] = []
    for model in plan.suite.models:
        for backend in model.backends if model.sizes else ():
            if (model.id, backend) not in state.models:
                try:
                    index = read_index(tree, model.id, backend)
                    found[model.id, backend] = at_sizes(model, plan.locks[model.id], index, tree, work, plan.suite.root)
                except ModelError as error:
                    errors.append(error)
    if errors:
        raise ModelError(*dict.fromkeys(problem for error in errors for problem in error.problems))
    return replace(plan, at_sizes=found)
