"""The results of a run for people: a table per model, backend, device and call, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.results.schema import CallResult, DispatchResult, NotRun, Results
from dispatchgen.results.substitution_table import render_substitution
from dispatchgen.results.text import NOTHING, format_seconds, indented, told_below

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
    for title in ("count", "time", "time x count", *([share_title] if share_title else [])):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        time = format_seconds(row.timing.seconds) if row.timing else "failed"
        cells = [
            row.benchmark,
            row.operation,
            _NOT_KNOWN if row.count is None else str(row.count),
            time,
            format_seconds(row.total_seconds),
        ]
        if share_title:
            cells.append(format_share(row.share))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _summary(call: CallResult, told: Mapping[str, str]) -> Iterator[str]:
    """The sum against the whole model, the coverage, and each dispatch that was not measured with its reason."""
    timing = call.whole_model.timing
    if timing is None:
        if call.function:
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


def _data(call: CallResult) -> Iterator[str]:
    """What the buffers held; nothing where all held zeros."""
    rows = (*call.dispatches, *call.initializers)
    found = dict.fromkeys(each for row in rows for each in row.data if each != "zeros")
    if found:
        shown = list(found)[:_MOST_DATA]
        more = [f"and {len(found) - len(shown)} more"] if len(found) > len(shown) else []
        yield f"data: {'; '.join([*shown, *more])}; zeros elsewhere"
