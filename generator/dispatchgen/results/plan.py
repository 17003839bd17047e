"""What is to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dispatchgen.extract.schema import INITIALIZER, Call
from dispatchgen.lock.schema import Lock
from dispatchgen.manifest.select_shapes import settle
from dispatchgen.manifest.suite import Model, Shape, Suite
from dispatchgen.results.any_size import AtSizes
from dispatchgen.results.scope import acting
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
            return None
        return frozenset(name for variant in self.variants_of(model, backend) for name in variant.dispatches)

    def processes(self) -> int:
        """How many processes a run takes if nothing fails and nothing is the same."""
        return sum(
            len(self.suite.backend(backend).devices) * self._processes(model, backend)
            for model in self.suite.models
            for backend in model.backends
        )

    def _processes(self, model: Model, backend: str) -> int:
        only, variants = self.only(model.id, backend), self.variants_of(model.id, backend)
        more = self.at_sizes.get((model.id, backend))
        found = self.locks[model.id].backends[backend] if more is None else more.dispatches
        sized = {} if more is None else more.sized
        calls = self.calls(model, backend)
        run = {INITIALIZER, *(call.name for call in calls)}
        return (
            sum(
                any(not run.isdisjoint(each.counts) for each in dispatch.benchmarks if each.name not in sized)
                for dispatch in found.dispatches
                if only is None or dispatch.name in only
            )
            + len(sized)
            + sum(len(variant.targets) for variant in variants)
            + sum(1 + sum(bool(acting(variant, call)) for variant in variants) for call in calls if call.is_run)
        )
