"""A comparison as Markdown, for a pull request: what changed on top, the rest folded.

GitHub's flavour of Markdown, which GitLab and others read too.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dispatchgen.comparison.schema import CallEffect, Comparison, Row
from dispatchgen.comparison.text import (
    WORDS,
    attention_first,
    call_of,
    counted,
    criteria,
    format_change,
    format_interval,
    largest_first,
    name_of,
    remark,
)
from dispatchgen.results.text import format_seconds, plain

#: Characters of a comment on GitHub at most are 65536; some are left for what others add.
_LONGEST = 60_000
#: Verdicts that are folded.
_FOLDED = frozenset(("same", "noisy"))
_ROWS_SHOWN = 50
_ROWS_FOLDED = 200
_CALLS_SHOWN = 10
_NOTES_SHOWN = 10
_LONGEST_TEXT = 300
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TIMES = ("BASE", "NEW", "change", "95 % interval")
_NUMBERS = frozenset((*_TIMES, "whole model"))
_ROWS = ("verdict", "benchmark", *_TIMES, "")
_CALLS = ("sum of dispatches, time x count", *_TIMES, "whole model", "")


def render(comparison: Comparison) -> str:
    """The text, of at most 60,000 characters; what is left out is counted."""
    changed = attention_first([row for row in comparison.rows if row.verdict not in _FOLDED])
    rest = attention_first([row for row in comparison.rows if row.verdict in _FOLDED])
    start = f"### Dispatch benchmarks: {counted(comparison)}\n\n" + _notes(comparison)
    end = _mean(comparison) + f"<sub>{html.escape(criteria(comparison))}.</sub>\n"
    left = _LONGEST - len(start) - len(end)
    shown = _table(_ROWS, map(_row, changed[:_ROWS_SHOWN]), len(changed), left // 2)
    calls = largest_first(comparison.calls)
    effects = _table(_CALLS, map(_call, calls[:_CALLS_SHOWN]), len(calls), (left - len(shown)) // 2)
    folded = _folded(rest, left - len(shown) - len(effects))
    return start + shown + effects + folded + end


def code(text: str) -> str:
    """A text as code in a cell of a table, taken literally: no Markdown, HTML, mention or cell border is read in it."""
    shown = plain(_BREAKS.sub(" ", text))
    if not shown.strip():
        return ""
    fence = "`"
    while fence in shown:
        fence += "`"
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


def _notes(comparison: Comparison) -> str:
    found = comparison.differences
    lines = [html.escape(plain(note)) for note in comparison.notes]
    for title, texts in (("Machine", found.machine), ("Software", found.software), ("Measuring", found.measuring)):
        lines += [f"{title} differs: {code(_cut(text))}" for text in texts[:_NOTES_SHOWN]]
        if len(texts) > _NOTES_SHOWN:
            lines.append(f"{title}: and {len(texts) - _NOTES_SHOWN} more differences")
    return "".join(f"- {line}\n" for line in lines) + ("\n" if lines else "")


def _mean(comparison: Comparison) -> str:
    mean = comparison.geometric_mean
    if mean is None:
        return ""
    interval = f" ({format_interval(mean.low, mean.high)})" if mean.low is not None else ""
    change = format_change(mean.ratio, mean.low, mean.high)
    return f"Geometric mean of {mean.dispatches} dispatches: {change}{interval}.\n\n"


def _folded(rows: Sequence[Row], room: int) -> str:
    if not rows:
        return ""
    number = Counter(WORDS[row.verdict] for row in rows)
    title = ", ".join(f"{count} {word}" for word, count in number.items())
    start, end = f"<details><summary>{title}</summary>\n\n", "</details>\n\n"
    return start + _table(_ROWS, map(_row, rows[:_ROWS_FOLDED]), len(rows), room - len(start) - len(end)) + end


def _table(titles: Sequence[str], lines: Iterable[str], number: int, room: int) -> str:
    """A table of the lines that fit; empty where there are none.

    Args:
      number: How many lines there were to show.
      room: Most characters.
    """
    if not number:
        return ""
    text = _line(titles) + _line("---:" if title in _NUMBERS else "---" for title in titles)
    more = "\nand {} more\n\n"
    left = room - len(text) - len(more) - len(str(number))
    kept = 0
    for line in lines:
        left -= len(line)
        if left < 0:
            break
        text += line
        kept += 1
    return text + ("\n" if kept == number else more.format(number - kept))


def _row(row: Row) -> str:
    cells = [
        f"**{WORDS[row.verdict]}**" if row.verdict not in _FOLDED else WORDS[row.verdict],
        code(_cut(name_of(row))),
        format_seconds(row.base),
        format_seconds(row.new),
        format_change(row.ratio, row.low, row.high),
        format_interval(row.low, row.high),
        code(_cut(remark(row))),
    ]
    return _line(cells)


def _call(call: CallEffect) -> str:
    cells = [
        code(_cut(call_of(call))),
        format_seconds(call.base),
        format_seconds(call.new),
        format_change(call.ratio, call.low, call.high),
        format_interval(call.low, call.high),
        format_change(call.whole_model),
        f"without {call.left_out} not measured in both" if call.left_out else "",
    ]
    return _line(cells)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"
