"""Quoting of users' text for Starlark: Starlark and Python read it as it was."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import starlark
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.render.starlark import path_refusal, starlark_argument, starlark_string
from dispatchgen.render.text import control_refusal, line_comment

_ALPHABET = "\"'\\$<>{}[]();,#%@:=|&`~!*?/+-^_ .nrtx0uU8aé漢\U0001f600\u200b\ufeff"
_CARRIED = st.text(st.sampled_from(_ALPHABET) | st.characters()).filter(lambda text: control_refusal(text) is None)


_VALUES = _CARRIED | st.integers(1) | st.lists(_CARRIED) | st.dictionaries(_CARRIED, st.lists(_CARRIED))


def _read_by_starlark(text: str) -> object:
    return starlark.eval(starlark.Module(), starlark.parse("BUILD", text), starlark.Globals.standard())


@given(_CARRIED)
def test_every_string_is_what_starlark_and_python_read(text: str) -> None:
    quoted = starlark_string(text)
    assert _read_by_starlark(quoted) == text
    assert ast.literal_eval(quoted) == text


@given(_VALUES)
def test_every_value_is_what_starlark_and_python_read(value: Any) -> None:
    literal = starlark_argument(value)
    assert _read_by_starlark(literal) == value
    assert ast.literal_eval(literal) == value


def test_elements_take_a_line_each() -> None:
    assert starlark_argument({"b": ["x", "y"], "a": []}) == (
        '{\n        "a": [],\n        "b": [\n            "x",\n            "y",\n        ],\n    }'
    )


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("plain", '"plain"'), ('say "x"', r'"say \"x\""'), ("a\\", r'"a\\"'), ("$$ '%s' é", "\"$$ '%s' é\""), ("", '""')],
)
def test_quotes_and_backslashes_are_escaped(text: str, quoted: str) -> None:
    assert starlark_string(text) == quoted


@given(st.text())
def test_comments_stay_on_their_line(text: str) -> None:
    comment = line_comment(text)
    assert len(comment.splitlines()) <= 1
    assert _read_by_starlark(f"# {comment}\n1") == 1


@pytest.mark.parametrize("text", ["a\nb", "\0", "\x7f", "\t", "\x85", "\u2028", "\ud800"])
def test_control_characters_are_refused(text: str) -> None:
    assert "control character" in (control_refusal(text) or "")
    assert "control character" in (path_refusal(text) or "")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a:b.mlir", "':'"),
        ("a\\b.mlir", "'\\\\'"),
        ("/a.mlir", "absolute"),
        ("../a.mlir", "leaves the suite's folder"),
        ("a/../b.mlir", "leaves the suite's folder"),
        ("a//b.mlir", "empty segment"),
        ("./a.mlir", "'.'"),
    ],
)
def test_paths_that_no_target_can_have_are_refused(path: str, reason: str) -> None:
    assert reason in (path_refusal(path) or "")


@pytest.mark.parametrize("path", ["my models/a $HOME `é` #1;|.mlir", "@a/...x.mlir", "-a", "..a/b..mlir", "[\"'](%s)"])
def test_paths_that_a_target_can_have_are_accepted(path: str) -> None:
    assert path_refusal(path) is None
