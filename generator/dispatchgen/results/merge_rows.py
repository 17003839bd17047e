"""Rows of results that are put together: which there are, and what was measured of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from dispatchgen.errors import Place, Problem
from dispatchgen.results.measurements import NOT_MEASURED, Measured, RoundSample
from dispatchgen.results.schema import (
    CallResult,
    Compiled,
    DispatchResult,
    Results,
    SubstitutedDispatch,
    SubstitutionResult,
    Timing,
    WholeModel,
)
from dispatchgen.results.task import Sample, Target

Key = tuple[Target, str]
_Row = TypeVar("_Row", DispatchResult, SubstitutedDispatch)


@dataclass(frozen=True)
class Part:
    """Results that are put together with others."""

    name: str  #: Of the file.
    results: Results
    later: float  #: Seconds that it started after the first.


class Cell(NamedTuple):
    """What a part has of one row."""

    part: Part
    timing: Timing | None
    failure: str | None
    overhead: float | None
    compiled: Compiled | None


@dataclass(frozen=True)
class Rows:
    """What all parts have of each row."""

    parts: Sequence[str]  #: Their names, in order.
    cells: Mapping[Key, Sequence[Cell]]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Rows:
        """Collects the rows. A benchmark that several calls run is one."""
        cells: dict[Key, list[Cell]] = {}
        for part in parts:
            of_part = dict(found for call in part.results.calls for found in _cells(part, call))
            for key, cell in of_part.items():
                cells.setdefault(key, []).append(cell)
        return cls([part.name for part in parts], cells)

    def problems(self) -> Iterator[Problem]:
        """Why what was measured more than once cannot be one."""
        for (target, benchmark), cells in self.cells.items():
            timed = [cell for cell in cells if cell.timing is not None]
            for cell in timed[1:]:
                first = timed[0]
                what = f"{target.model} on {target.backend}, {target.device}: {benchmark}"
                what += f", {target.variant}" if target.variant else ""
                if first.part.results.session == cell.part.results.session:
                    message = f"{what} was measured in turns with that in {first.part.name}"
                    yield Problem(message, Place(cell.part.name), "dispatchgen compare")
                elif first.compiled != cell.compiled and _sha256(first) != _sha256(cell):
                    message = f"{what} is another module than in {first.part.name}"
                    yield Problem(message, Place(cell.part.name), "dispatchgen compare")

    def failure(self, key: Key) -> str | None:
        """Why a row has no time: that it failed anywhere counts, that it was not reached only where it never was."""
        cells = self.cells.get(key, ())
        failures = [cell.failure for cell in cells if cell.failure is not None]
        failed = [failure for failure in failures if not failure.startswith(NOT_MEASURED)]
        if failed or any(cell.timing is not None for cell in cells):
            return failed[0] if failed else None
        return failures[0] if failures else None

    def measured(self) -> dict[Key, Measured]:
        """What was measured of the rows that were."""
        before = self._rounds_before()
        found = {}
        for key, cells in self.cells.items():
            samples: list[RoundSample] = []
            for cell in cells:
                if cell.timing is not None:
                    samples += _samples(cell.timing, before[_together(key), cell.part.name], cell.part.later)
            overhead = next((cell.overhead for cell in cells if cell.overhead is not None), None)
            if samples or overhead is not None:
                found[key] = Measured(tuple(samples), self.failure(key), overhead)
        return found

    def _rounds_before(self) -> dict[tuple[Key, str], int]:
        """How many rounds of other parts come before those of a part, by what is measured together and the part.

        An original and what replaces it are paired by round: they have the same rounds also where only one of them was
        measured in some part. Other shards measured none of them.
        """
        measured: dict[Key, dict[str, int]] = {}
        for key, cells in self.cells.items():
            for cell in cells:
                if cell.timing is not None:
                    measured.setdefault(_together(key), {})[cell.part.name] = cell.part.results.measuring.rounds
        before = {}
        for together, rounds in measured.items():
            ordered = [part for part in self.parts if part in rounds]
            for number, part in enumerate(ordered):
                before[together, part] = sum(rounds[each] for each in ordered[:number])
        return before


def calls_of(parts: Sequence[Part], rows: Rows) -> tuple[CallResult, ...]:
    """The calls that any part has, with the rows of all; what was measured is to be filled in."""
    calls: dict[tuple[str, str, str, str], list[CallResult]] = {}
    for part in parts:
        for call in part.results.calls:
            calls.setdefault(_identity(call), []).append(call)
    return tuple(_call(same, rows) for same in calls.values())


def call_problems(parts: Sequence[Part]) -> Iterator[Problem]:
    """How calls differ that are to be the same."""
    first: dict[tuple[str, str, str, str], tuple[Part, CallResult]] = {}
    for part in parts:
        for call in part.results.calls:
            there, other = first.setdefault(_identity(call), (part, call))
            differ = [name for name in _SAME if getattr(call, name) != getattr(other, name)]
            if differ:
                what = f"{call.model} on {call.backend}, {call.device.id}, {call.call}"
                message = f"{what}: {', '.join(differ)} differ from those in {there.name}"
                yield Problem(message, Place(part.name))


#: What calls have in common that are the same.
_SAME = ("device", "function", "symbols", "inputs", "fills", "overrides", "settings", "skipped", "uncounted")


def _identity(call: CallResult) -> tuple[str, str, str, str]:
    return call.model, call.backend, call.device.id, call.call


def _cells(part: Part, call: CallResult) -> Iterator[tuple[Key, Cell]]:
    target = Target(call.model, call.backend, call.device.id, "dispatch")
    for row in (*call.dispatches, *call.initializers):
        yield from _row_cells(part, target, row, row.overhead_seconds)
    yield _whole_cell(part, target, call, call.whole_model, "")
    for variant in call.substitutions:
        for other in variant.dispatches:
            yield from _row_cells(part, target._replace(variant=variant.id), other, None)
        yield _whole_cell(part, target, call, variant.whole_model, variant.id)


def _row_cells(
    part: Part, target: Target, row: DispatchResult | SubstitutedDispatch, overhead: float | None
) -> Iterator[tuple[Key, Cell]]:
    """What is there of a row with warm caches, and with cold ones."""
    if row.timing is not None or row.failure is not None:
        yield (target, row.benchmark), Cell(part, row.timing, row.failure, overhead, row.compiled)
    if row.cold is not None or row.cold_failure is not None:
        cold = target._replace(caches="cold")
        yield (cold, row.benchmark), Cell(part, row.cold, row.cold_failure, overhead, row.compiled)


def _whole_cell(part: Part, target: Target, call: CallResult, whole: WholeModel, variant: str) -> tuple[Key, Cell]:
    key = (target._replace(kind="model", variant=variant), call.call)
    return key, Cell(part, whole.timing, whole.failure, None, whole.compiled)


def _together(key: Key) -> Key:
    """The same for rows that are measured in the same rounds."""
    target, benchmark = key
    return target._replace(variant="", caches="warm"), benchmark


def _sha256(cell: Cell) -> str | None:
    return None if cell.compiled is None else cell.compiled.sha256


def _samples(timing: Timing, rounds: int, later: float) -> Iterator[RoundSample]:
    """The rounds of a timing, `rounds` after those before."""
    for number, at, real, cpu in zip(timing.rounds, timing.at, timing.real, timing.cpu, strict=True):
        yield RoundSample(number + rounds, at + later, timing.batch_size, Sample(real, cpu, timing.iterations))


def _call(same: Sequence[CallResult], rows: Rows) -> CallResult:
    """A call as all parts have it."""
    first = same[0]
    target = Target(first.model, first.backend, first.device.id, "dispatch")

    def cleared(found: Iterable[_Row], of: Target) -> tuple[_Row, ...]:
        """Rows with no more than why they have no time."""
        cold = of._replace(caches="cold")
        return tuple(
            row.model_copy(
                update={
                    "failure": rows.failure((of, row.benchmark)),
                    "cold_failure": rows.failure((cold, row.benchmark)),
                    **({"share": None} if isinstance(row, DispatchResult) else {}),
                }
            )
            for row in _distinct(found)
        )

    def whole_model(found: Sequence[WholeModel], variant: str = "") -> WholeModel:
        whole = next((each for each in found if not each.left_out), found[0])
        failure = rows.failure((target._replace(kind="model", variant=variant), first.call))
        return whole.model_copy(update={"timing": None, "failure": failure})

    def substitution(found: Sequence[SubstitutionResult]) -> SubstitutionResult:
        variant = found[0].id
        substitutes = cleared((row for each in found for row in each.dispatches), target._replace(variant=variant))
        whole = whole_model([each.whole_model for each in found], variant)
        return found[0].model_copy(update={"dispatches": substitutes, "whole_model": whole})

    variants: dict[str, list[SubstitutionResult]] = {}
    for call in same:
        for each in call.substitutions:
            variants.setdefault(each.id, []).append(each)
    return first.model_copy(
        update={
            "dispatches": cleared((row for call in same for row in call.dispatches), target),
            "initializers": cleared((row for call in same for row in call.initializers), target),
            "whole_model": whole_model([call.whole_model for call in same]),
            "substitutions": tuple(map(substitution, variants.values())),
        }
    )


def _distinct(rows: Iterable[_Row]) -> list[_Row]:
    """Each row once, by name: shards have no order. One that was measured counts more than one that was not."""
    found: dict[str, _Row] = {}
    for row in rows:
        known = found.get(row.benchmark)
        if known is None or (known.timing is None and known.cold is None):
            found[row.benchmark] = row
    return [found[name] for name in sorted(found)]
