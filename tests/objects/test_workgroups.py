"""Affine maps from the workload to the number of workgroups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dispatchgen.errors import SubstitutionError
from dispatchgen.iree import ir
from dispatchgen.iree.executable import Export, read_layout
from dispatchgen.objects.workgroups import count_by_map

_LAYOUT = read_layout("#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>")
_EXPORT = Export("multiply", 0, _LAYOUT, 2, "", None)


def refusal(text: str, workload: int | None = 2) -> str:
    with ir.parse_module(""), pytest.raises(SubstitutionError) as caught:
        count_by_map(replace(_EXPORT, workload=workload), text)
    return str(caught.value)


@pytest.mark.parametrize(
    "text", ["(a, b) -> (b ceildiv 64, a mod 8 + 1, 1)", " ( w0,w1 )->( w1 ceildiv 64,w0 mod 8+1,1 ) "]
)
def test_a_map(text: str) -> None:
    with ir.parse_module(""):
        count = count_by_map(_EXPORT, text)
    assert "affine_map<(d0, d1) -> (d1 ceildiv 64)>(%w0, %w1)" in count
    assert "affine_map<(d0, d1) -> (d0 mod 8 + 1)>(%w0, %w1)" in count
    with ir.parse_module(f"func.func private @f(%device: !hal.device)\n{_around(count)}") as module:
        assert ir.walk(module, "affine.apply")


def _around(count: str) -> str:
    """An executable whose export has this count."""
    target = '#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">'
    export = f"hal.executable.export public @e ordinal(0) layout({_LAYOUT.text}) {count}"
    return f"hal.executable private @x {{ hal.executable.variant public @v target({target}) {{\n{export}\n}}\n}}"


def test_no_workload() -> None:
    for workload in (0, None):
        with ir.parse_module(""):
            count = count_by_map(replace(_EXPORT, workload=workload), "() -> (4, 1, 1)")
        with ir.parse_module(_around(count)):
            pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(w0) -> (w0, 1, 1)", "expected 2 operands, the workload of multiply; found 1: (w0) -> (w0, 1, 1)"),
        ("(a, b) -> (a, b)", "it has 2 results; 3 are needed"),
        ("(a, b) -> (a floordiv 0, 1, 1)", "has to be a constant above zero"),
        ("(a, b) -> (1, 1, 1)> #x<", "a map such as"),
        ("", "a map such as"),
    ],
)
def test_what_is_no_such_map(text: str, message: str) -> None:
    assert message in refusal(text)


def test_the_hint_has_the_right_inputs() -> None:
    assert "try: workgroups: (w0, w1, w2) -> (w2 ceildiv 64, 1, 1)" in refusal("() -> (1, 1, 1)", 3)
