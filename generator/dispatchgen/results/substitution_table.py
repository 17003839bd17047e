"""The substitutions of a call for people: originals and substitutes side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dispatchgen.results.estimate import estimate
from dispatchgen.results.proof import SAME_TEXT
from dispatchgen.results.schema import Agreement, SubstitutedDispatch, SubstitutionResult, Timing, WholeModel
from dispatchgen.results.text import NOTHING, format_half_width, format_seconds, indented


def render_substitution(
    result: SubstitutionResult, original: WholeModel, told: Mapping[str, str]
) -> Iterator[RenderableType]:
    """A substitution or combination.

    Args:
      result: It.
      original: The whole model without it.
      told: Failures that are told in full elsewhere, and what stands for them.
    """
    yield Text(_title(result), style="bold")
    if result.dispatches:
        yield _rows(result.dispatches)
    for line in _summary(result, original, told):
        yield Text(line)


def _title(result: SubstitutionResult) -> str:
    if not result.members:
        return f"substitution {result.name}"
    idle = [member for member in result.members if member not in result.acting]
    if not result.acting or not idle:
        return f"combination {result.name}: {', '.join(result.members)}"
    return f"combination {result.name}: {', '.join(result.acting)} (not in this call: {', '.join(idle)})"


def format_ratio(ratio: float | None) -> str:
    """A ratio of times, below 1 where the substitute is faster."""
    return NOTHING if ratio is None else f"{ratio:.2f}"


def _rows(rows: Sequence[SubstitutedDispatch]) -> Table:
    is_checked = any(row.agreement is not None for row in rows)
    table = Table(box=None, pad_edge=False, header_style="underline")
    table.add_column("dispatch", overflow="fold")
    table.add_column("substitute", overflow="fold")
    is_cold = any(row.cold is not None or row.cold_failure is not None for row in rows)
    half_widths = [_ratio_half_width(row) for row in rows]
    is_known = any(half is not None for half in half_widths)
    known, cold = ["known to"] if is_known else [], ["cold", "cold ratio"] if is_cold else []
    for title in ("original", "time", "ratio", *known, *cold):
        table.add_column(title, justify="right", no_wrap=True)
    if is_checked:
        table.add_column("outputs agree", no_wrap=True)
    for row, half in zip(rows, half_widths, strict=True):
        time = "same" if row.same else "failed" if row.failure else _seconds(row.timing)
        cells = [row.benchmark, row.file, _seconds(row.original), time, format_ratio(row.ratio)]
        if is_known:
            cells.append(format_half_width(half))
        if is_cold:
            cells += [_seconds(row.cold), format_ratio(row.cold_ratio)]
        if is_checked:
            cells.append(_outputs(row.agreement))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _seconds(timing: Timing | None) -> str:
    return format_seconds(timing.seconds if timing else None)


def _ratio_half_width(row: SubstitutedDispatch) -> float | None:
    """How well the ratio is known: from rounds that have both, since they ran one right after the other."""
    if row.original is None or row.timing is None:
        return None
    originals, substitutes = (dict(zip(each.rounds, each.real, strict=True)) for each in (row.original, row.timing))
    pairs = [(min(substitutes[number]), min(originals[number])) for number in originals if number in substitutes]
    if not pairs or min(original for _, original in pairs) <= 0:
        return None
    return estimate([substitute / original for substitute, original in pairs]).half_width


def _outputs(agreement: Agreement | None) -> str:
    if agreement is None:
        return NOTHING
    return "yes" if agreement.agrees else "no"


def _summary(result: SubstitutionResult, original: WholeModel, told: Mapping[str, str]) -> Iterator[str]:
    """The whole model, and what is to be known of each substitute."""
    model = result.whole_model
    if not result.acting and model.failure is None:
        yield "replaces nothing in this call"
    elif result.same:
        yield "whole model: the compiler's own, byte for byte"
    elif model.timing is None and not model.left_out:
        failure = model.failure or "it was not run"
        yield indented("whole model: not measured: ", told.get(failure, failure))
    elif model.timing is not None:
        before = f"whole model {format_seconds(original.timing.seconds)}, " if original.timing else "whole model "
        ratio = f": ratio {format_ratio(result.ratio)}" if result.ratio is not None else ""
        yield f"{before}with {result.name} {format_seconds(model.timing.seconds)}{ratio}"
    for row in result.dispatches:
        if row.same is not None:
            yield f"  same {row.benchmark}: {SAME_TEXT[row.same]}"
        if row.failure is not None:
            yield indented(f"  failed {row.benchmark}: ", told.get(row.failure, row.failure))
        if row.cold_failure is not None and row.cold_failure != row.failure:
            yield indented(f"  failed {row.benchmark}, cold: ", told.get(row.cold_failure, row.cold_failure))
        for note in row.notes:
            yield indented(f"  note on {row.benchmark}: ", note)
        for difference in row.target_differences:
            yield indented(f"  {row.benchmark} is made for another target: ", difference)
        if row.agreement is not None:
            for text in filter(None, (row.agreement.failure, row.agreement.note)):
                yield indented(f"  outputs of {row.benchmark}: ", text)
