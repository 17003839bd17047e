"""Reading IR: where the Python bindings are missing."""

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
