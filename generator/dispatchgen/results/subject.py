"""What is measured on one device: a model on a backend, as it was planned and built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from dispatchgen.agreement.run import Checker
from dispatchgen.buildtree.layout import BuildTree
from dispatchgen.extract.schema import INITIALIZER, BackendDispatches, Benchmark, Call, Dispatch
from dispatchgen.manifest.suite import Device, Model
from dispatchgen.results.any_size import AtSizes, SizedBenchmark
from dispatchgen.results.benchmark import Runner
from dispatchgen.results.caches import NOT_BUILT, SIZES_ARE_WARM, Cache, measured_caches
from dispatchgen.results.plan import Plan
from dispatchgen.results.proof import Built, Proofs
from dispatchgen.results.schema import Compiled
from dispatchgen.results.task import Target
from dispatchgen.selection.variants import Variant


@dataclass(frozen=True)
class Subject:
    """A model on one backend and device."""

    plan: Plan
    built: Built
    model: Model
    index: BackendDispatches  #: What the build has of it, and what calls at sizes that nothing lists dispatch.
    proofs: Proofs
    runner: Runner
    checker: Checker
    #: What is known of a module, by the dispatch's name (None: the whole model) and the variant's id (None: the
    #: compiler's own); None: there is none.
    compiled: Callable[[str | None, str | None], Compiled | None]
    work: BuildTree  #: Where iree-benchmark-module writes.
    cpus: frozenset[int] | None = None  #: Processors that benchmarks are kept on; None: any.
    build: str = ""  #: `Target.build`.

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self.runner.device

    @cached_property
    def calls(self) -> Sequence[Call]:
        """The calls that are run."""
        return self.plan.calls(self.model, self.index.backend)

    @property
    def variants(self) -> Sequence[Variant]:
        """Substitutions and combinations that are run."""
        return self.plan.variants_of(self.model.id, self.index.backend)

    @property
    def at_sizes(self) -> AtSizes | None:
        """The calls at sizes that nothing lists."""
        return self.plan.at_sizes.get((self.model.id, self.index.backend))

    @property
    def sized(self) -> Mapping[str, SizedBenchmark]:
        """The benchmarks that functions which take sizes run, by name."""
        return self.at_sizes.sized if self.at_sizes is not None else {}

    @property
    def only(self) -> frozenset[str] | None:
        """Names of the dispatches that are run; None: all of them."""
        return self.plan.only(self.model.id, self.index.backend)

    def is_wanted(self, dispatch: str) -> bool:
        """Whether a dispatch is run, by its name."""
        return self.only is None or dispatch in self.only

    def dispatches(self) -> Iterator[tuple[Dispatch, Sequence[Benchmark]]]:
        """What is run: dispatches with those of their benchmarks that a call runs, or loading the model."""
        wanted = {INITIALIZER, *(call.name for call in self.calls)}
        for dispatch in self.index.dispatches:
            found = [each for each in dispatch.benchmarks if not wanted.isdisjoint(each.counts)]
            if found and self.is_wanted(dispatch.name):
                yield dispatch, found

    def why_not(self, dispatch: str | None) -> str | None:
        """Why a module of the model's own cannot be run; None: it can.

        Args:
          dispatch: Its name; None: the whole model.
        """
        if self.compiled(dispatch, None) is not None:
            return None
        reason = self.built.state.modules.get((self.model.id, self.index.backend, dispatch))
        return reason or "the build has no module of it"

    @property
    def caches(self) -> Sequence[Cache]:
        """What of dispatches is measured."""
        return measured_caches(self.runner.settings.caches)

    def why_not_cold(self, benchmark: Benchmark) -> str | None:
        """Why a benchmark that can be run is not measured cold, where it is to be; None also where warm is enough."""
        if benchmark.name in self.sized:
            return None if "warm" in self.caches else SIZES_ARE_WARM
        return NOT_BUILT if benchmark.cold is None else None

    def is_substituted(self, dispatch: str, variant: str) -> bool:
        """Whether a variant puts a kernel in the place of a dispatch that is not the compiler's own and can be run."""
        found = self.proofs.dispatches.get((variant, dispatch))
        return found is not None and found.failure is None and found.same is None

    def is_listed(self, call: Call) -> bool:
        """Whether the lock has a call; if not, it is one at sizes that nothing lists."""
        return call in self.plan.locks[self.model.id].calls

    def flag_file(self, call: Call) -> Path:
        """The flag file of a call of the whole model."""
        of_sizes = self.at_sizes.flag_file(call) if self.at_sizes is not None else None
        return of_sizes or self.built.flag_file(call.name)

    def target(self, kind: Literal["dispatch", "model"], variant: str = "", caches: Cache = "warm") -> Target:
        """What tasks of this subject measure."""
        return Target(self.model.id, self.index.backend, self.device.id, kind, variant, caches, self.build)

    def output(self, name: str, variant: str = "") -> Path:
        """The file that iree-benchmark-module writes."""
        return self.work.result(self.model.id, self.index.backend, self.device.id, name, variant or None)
