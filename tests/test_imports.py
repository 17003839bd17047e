"""Imports go one way: the rows of the packages' table in docs/architecture.md import only from rows above them."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import support

_SOURCES = support.REPOSITORY / "generator" / "dispatchgen"
_ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)


def _order() -> list[str]:
    """The packages, and the modules beside them, in the order of the table."""
    text = (support.REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text[text.index("| package | holds |") :].split("\n\n", 1)[0]
    return [name for row in _ROW.findall(table) for name in re.findall(r"\w+", row)]


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(_SOURCES).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path) -> Iterator[str]:
    """The modules of dispatchgen that a module imports, at its top or in functions, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            inner = name.removeprefix("dispatchgen.")
            if inner != name:  # else it is another package, or dispatchgen itself, which has the version
                yield inner if inner in _MODULES else inner.rpartition(".")[0]


_PATHS = [path for path in sorted(_SOURCES.rglob("*.py")) if path.parent != _SOURCES or not path.stem.startswith("__")]
_MODULES = {_module_name(path): path for path in _PATHS}
#: A module -> what it imports but for its package, which may import it when called.
_GRAPH = {name: {*_imports(path)} - {"", name.rpartition(".")[0]} for name, path in _MODULES.items()}


def test_the_table_has_all_packages() -> None:
    order = _order()
    assert len(set(order)) == len(order)
    assert set(order) == {name.partition(".")[0] for name in _MODULES}


def test_imports_go_up_the_table() -> None:
    position = {name: index for index, name in enumerate(_order())}
    wrong = [
        f"{module} imports {imported}"
        for module, found in _GRAPH.items()
        for imported in found
        if position[imported.partition(".")[0]] > position[module.partition(".")[0]]
    ]
    assert not wrong, "move the code, or the row in docs/architecture.md"


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        graphlib.TopologicalSorter(_GRAPH).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" imports ".join(error.args[1][::-1]))
