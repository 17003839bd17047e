"""Which sizes a model runs its dispatches with at the points of a sweep, by evaluation of its host program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dispatchgen.buffers.contents import ZEROS, Content
from dispatchgen.errors import ModelError, Problem
from dispatchgen.extract.calls import calls_of
from dispatchgen.extract.data import DataPlan
from dispatchgen.extract.extraction import Extraction, extract
from dispatchgen.extract.program import Program
from dispatchgen.extract.schema import BackendDispatches, Benchmark, Dispatch, Skipped
from dispatchgen.manifest.suite import Model, Selector, Shape
from dispatchgen.selection.select import select_dispatches

#: How many points that the program rejects are told of where it rejects all.
_ERRORS = 5


@dataclass(frozen=True)
class Evaluated:
    """What a model dispatches at each point."""

    found: tuple[tuple[Shape, Extraction], ...]
    rejected: tuple[tuple[Shape, str], ...]  #: Points that the program itself rejects, with its reason.

    def select(self, texts: Sequence[str]) -> list[Dispatch]:
        """The dispatches that these texts name, in the order of the program, as the first point has them.

        Raises SubstitutionError where a text names none.
        """
        dispatches: dict[tuple[str, str], Dispatch] = {}
        skipped: list[Skipped] = []
        for _, at_point in self.found:
            for dispatch in at_point.lock.dispatches:
                dispatches.setdefault((dispatch.executable, dispatch.export), dispatch)
            skipped += at_point.lock.skipped
        return select_dispatches([Selector(text) for text in texts], list(dispatches.values()), skipped)


@dataclass(frozen=True)
class Sized:
    """A dispatch with sizes that it runs with at a point."""

    shape: Shape
    variant: int  #: Ordinal among the sizes at this point.
    dispatch: Dispatch  #: As it is at this point.
    benchmark: Benchmark  #: Of the dispatch.
    extraction: Extraction  #: At this point.

    def held(self, plan: DataPlan | None) -> tuple[Content, ...]:
        """What each binding holds; without a plan, zeros. Raises DataError where the plan is wrong at any sizes."""
        held = self.extraction.holding(self.dispatch, plan).get(self.benchmark.name) if plan is not None else None
        return (ZEROS,) * len(self.benchmark.bindings) if held is None else tuple(held)


@dataclass
class Track:
    """A dispatch at all points."""

    dispatch: Dispatch
    sized: list[Sized] = field(default_factory=list)
    left_out: list[tuple[Shape, str]] = field(default_factory=list)


def evaluate_points(
    program: Program,
    model: Model,
    backend: str,
    shapes: Sequence[Shape],
    previous: BackendDispatches | None,
    *,
    with_fills: bool = False,
) -> Evaluated:
    """Evaluates the model at each point.

    Args:
      previous: The lock: dispatches have its names.
      with_fills: Whether inputs are to hold what the manifest fills them with.

    Raises:
      ModelError: the inputs do not fit the program, or it rejects all points.
    """
    found, rejected, errors = [], [], []
    for shape in shapes:
        try:
            calls = calls_of(program, _at(model, shape, with_fills))
            extraction = extract(program, calls, backend, previous, any_sizes=False)
        except ModelError as error:
            rejected.append((shape, "; ".join(problem.message for problem in error.problems)))
            errors.append(error)
        else:
            found.append((shape, extraction))
    if not found:
        raise ModelError(*_distinct(errors))
    return Evaluated(tuple(found), tuple(rejected))


def _at(model: Model, shape: Shape, with_fills: bool) -> Model:
    """A model with one shape."""
    model = replace(model, shapes=(shape,), auto=None, profiles=())
    if with_fills:
        return model
    inputs = {name: tuple(replace(each, fill=None) for each in inputs) for name, inputs in model.inputs.items()}
    return replace(model, inputs=inputs)


def _distinct(errors: Sequence[ModelError]) -> list[Problem]:
    problems = list(dict.fromkeys(problem for error in errors for problem in error.problems))
    rest = len(problems) - _ERRORS
    return problems[:_ERRORS] + ([Problem(f"{rest} more of these")] if rest > 0 else [])


def track(evaluated: Evaluated, dispatch: Dispatch) -> Track:
    """A dispatch at all points that the program accepts."""
    result = Track(dispatch)
    for shape, at_point in evaluated.found:
        sized = [
            Sized(shape, variant, each, benchmark, at_point)
            for each in at_point.lock.dispatches
            if (each.executable, each.export) == (dispatch.executable, dispatch.export)
            for variant, benchmark in enumerate(each.benchmarks)
        ]
        result.sized += sized
        if not sized:
            result.left_out.append((shape, _reason(at_point.lock, dispatch)))
    return result


def _reason(at_point: BackendDispatches, dispatch: Dispatch) -> str:
    for each in at_point.skipped:
        if (each.executable, each.export) == (dispatch.executable, dispatch.export):
            return each.reason
    return "it does not run at this point"
