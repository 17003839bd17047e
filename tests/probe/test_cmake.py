"""What the CMake rules are told, which the tests of the rules do not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dispatchgen
from dispatchgen.iree import tools
from dispatchgen.probe.cmake import code_files, main

_PACKAGE = Path(dispatchgen.__file__).resolve().parent


def _imported(file: Path) -> Iterator[Path]:
    """The files of dispatchgen that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            path = _PACKAGE.parent.joinpath(*name.split("."))
            if path.is_relative_to(_PACKAGE):
                yield from filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py"))


def test_builds_depend_on_all_code_that_their_steps_import() -> None:
    commands = ("extract", "substitute", "substitute_model")
    waiting = [_PACKAGE / "__main__.py", *(_PACKAGE / "cli" / f"{name}.py" for name in commands)]
    code: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in code:
            code.add(file)
            waiting += _imported(file)
    assert {_PACKAGE / "lock" / "drift.py", _PACKAGE / "substitute" / "splice.py"} <= code
    assert code - set(code_files()) == set()


def test_builds_depend_on_the_version_of_the_bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extraction reads IR with them; the compiler may be another and stay the same."""
    digests = []
    for version in ("3.13.0", "3.13.0", "3.14.0"):
        monkeypatch.setattr(tools, "wheel_version", lambda _, version=version: version)
        assert main(["--output-dir", str(tmp_path)]) == 0
        digests.append((tmp_path / "code_digest.txt").read_text())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("is_there", [True, False])
def test_some_programs_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool) -> None:
    monkeypatch.setattr(tools, "find_program", lambda name, _: Path("/bin", name) if is_there else None)
    assert main(["--output-dir", str(tmp_path), "--optional-program", "iree-run-module"]) == 0
    line = 'set(_PROBE_IREE_RUN_MODULE "/bin/iree-run-module")\n'
    assert (line in (tmp_path / "probe.cmake").read_text()) is is_there
