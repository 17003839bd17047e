"""Reading IR: places, and where there is none or the Python bindings are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dispatchgen.errors import ToolError
from dispatchgen.iree import ir


def test_missing_bindings_are_an_error_with_what_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "m.mlir"
    module.write_text("module {}")
    monkeypatch.setitem(sys.modules, "iree.compiler", None)  # as where it is not installed
    with pytest.raises(ToolError) as caught, ir.read_module(module):
        pass
    (problem,) = caught.value.problems
    assert problem.message.startswith("the Python bindings of IREE's compiler cannot be imported: ")
    assert sys.executable in problem.message
    assert problem.hint == "pip install iree-base-compiler"


def test_what_is_no_ir_has_the_places_of_what_is_wrong() -> None:
    with pytest.raises(ir.NotIR) as caught, ir.parse_module("module {\n  foo.bar\n}"):
        pass
    ((line, column, text),) = caught.value.messages
    assert (line, column) == (2, 3)
    assert "foo.bar" in text
    with pytest.raises(ir.NotIR) as caught, ir.parse_module(b"\xff\xfe"):
        pass
    assert caught.value.messages


def test_lines_of_operations() -> None:
    with ir.parse_module("module {\n\n  util.global private @a : i32\n}") as module:
        (operation,) = ir.body(module)
        assert ir.line(operation) == 3
        assert ir.line(operation.clone()) == 3
        from iree.compiler import ir as mlir

        assert ir.line(mlir.Operation.parse("util.global private @b : i32 loc(unknown)")) is None
