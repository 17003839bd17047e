"""Markdown, JUnit and JSON: what holds for all names, and for many rows. Word for word: `test_golden.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dispatchgen.comparison import encode, junit, markdown
from dispatchgen.comparison.conditions import Condition, failures, parse
from dispatchgen.comparison.schema import (
    COMPARISON_VERSION,
    VERDICTS,
    Comparison,
    Criteria,
    Differences,
    Row,
    Run,
    Verdict,
)
from dispatchgen.comparison.text import format_change, format_interval

_HOSTILE = 'a|b`c``<b>&"x"</b> @team #1 *x* _y_ ]]> \\| end\\'


def _row(name: str, verdict: Verdict, *, ratio: float | None = 1.1, model: str = "model", **more: object) -> Row:
    new = 1e-3 * ratio if ratio else None
    key = (model, "cpu", "local", "static", "dispatch", name, "", "warm")
    row = Row(*key, verdict=verdict, base=1e-3, new=new, ratio=ratio, p=0.01, base_rounds=10, new_rounds=10)
    return msgspec.structs.replace(row, **more)


def _comparison(rows: Sequence[Row]) -> Comparison:
    run = Run("a", "2026-01-01T00:00:00+00:00", None, "IREE", None, None)
    counts: dict[Verdict, int] = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    return Comparison(
        COMPARISON_VERSION,
        run,
        run,
        False,
        Criteria(0.02, 1e-7, 0.05, 0.01, "same-code"),
        Differences(software=(_HOSTILE,)),
        (),
        counts,
        None,
        (),
        tuple(rows),
    )


class _Cells(HTMLParser):
    """Texts of the cells of tables, and tags that our own Markdown does not give."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.strange: set[str] = set()
        self._in_cell = False

    def handle_starttag(self, tag: str, attributes: object) -> None:  # noqa: ARG002
        ours = "h3 p ul li code strong table thead tbody tr th td details summary sub"
        self.strange |= {tag} - set(ours.split())
        if tag == "td":
            self._in_cell = True
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell &= tag != "td"

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.cells[-1] += data


def _read(text: str) -> _Cells:
    cells = _Cells()
    cells.feed(MarkdownIt("commonmark").enable("table").render(text))
    return cells


@settings(deadline=None, max_examples=150)
@given(st.text(min_size=1, max_size=40))
@example(_HOSTILE)
@example("`")
@example("``|`\\")
@example("\x1b[31m\x00\u2028\n# x\n\n| a | b |\n|---|---|\n")
def test_names_are_literal_in_markdown(name: str) -> None:
    text = markdown.render(_comparison([_row(name, "slower"), _row("other", "failed", ratio=None, reason=name)]))
    found = _read(text)
    assert not found.strange
    assert len(found.cells) == 14
    # A code span strips a space at both ends and makes one of runs of white space nothing else.
    expected = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "\ufffd", name)
    shown = found.cells[1].replace(" ", "").replace("\ufffd", "")
    assert shown == f"modeloncpu,local,static:{expected}".replace(" ", "").replace("\ufffd", "")


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ((1.05, 1.01, 1.1), ("+5.0 %", "+1.0 % to +10.0 %")),
        ((0.55, 0.467, 0.572), ("0.55x", "0.467x to 0.572x")),
        ((1.8, 1.7, 2.1), ("1.8x", "1.7x to 2.1x")),
        ((3.0, None, None), ("3x", "-")),
    ],
)
def test_a_change_and_its_interval_have_one_notation(
    row: tuple[float, float | None, float | None], shown: tuple[str, str]
) -> None:
    assert (format_change(*row), format_interval(*row[1:])) == shown


def test_markdown_stays_short_enough_for_a_comment() -> None:
    long = "kernel_" * 40
    rows = [_row(f"{long}{index}", verdict) for index in range(1000) for verdict in ("slower", "gone", "same", "noisy")]
    text = markdown.render(_comparison(rows))
    assert len(text) <= 60_000
    assert text.index("**slower**") < text.index("<details>") < text.index("</details>")
    assert len(re.findall(r"^and \d+ more$", text, re.MULTILINE)) == 2
    assert not _read(text).strange


@settings(deadline=None, max_examples=100)
@given(st.text(min_size=1, max_size=30), st.text(max_size=30))
@example("\x00\x0b\ufffe\ud800", "]]>\x1b<!--&amp;")
def test_junit_is_xml_for_all_names(name: str, reason: str) -> None:
    rows = [_row(name, "slower"), _row("b", "failed", ratio=None, reason=reason, model=name), _row("c", "noisy")]
    text = junit.render(_comparison(rows), [parse("slower"), parse("failed")])
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        assert element.get("tests") == str(len(cases))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert element.get(attribute) == str(sum(case.find(tag) is not None for case in cases))
    # The attributes that the schemas of Jenkins and GitLab require, of all cases.
    assert all({"name", "classname", "time"} <= case.attrib.keys() for case in root.iter("testcase"))
    assert all({"name", "tests", "failures", "errors", "time", "timestamp"} <= suite.attrib.keys() for suite in root)
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("1", "1", "1")


_CONDITIONS = ("slower", "slower:5%", "slower:20%", "gone", "new", "failed", "failing", "noisy", "geomean:3%")


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from([1.03, 1.1, 1.5])), max_size=12),
    st.sets(st.sampled_from(_CONDITIONS)),
)
def test_junit_fails_where_the_check_does(verdicts: list[tuple[Verdict, float]], given_conditions: set[str]) -> None:
    rows = [_row(f"k{index}", verdict, ratio=ratio) for index, (verdict, ratio) in enumerate(verdicts)]
    few = {"p": None, "new_rounds": 2}
    rows = [msgspec.structs.replace(row, **few) if row.verdict == "noisy" else row for row in rows]
    comparison = _comparison(rows)
    conditions = [parse(each) for each in sorted(given_conditions)]
    root = ET.fromstring(junit.render(comparison, conditions))
    failed = sum(int(root.get(attribute, 0)) for attribute in ("failures", "errors"))
    assert bool(failed) == bool(list(failures(comparison, conditions)))


def test_json_is_read_as_it_was_written() -> None:
    comparison = _comparison([_row(_HOSTILE, "slower"), _row("b", "same")])
    text = encode.encode(comparison)
    assert msgspec.json.decode(text, type=Comparison, strict=True) == comparison
    assert len(text.splitlines()) == len(Comparison.__struct_fields__) + 2 + 2 + 1


@pytest.mark.parametrize(
    ("row", "condition", "fails"),
    [
        (_row("a", "slower"), "slower", True),
        (_row("a", "slower"), "slower:9%", True),
        (_row("a", "slower"), "slower:11%", False),
        (_row("a", "slower", limit=0.2), "slower", False),
        (_row("a", "slower", limit=0.05), "slower:20%", True),
        (_row("a", "slower", ignored=True), "slower", False),
        (_row("a", "failed", ignored=True), "failed", False),
        (_row("a", "failed"), "slower", False),
        (_row("a", "faster"), "slower", False),
        (_row("a", "gone"), "gone", True),
        (_row("a", "noisy"), "noisy", True),
    ],
)
def test_conditions(row: Row, condition: str, fails: bool) -> None:
    comparison = _comparison([row])
    assert bool(list(failures(comparison, [parse(condition)]))) == fails


@pytest.mark.parametrize("text", ["", "slow", "slower:", "slower:5", "slower:-5%", "gone:5%", "geomean", "geomean:x%"])
def test_other_conditions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected one of"):
        parse(text)


def test_conditions_are_read() -> None:
    assert [parse("slower:2.5%"), parse("gone")] == [Condition("slower", 0.025), Condition("gone")]
