"""The report as Markdown."""

from __future__ import annotations

import made_up_results as made_up
import reported
from dispatchgen.comparison.schema import Comparison
from dispatchgen.report.markdown import markdown
from dispatchgen.results import lean


def test_sections(new: lean.Results, comparison: Comparison) -> None:
    text = markdown([new], comparison=comparison)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[0] == "## Benchmarks of 2 models"
    assert headings[1].startswith("### Dispatch benchmarks: ")
    assert headings[2:] == [
        "### What takes the time",
        "### Original against variants",
        "### What was not measured",
        "### Compilation",
    ]
    assert "- Not controlled: `the machine is virtual`" in text
    assert "| failed | 2 | `it crashed: signal 11 the second line of the reason` |" in text
    assert "And 3 more calls." in text


def test_tables_have_as_many_cells_as_titles(new: lean.Results) -> None:
    blocks = [block.splitlines() for block in markdown([new]).split("\n\n") if block.startswith("|")]
    assert len(blocks) > 5
    for block in blocks:
        assert len({line.count("|") for line in block if line.startswith("|")}) == 1


def test_names_are_code() -> None:
    evil = "a|b`<script>@someone\u202e"
    result = reported.as_lean(made_up.results([made_up.call([made_up.dispatch("d", None)], model=evil)]))
    text = markdown([result])
    assert "\u202e" not in text
    assert "`` a\\|b`<script>@someone on cpu" not in text.replace("`` a\\|b`<script>", "")
    outside = "".join(part for index, part in enumerate(text.replace("``", "\0").split("\0")) if index % 2 == 0)
    assert "<script>" not in outside and "@someone" not in outside


def test_nothing_to_tell() -> None:
    assert markdown([reported.as_lean(made_up.results([]))]).startswith(
        "## Benchmarks of 0 models\n\n**0 of 0 dispatches"
    )
