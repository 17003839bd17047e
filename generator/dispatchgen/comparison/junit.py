"""A comparison as JUnit XML, as Jenkins, GitLab and others read it: a test case per benchmark.

What makes the check fail is a failure, or an error where the benchmark itself fails. What cannot be told is skipped,
with the reason: it is no success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from dispatchgen.comparison.conditions import Condition, overall, violates
from dispatchgen.comparison.schema import Comparison, Row
from dispatchgen.comparison.text import (
    WORDS,
    benchmark_of,
    call_of,
    format_change,
    format_interval,
    name_of,
    remark,
)
from dispatchgen.results.text import format_seconds

#: Verdicts that are no success even where they make no check fail.
_UNTOLD = frozenset(("failed", "failing", "gone", "noisy"))
#: What XML 1.0 cannot hold, not even escaped (https://www.w3.org/TR/xml/#charsets).
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(comparison: Comparison, conditions: Sequence[Condition]) -> str:
    """The document. Its failures and errors are what `conditions` hold for.

    Args:
      conditions: What makes the check fail.
    """
    root = ET.Element("testsuites", name="dispatchgen compare")
    place = {call: index for index, call in enumerate(dict.fromkeys(map(call_of, comparison.rows)))}
    for call, rows in groupby(sorted(comparison.rows, key=lambda row: place[call_of(row)]), key=call_of):
        suite = ET.SubElement(root, "testsuite", name=_text(call), timestamp=_text(comparison.new.started[:19]))
        for row in rows:
            _case(suite, row, conditions)
    _whole(root, comparison, conditions)
    for element in (*root, root):
        _count(element)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, row: Row, conditions: Sequence[Condition]) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_text(".".join((row.model, row.backend, row.device, row.call))),
        name=_text(benchmark_of(row)),
        time=f"{row.new or 0.0:.9f}",
    )
    message = WORDS[row.verdict] + (f": {remark(row)}" if remark(row) else "")
    if violates(row, conditions):
        kind = "error" if row.verdict in ("failed", "failing") else "failure"
        text = f"{message}\n{_numbers(row)}"
        ET.SubElement(case, kind, type=row.verdict, message=_text(message)).text = _text(text)
    elif row.verdict in _UNTOLD:
        ET.SubElement(case, "skipped", message=_text(message))


def _whole(root: ET.Element, comparison: Comparison, conditions: Sequence[Condition]) -> None:
    """A case for each failure that is of no row."""
    problems = list(overall(comparison, conditions))
    if problems:
        suite = ET.SubElement(root, "testsuite", name="all benchmarks", timestamp=_text(comparison.new.started[:19]))
        for problem in problems:
            title = problem.message.partition(":\n")[0]
            case = ET.SubElement(suite, "testcase", classname="all benchmarks", name=_text(title), time="0")
            ET.SubElement(case, "failure", type="comparison", message=_text(title)).text = _text(problem.message)


def _count(element: ET.Element) -> None:
    """Adds the counts that a suite has, of all cases in it."""
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.9f}")


def _numbers(row: Row) -> str:
    return (
        f"{name_of(row)}\nBASE {format_seconds(row.base)}, NEW {format_seconds(row.new)}, "
        f"change {format_change(row.ratio, row.low, row.high)}, 95 % interval {format_interval(row.low, row.high)}"
    )


def _text(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)
