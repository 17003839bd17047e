"""One page of results that opens offline. Markdown of the same is in `markdown.py`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dispatchgen import __version__
from dispatchgen.comparison.schema import Comparison
from dispatchgen.report import compiled, curves, ranking, summary, variants
from dispatchgen.report.columns import columns, same_for_all
from dispatchgen.report.commands import command
from dispatchgen.report.format import FILTERS
from dispatchgen.report.modules import MOST_MODULES, changed_modules
from dispatchgen.report.over_time import OverTime
from dispatchgen.report.table import TableRow, as_mapping, data_json, table_rows, values_of
from dispatchgen.report.verdicts import CALM, SHOWN
from dispatchgen.results.lean import Results

_TEMPLATES = Path(__file__).parent / "templates"
#: The parts of the page's script, in their order.
_SCRIPTS = ("rows.js", "table.js", "details.js", "page.js")
#: Most rows that are there without the script.
MOST_ROWS = 200
_MOST_CHANGED = 100
_MOST = {
    "most_calls": ranking.MOST_CALLS,
    "most_steps": compiled.MOST_STEPS,
    "most_reasons": 100,
    "most_modules": MOST_MODULES,
}


class Section(NamedTuple):
    """A section of the page; the template `<id>.html.jinja` has its content."""

    id: str
    title: str


#: Id and title of each section, and what it needs.
_SECTIONS = (
    ("summary", "Summary", None),
    ("comparison", "Comparison", "comparison"),
    ("ranking", "What takes the time", "ranked"),
    ("rows", "All rows", None),
    ("curves", "Time against size", "curves"),
    ("variants", "Original against variants", "variants"),
    ("history", "History", "over_time"),
    ("compile", "Compilation", "compiled"),
    ("commands", "Commands", "commands"),
    ("method", "How it was measured", None),
)


def report(
    results: Sequence[Results],
    *,
    comparison: Comparison | None = None,
    base: Results | None = None,
    over_time: Sequence[OverTime] = (),
) -> str:
    """The page, as HTML.

    Args:
      results: At least one. With a comparison it is the only one, and its NEW.
      base: What it is compared with, for the sizes of modules.
      over_time: How benchmarks changed, from a history.
    """
    rows = table_rows(results, comparison)
    style, script = _text("report.css"), _script()
    context = {
        "style": Markup(style),
        "script": Markup(script),
        "policy": _policy(style, script),
        "version": __version__,
        "verdicts": SHOWN,
        "comparison": comparison,
        "over_time": over_time,
        **_of_table(rows),
        **_of_results(results, rows),
        **_of_comparison(rows),
        "modules": changed_modules(base, results[0], comparison) if comparison is not None and base is not None else [],
        **_MOST,
    }
    context["sections"] = [Section(id, title) for id, title, needs in _SECTIONS if not needs or context[needs]]
    return _environment().get_template("report.html.jinja").render(context)


def _of_table(rows: Sequence[TableRow]) -> dict[str, object]:
    shown = columns(rows)
    models = values_of(rows, "model")
    return {
        "title": f"Benchmarks of {models[0] if len(models) == 1 else f'{len(models)} models'}",
        "data": Markup(data_json(rows, shown)),
        "columns": shown,
        "rows": rows,
        "shown": rows[:MOST_ROWS],
        "same": same_for_all(rows),
        "commands": _examples(rows),
    }


def _of_results(results: Sequence[Results], rows: Sequence[TableRow]) -> dict[str, object]:
    runs = [summary.run_of(each) for each in results]
    return {
        "subtitle": _subtitle(runs),
        "runs": runs,
        "covered": summary.covered([call for each in results for call in each.calls]),
        "reasons": summary.reasons(results),
        "ranked": ranking.ranked(results, rows),
        "curves": curves.curves(results),
        "variants": variants.variants(results),
        "variant_count": variants.count(results),
        "compiled": compiled.compiled_models(results),
        "steps": compiled.build_steps(results),
    }


def _of_comparison(rows: Sequence[TableRow]) -> dict[str, object]:
    changed = [row for row in rows if row.verdict not in ("", *CALM)]
    return {"changed": changed[:_MOST_CHANGED], "changed_count": len(changed)}


def _subtitle(runs: Sequence[summary.Run]) -> str:
    first, last = min(run.started for run in runs), max(run.started for run in runs)
    if len(runs) > 1:
        return f"{len(runs)} results, started from {first} to {last}"
    finished = runs[0].finished
    return f"started {first}, finished {finished}" if finished else f"started {first}, interrupted"


@dataclass(frozen=True)
class Example:
    """A command and what it measures."""

    what: str
    command: str


def _examples(rows: Sequence[TableRow]) -> list[Example]:
    """The commands for a dispatch, a substitute and a whole model: of each kind the most important."""
    found: dict[str, TableRow] = {}
    for row in rows:
        if row.state != "gone":
            what = "a dispatch" if not row.variant else "what a substitution puts in its place"
            found.setdefault("a whole model and its dispatches" if row.kind == "model" else what, row)
    return [Example(what, command(as_mapping(row))) for what, row in found.items()]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    environment.filters.update(FILTERS)
    return environment


@cache
def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The script: its parts share one scope, and nothing of it is global."""
    return '(function () {\n"use strict";\n' + "".join(map(_text, _SCRIPTS)) + "})();\n"


def _policy(style: str, script: str) -> str:
    """Content-Security-Policy: this style, this script, and no network."""
    parts = ("default-src 'none'", f"style-src '{_hash(style)}'", f"script-src '{_hash(script)}'")
    return "; ".join((*parts, "base-uri 'none'", "form-action 'none'"))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
