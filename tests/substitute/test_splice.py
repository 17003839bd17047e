"""Replacing executables in the text of a module."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.iree.ir import symbol_text
from dispatchgen.substitute.splice import executable_spans, rename_reference, replace_executables


def executable(symbol: str, visibility: str = "private ", body: str = "  hal.executable.variant @v {\n  }\n") -> str:
    return f"hal.executable {visibility}{symbol_text(symbol)} {{\n{body}}}"


def module(*executables: str) -> str:
    lines = [f"  {line}" for text in executables for line in text.splitlines()]
    return "\n".join(["module attributes {a = 1 : i32} {", *lines, "  util.func @f() {", "  }", "}", ""])


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, max_size=4), st.data())
def test_one_of_any_executables_is_replaced(symbols: list[str], data: st.DataObject) -> None:
    before = [executable(symbol) for symbol in symbols]
    replaced = data.draw(st.sets(st.sampled_from(symbols)) if symbols else st.just(set()))
    new = {symbol: executable("new", body="") for symbol in replaced}
    after = [new.get(symbol, text) for symbol, text in zip(symbols, before, strict=True)]
    assert list(executable_spans(module(*before))) == [symbol_text(symbol) for symbol in symbols]
    assert replace_executables(module(*before), new) == module(*after)
    assert replace_executables(module(*before), dict(zip(symbols, before, strict=True))) == module(*before)


def test_visibility_stays_as_it_was() -> None:
    text = module(executable("a", "private "), executable("b", "public "), executable("c", ""))
    new = {symbol: executable(symbol, "public " if symbol == "a" else "private ") for symbol in "abc"}
    assert replace_executables(text, new) == text


def test_references_are_renamed_as_a_whole() -> None:
    text = '@e::@v::@f @e::@v::@f_2 @e::@v::@f, @e2::@v::@f @e::@w::@f (@e::@v::@f) @e::@v::@"f g"'
    renamed = '@e::@v::@"new \\\\ name" @e::@v::@f_2 @e::@v::@"new \\\\ name", @e2::@v::@f @e::@w::@f '
    renamed += '(@e::@v::@"new \\\\ name") @e::@v::@"f g"'
    assert rename_reference(text, "e", "v", "f", "new \\ name") == renamed.replace("\\\\", "\\5C")
    assert rename_reference(text, "e", "v", "f g", "h").endswith("@e::@v::@h")
