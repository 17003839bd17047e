"""The page as a text: what it may load, what is in it where there is little to tell."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import made_up_results as made_up
import reported
from dispatchgen.report.report import report
from dispatchgen.results.schema import WholeModel

_VOID = frozenset(("meta", "input", "col", "br", "hr"))


class _Checked(HTMLParser):
    """Elements that are open, ids, addresses and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_elements_are_closed_and_ids_are_unique(html: str) -> None:
    parsed = _Checked()
    parsed.feed(html)
    assert parsed.open == []
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_nothing_is_loaded(html: str) -> None:
    parsed = _Checked()
    parsed.feed(html)
    addresses = [value or "" for name, value in parsed.attributes if name in ("src", "href", "action", "data")]
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    assert not [name for name, _ in parsed.attributes if name == "style" or name.startswith("on")]
    assert "url(" not in html and "@import" not in html


def test_the_policy_allows_this_script_and_style_alone(html: str) -> None:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert found
    policy = dict(part.split(" ", 1) for part in found[1].replace("&#39;", "'").split("; "))
    assert policy["default-src"] == "'none'"
    for name, element in (("style-src", "style"), ("script-src", "script")):
        text = html.rpartition(f"<{element}>")[2].partition(f"</{element}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[name] == f"'sha256-{digest}'"


@pytest.mark.parametrize("section", ["summary", "comparison", "ranking", "rows", "curves", "variants", "history"])
def test_sections(html: str, section: str) -> None:
    assert f'<section id="{section}"' in html
    assert f'<a href="#{section}">' in html


def test_sections_that_would_be_empty_are_not_there() -> None:
    html = report([reported.as_lean(made_up.results([]))])
    assert re.findall(r'<section id="(\w+)"', html) == ["summary", "rows", "method"]
    assert "<strong>0</strong> of 0 dispatches measured" in html


def test_an_interrupted_run_says_so() -> None:
    result = made_up.results([made_up.call([], whole_model=WholeModel(timing=None, failure="no time left"))])
    html = report([reported.as_lean(result.model_copy(update={"finished": None}))])
    assert "interrupted" in html
    assert "no time left" in html


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_curves_stand_out(html: str, scheme: int) -> None:
    """Contrast of what is no text: at least 3 to 1 (WCAG 1.4.11)."""
    colours = {name: pair[scheme] for name, *pair in re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\);", html)}
    lines = [value for name, value in colours.items() if name.startswith("line-") or name in ("accent", "bad", "muted")]
    assert len(lines) == 9
    for line in lines:
        assert _contrast(line, colours["page"]) >= 3


def _contrast(first: str, second: str) -> float:
    low, high = sorted(_luminance(each) for each in (first, second))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
