"""The results of a run for people: a table per model, backend, device and call, and what was not measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.results.estimate import FEWEST
from dispatchgen.results.parts import nothing_in
from dispatchgen.results.schema import CallResult, DispatchResult, NotRun, Results, Timing
from dispatchgen.results.substitution_table import render_substitution
from dispatchgen.results.text import NOTHING, format_half_width, format_seconds, half_width, indented, told_below

_NOT_KNOWN = "?"
#: Most contents of buffers that are told of.
_MOST_DATA = 6


def render(results: Results) -> RenderableType:
    """Everything that a run gave. Texts are taken literally: none of a user's names is markup."""
    parts: list[RenderableType] = []
    told = told_below(results)
    for call in results.calls:
        parts += [_call(call, told), Text()]
    parts += [Text(line) for line in not_measured(results)]
    if nothing := nothing_in(results):
        parts.append(Text(nothing))
    parts += [Text(line) for line in _how_measured(results)]
    return Group(*parts)


def format_share(share: float | None) -> str:
    """A share in percent."""
    return NOTHING if share is None else f"{share * 100:.1f} %"


def not_measured(results: Results) -> Iterator[str]:
    """A line or more for each model that was not run and each step of the build that failed, with what to do."""
    told = told_below(results)
    for missing in results.not_run:
        yield _not_run(missing, told)
        yield from (f"  {note}" for note in missing.notes)
    if any(missing.cause == "absent-device" for missing in results.not_run):
        yield "`dispatchgen doctor` lists the devices that there are"
    for failure in results.build_failures:
        where = [
            failure.model,
            f"on {failure.backend}" if failure.backend else None,
            f"with {failure.substitution}" if failure.substitution else None,
            failure.dispatch,
        ]
        what = " ".join([failure.step, *filter(None, where)])
        yield indented(f"failed: {what}: ", failure.reason)


def _how_measured(results: Results) -> Iterator[str]:
    """How far times can be trusted."""
    rows = [row for call in results.calls for row in (*call.dispatches, *call.initializers)]
    timings = [timing for row in rows for timing in (row.timing, row.cold) if timing]
    timings += [call.whole_model.timing for call in results.calls if call.whole_model.timing]
    if not timings:
        return
    fewest = min(len(timing.rounds) for timing in timings)
    if fewest < FEWEST:
        rounds = "once" if fewest == 1 else f"in {fewest} rounds"
        yield f"measured {rounds}: how far times differ by chance is not known, they cannot be compared (--rounds)"
    for text in results.environment.uncontrolled:
        yield f"not controlled: {text}"


def _not_run(missing: NotRun, told: Mapping[str, str]) -> str:
    where = f"{missing.model} on {missing.backend}"
    if missing.cause == "absent-device" and missing.device is not None:
        return indented(
            f"skipped: {where}: device {missing.device.id} ({missing.device.uri}) is absent: ", missing.reason
        )
    if missing.cause == "compile-only":
        return f"skipped: {where}: built, not run: {missing.reason}"
    return indented(f"failed: {where}: nothing was run: ", told.get(missing.reason, missing.reason))


def _call(call: CallResult, told: Mapping[str, str]) -> RenderableType:
    title = Text(f"{call.model} on {call.backend}, {call.device.id}, {call.call}", style="bold")
    parts: list[RenderableType] = [title]
    if call.dispatches:
        parts.append(_rows(call.dispatches, _share_title(call)))
    if call.initializers:
        parts += [Text("once, when the model is loaded (not in the sum):"), _rows(call.initializers, None)]
    parts += [Text(line) for line in _summary(call, told)]
    for substitution in call.substitutions:
        parts += render_substitution(substitution, call.whole_model, told)
    return Group(*parts)


def _share_title(call: CallResult) -> str:
    return "share of model" if call.whole_model.timing and not call.overrides else "share of sum"


def _rows(rows: Sequence[DispatchResult], share_title: str | None) -> Table:
    table = Table(box=None, pad_edge=False, header_style="underline")
    table.add_column("dispatch", overflow="fold")
    table.add_column("operation", overflow="fold")
    columns = [column for column in _columns(share_title, is_warm=any(map(_is_warm, rows))) if column.is_shown(rows)]
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in rows:
        cells = [row.benchmark, row.operation, *(column.cell(row) for column in columns)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


@dataclass(frozen=True)
class _Column:
    """A column of numbers."""

    title: str
    cell: Callable[[DispatchResult], str]
    has: Callable[[DispatchResult], bool] = lambda _: True  #: Whether a row has something to show in it.

    def is_shown(self, rows: Sequence[DispatchResult]) -> bool:
        """Whether any of the rows has something to show."""
        return any(map(self.has, rows))


def _columns(share_title: str | None, *, is_warm: bool) -> Iterator[_Column]:
    yield _Column("count", lambda row: _NOT_KNOWN if row.count is None else str(row.count))
    cold = _Column("cold", lambda row: _time(row.cold, row.cold_failure), _is_cold)
    yield _Column("time", lambda row: _time(row.timing, row.failure)) if is_warm else cold
    yield _Column("known to", lambda row: format_half_width(_half_width(row)), lambda row: _half_width(row) is not None)
    yield _Column("noise", lambda row: format_share(_noise(row)), lambda row: _noise(row) is not None)
    if is_warm:
        yield cold
    yield _Column("time x count", lambda row: format_seconds(row.total_seconds))
    if share_title:
        yield _Column(share_title, lambda row: format_share(row.share))


def _time(timing: Timing | None, failure: str | None) -> str:
    return "failed" if failure is not None else format_seconds(timing.seconds if timing else None)


def _is_cold(row: DispatchResult) -> bool:
    """Whether a row was to be measured cold."""
    return row.cold is not None or row.cold_failure is not None


def _is_warm(row: DispatchResult) -> bool:
    return row.timing is not None or row.failure is not None or not _is_cold(row)


def _main(row: DispatchResult) -> Timing | None:
    """The time that a row is known by."""
    return row.timing if _is_warm(row) else row.cold


def _half_width(row: DispatchResult) -> float | None:
    timing = _main(row)
    return half_width(timing) if timing else None


def _noise(row: DispatchResult) -> float | None:
    timing = _main(row)
    return timing.noise if timing else None


def _summary(call: CallResult, told: Mapping[str, str]) -> Iterator[str]:
    """The sum against the whole model, the coverage, and each dispatch that was not measured with its reason."""
    timing = call.whole_model.timing
    if timing is None:
        if call.function and not call.whole_model.left_out:
            failure = call.whole_model.failure or "it was not run"
            yield indented("whole model: not measured: ", told.get(failure, failure))
        if call.sum_seconds is not None:
            yield f"sum of dispatches {format_seconds(call.sum_seconds)}"
    elif call.sum_seconds is None:
        yield f"whole model {format_seconds(timing.seconds)}"
    else:
        share = "" if call.overrides else f": {format_share(call.sum_by_model)}"
        whole = f"whole model {format_seconds(timing.seconds)}"
        yield f"sum of dispatches {format_seconds(call.sum_seconds)}, {whole}{share}"
    if call.overrides:
        sizes = ", ".join(f"{name} is {size}" for name, size in call.overrides.items())
        yield f"overridden: {sizes}; the whole model computes its own"
    for uncounted in call.uncounted:
        yield indented(f"  not in the sum: {uncounted.export}: how often it runs depends on ", uncounted.reason)
    for omitted in call.omitted:
        share = format_share(omitted.covered / (omitted.covered + omitted.runs))
        yield f"  {omitted.name}: {share} of its runs are covered; sizes left out: {omitted.sizes}"
    yield from _data(call)
    coverage = call.coverage
    yield (
        f"{coverage.measured} of {coverage.dispatches} dispatches"
        + (f", {coverage.skipped} skipped" if coverage.skipped else "")
        + (f", {coverage.failed} failed" if coverage.failed else "")
        + (f", {coverage.left_out} not asked for" if coverage.left_out else "")
    )
    for skip in call.skipped:
        yield indented(f"  skipped {skip.export}: ", skip.reason)
    for row in (*call.dispatches, *call.initializers):
        if row.failure is not None:
            yield indented(f"  failed {row.benchmark} ({row.export}): ", told.get(row.failure, row.failure))
        if row.cold_failure is not None and row.cold_failure != row.failure:
            reason = told.get(row.cold_failure, row.cold_failure)
            yield indented(f"  failed {row.benchmark} ({row.export}), cold: ", reason)
    warm_only = (
        [row.benchmark for row in call.dispatches if not _is_cold(row)] if call.settings.caches == "both" else []
    )
    if warm_only:
        yield f"  warm only, by functions that take sizes: {', '.join(warm_only)}"


def _data(call: CallResult) -> Iterator[str]:
    """What the buffers held; nothing where all held zeros."""
    rows = (*call.dispatches, *call.initializers)
    found = dict.fromkeys(each for row in rows for each in row.data if each != "zeros")
    if found:
        shown = list(found)[:_MOST_DATA]
        more = [f"and {len(found) - len(shown)} more"] if len(found) > len(shown) else []
        yield f"data: {'; '.join([*shown, *more])}; zeros elsewhere"
