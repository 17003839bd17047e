"""The report as Markdown, for the summary of a CI job: the page's numbers, the most important of each section.

GitHub's flavour. All texts of users are code: no Markdown, HTML or mention is read in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatchgen.comparison import markdown as comparison_markdown
from dispatchgen.comparison.markdown import code
from dispatchgen.comparison.schema import Comparison
from dispatchgen.report import compiled, format, ranking, summary, variants
from dispatchgen.report.modules import ChangedModule, changed_modules
from dispatchgen.report.table import table_rows
from dispatchgen.results.lean import Results

_MOST_CALLS = 5
_MOST_DISPATCHES = 5
_MOST_LINES = 20
_LONGEST_TEXT = 300


def markdown(results: Sequence[Results], *, comparison: Comparison | None = None, base: Results | None = None) -> str:
    """The text. Arguments are those of `report.report`."""
    parts = [
        _summary(results),
        comparison_markdown.render(comparison) if comparison is not None else "",
        _modules(changed_modules(base, results[0], comparison)) if comparison is not None and base is not None else "",
        _ranking(results),
        _variants(results),
        _reasons(results),
        _compiled(results),
    ]
    return "\n".join(filter(None, parts))


def _modules(found: Sequence[ChangedModule]) -> str:
    rows = [
        (code(each.what), format.size(each.base), format.size(each.new), format.difference(each.new - each.base))
        for each in found[:_MOST_LINES]
    ]
    return _section("Modules of another size", ("module", "BASE", "NEW", "change"), rows, len(found))


def _summary(results: Sequence[Results]) -> str:
    found = summary.covered([call for each in results for call in each.calls])
    models = {call.model for each in results for call in each.calls}
    more = ((found.failed, "failed"), (found.skipped, "skipped"), (found.left_out, "not asked for"))
    words = ", ".join([f"{found.measured} of {found.dispatches} dispatches measured", *_counted(more)])
    lines = [f"## Benchmarks of {len(models)} model{'' if len(models) == 1 else 's'}", "", f"**{words}**", ""]
    for run in map(summary.run_of, results):
        ended = "" if run.finished else ", interrupted"
        software = dict(run.software)
        where = [dict(run.machine)["processor"], software["compiler"], software.get("commit", "")]
        lines.append(f"- {run.started}{ended}: {', '.join(code(each) for each in where if each)}")
        lines += [f"- Not controlled: {code(text)}" for text in run.uncontrolled]
    return "\n".join(lines) + "\n"


def _counted(numbers: Iterable[tuple[int, str]]) -> list[str]:
    return [f"{number} {word}" for number, word in numbers if number]


def _ranking(results: Sequence[Results]) -> str:
    found = ranking.ranked(results, table_rows(results, None))
    parts = []
    for each in found[:_MOST_CALLS]:
        rows = [
            (code(row.benchmark), format.percent(row.share), _time(row.seconds, row.half), format.count(row.per_call))
            for row in each.rows[:_MOST_DISPATCHES]
        ]
        if rows:
            whole = f", whole model {_time(each.seconds, each.half)}" if each.seconds is not None else ""
            parts.append(f"{code(each.title)}{whole}\n\n" + _table(("dispatch", "share", "time", "count"), rows))
    more = f"And {len(found) - _MOST_CALLS} more calls.\n" if len(found) > _MOST_CALLS else ""
    return "### What takes the time\n\n" + "\n".join([*parts, more]) if parts else ""


def _time(seconds: float | None, half: float | None) -> str:
    return f"{format.seconds(seconds)} {format.plus_minus(half)}".rstrip()


def _variants(results: Sequence[Results]) -> str:
    rows = [
        (
            code(f"{each.benchmark or 'the whole model'} of {each.where}"),
            code(each.substitution),
            format.seconds(each.original),
            format.seconds(each.seconds),
            format.ratio(each.ratio.value) if each.ratio is not None else "-",
            format.interval(each.ratio.low, each.ratio.high) if each.ratio is not None else "",
            code(_cut(each.note)),
        )
        for each in variants.variants(results)[:_MOST_LINES]
    ]
    titles = ("replaces", "substitution", "original", "time", "ratio", "95 % interval", "")
    return _section("Original against variants", titles, rows, variants.count(results))


def _reasons(results: Sequence[Results]) -> str:
    found = summary.reasons(results)
    rows = [(each.kind, format.count(each.count), code(_cut(each.text))) for each in found[:_MOST_LINES]]
    return _section("What was not measured", ("", "how many", "why"), rows, len(found))


def _compiled(results: Sequence[Results]) -> str:
    found = compiled.compiled_models(results)
    rows = [
        (
            code(f"{each.model} on {each.backend}"),
            format.count(each.dispatches),
            format.size(each.size),
            format.size(each.model_size),
            format.seconds(each.seconds),
            format.size(each.peak_bytes),
        )
        for each in found[:_MOST_LINES]
    ]
    titles = ("model", "dispatches", "size of their modules", "size of the model", "time of all steps", "peak memory")
    return _section("Compilation", titles, rows, len(found))


def _section(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """A section with a table; empty without rows."""
    more = f"\nAnd {count - len(rows)} more.\n" if count > len(rows) else ""
    return f"### {title}\n\n{_table(titles, rows)}{more}" if rows else ""


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in _lines(titles, rows))


def _lines(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    yield titles
    yield ["---" if index == 0 else "---:" for index in range(len(titles))]
    yield from rows


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
