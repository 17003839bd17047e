"""Quoting of users' text for CMake; `tests/cmake/test_quoting.py` has CMake itself read it."""

from __future__ import annotations

import pytest

from dispatchgen.render.quote import (
    KEYWORDS,
    cmake_argument,
    cmake_list,
    cmake_string,
    ctest_refusal,
    path_refusal,
    refusal,
)
from dispatchgen.render.text import line_comment
from dispatchgen.resources import genrules_dir


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain", '"plain"'),
        ("a b;c", '"a b;c"'),
        ("${HOME}", '"\\${HOME}"'),
        ('say "x"', '"say \\"x\\""'),
        ("a\\b", '"a\\\\b"'),
        ("@x@", '"@x@"'),
        ("é漢", '"é漢"'),
    ],
)
def test_what_means_something_in_a_quoted_argument_is_escaped(text: str, quoted: str) -> None:
    assert cmake_string(text) == quoted


def test_generator_expressions_are_made_text() -> None:
    assert cmake_argument("$<SEMICOLON>$<1:x>") == '"\\$<1:\\$><SEMICOLON>\\$<1:\\$><1:x>"'
    assert cmake_argument("$ <x>") == '"\\$ <x>"'


def test_semicolons_of_elements_stay_in_lists() -> None:
    assert cmake_list(["a;b", "c"]) == '"a\\\\;b;c"'


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "\0", "a\u2028b", "\x85"])
def test_comments_stay_on_their_line(text: str) -> None:
    assert len(line_comment(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("LABELS", "keyword"),
        ("a\nb", "control character '\\n'"),
        ("\x7f", "control character"),
        ("\ud800", "control character"),
        ("x$(CC)y", "'$(CC)', which CMake passes on as a variable of Make"),
        ("a\\", "ends with a backslash"),
        ("a[b", "square bracket"),
        ("]a[", "square bracket"),
    ],
)
def test_what_cmake_cannot_carry_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert reason in (refusal(text) or "")


@pytest.mark.parametrize("text", ["--x=[1,[2]];", "$", "$(shell x)", "a\\b", "labels", " ", "--flag=a;b"])
def test_what_cmake_can_carry_is_accepted(text: str) -> None:
    assert refusal(text) is None


@pytest.mark.parametrize("path", ["a;b.mlir", "a:b.mlir", "a|b.mlir", "a\\b.mlir", "a\nb.mlir"])
def test_paths_that_build_systems_misread_are_refused(path: str) -> None:
    assert path_refusal(path) is not None


def test_paths_with_spaces_and_dollars_are_accepted() -> None:
    assert path_refusal("my models/$HOME #1 (é)/m's.mlir") is None


def test_keywords_are_those_of_the_rules() -> None:
    rules = (genrules_dir() / "cmake" / "iree_dispatch_benchmark_suite.cmake").read_text().replace("\\\n", "")
    parsed = {
        word for line in rules.splitlines() if line.strip().startswith('"') for word in line.strip(' "').split(";")
    }
    assert {word for word in parsed if word} | {"PACKAGES"} == KEYWORDS


@pytest.mark.parametrize("text", ["--label=@CMAKE_VERSION@", "@x@", "a@b.c@d", "<", "&&"])
def test_what_ctest_cannot_carry_is_refused(text: str) -> None:
    assert ctest_refusal(text) is not None


@pytest.mark.parametrize("text", ["a@b", "@ @", "--x=@file"])
def test_what_ctest_can_carry_is_accepted(text: str) -> None:
    assert ctest_refusal(text) is None
