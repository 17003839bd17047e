"""YAML documents with positions, read within limits.

Plain data comes out (dict with string keys, list, str, int, float, bool), and the line and column of every part of it.
Stricter than YAML: no duplicate keys, no keys that are not strings, no nulls, no tags, one document.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from dispatchgen.errors import ManifestError, Place, Problem
from dispatchgen.manifest.names import MAX_NAME, show

#: Largest file that is read, in bytes. A thousand models take about 0.2 MB.
MAX_BYTES = 8 << 20
#: Most values in a document once every alias is replaced by what it stands for.
MAX_NODES = 500_000
#: Deepest nesting.
MAX_DEPTH = 50

_SYNTAX_HINT = "check the indentation, and quote texts that hold `: `, ` #`, or start with one of `[]{}&*!|>%@`"
#: What YAML 1.1 allows in a document (section 5.1).
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufeff\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\n]")
#: Keys that need no quotes in the path of a key.
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")
_PREFIX = "tag:yaml.org,2002:"
#: Numbers that are keys: what YAML reads is what is written.
_KEY_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
_KINDS = {"bool": "true or false", "int": "a number", "float": "a number", "null": "nothing", "timestamp": "a date"}

#: The loader in C where PyYAML was built with it: ten times as fast.
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: The way to a value: keys and list indices.
Path_ = Sequence[str | int]


@dataclass(frozen=True)
class Document:
    """The data of a document and where its parts are."""

    file: str
    data: Any
    root: yaml.Node

    def place(self, path: Path_, *, at_key: bool = False) -> Place:
        """The place of the value at `path`, as far as it exists; of its key instead with `at_key`."""
        node, mark = self.root, self.root.start_mark
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            key, node = found
            mark = (key if at_key or isinstance(node, yaml.CollectionNode) else node).start_mark
        return Place(self.file, mark.line + 1, mark.column + 1, format_path(path) or None)

    def lines(self, path: Path_) -> dict[str, int]:
        """The 1-based line of each key of the mapping at `path`."""
        node = self.root
        for part in path:
            found = _child(node, part)
            if found is None:
                return {}
            node = found[1]
        return {key.value: key.start_mark.line + 1 for key, _ in _pairs(node)}


def format_path(path: Path_) -> str:
    """A path as people read it: `models.mlp.inputs[0]`; odd keys in quotes: `models["a b"]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{part if len(part) <= MAX_NAME else part[:MAX_NAME] + '...'!r}]"
    return text


def read_document(path: Path) -> Document:
    """Reads the YAML document in a file. Raises ManifestError."""
    file = str(path)
    text = _decode(_read(path), file)
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise ManifestError(_syntax_problem(error, text, file)) from None
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(Problem(f"not a YAML document: {error}", Place(file))) from None
    except RecursionError:
        raise ManifestError(_too_deep(Place(file))) from None
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == f"{_PREFIX}null"):
        hint = "version: 1, and models: with a source each; `dispatchgen init MODEL...` writes a first manifest"
        raise ManifestError(Problem("the manifest is empty", Place(file), hint))
    builder = _Builder(file)
    data = builder.build(root, ())
    if builder.problems:
        raise ManifestError(*dict.fromkeys(builder.problems))  # aliases are built once per use
    return Document(file, data, root)


def _read(path: Path) -> bytes:
    place = Place(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ManifestError(Problem("the manifest is not a regular file", place))
        if status.st_size > MAX_BYTES:
            size = f"{status.st_size / 1e6:.0f} MB; at most {MAX_BYTES >> 20} MiB are read"
            raise ManifestError(Problem(f"the manifest is too large: {size}", place, "split it into several suites"))
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        hint = "`dispatchgen init MODEL...` writes a first manifest"
        raise ManifestError(Problem("there is no manifest", place, hint)) from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ManifestError(Problem(f"cannot read the manifest: {reason}", place)) from None


def _decode(data: bytes, file: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        byte = f"the byte 0x{data[error.start]:02x}"
        raise ManifestError(
            Problem(f"the manifest is not UTF-8: {byte}", _place_after(before, file), "save the file as UTF-8")
        ) from None
    if bad := _NOT_PRINTABLE.search(text):
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        hint = 'write it in double quotes as an escape, e.g. "\\u0007"'
        raise ManifestError(Problem(message, _place_after(text[: bad.start()], file), hint))
    return text


def _place_after(before: str, file: str) -> Place:
    lines = _LINE_END.split(before)
    return Place(file, len(lines), len(lines[-1]) + 1)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Problem(f"not a YAML document: {error}", Place(file))
    place = Place(file, mark.line + 1, mark.column + 1)
    if "nesting depth" in str(error.problem):
        return _too_deep(place)
    if text[mark.index : mark.index + 1] == "\t":
        return Problem("a tab where YAML wants spaces", place, "indent with spaces")
    what = ", ".join(part for part in (error.context, error.problem) if part)
    return Problem(f"not a YAML document: {what}", place, _SYNTAX_HINT)


def _too_deep(place: Place) -> Problem:
    message = f"nested too deeply: at most {MAX_DEPTH} levels are allowed"
    return Problem(message, place, "an alias (`*name`) inside of what it stands for has no end")


def _start(node: yaml.Node, file: str) -> Place:
    return Place(file, node.start_mark.line + 1, node.start_mark.column + 1)


def _pairs(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Key and value nodes of a mapping; what `<<` merges comes after the mapping's own keys, which win."""
    if not isinstance(node, yaml.MappingNode):
        return
    merged: list[yaml.Node] = []
    for key, value in node.value:
        if key.tag == f"{_PREFIX}merge":
            merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
        else:
            yield key, value
    for other in merged:
        yield from _pairs(other)


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(part, int):
        if isinstance(node, yaml.SequenceNode) and part < len(node.value):
            return node.value[part], node.value[part]
        return None
    return next(((key, value) for key, value in _pairs(node) if key.value == part), None)


class _Builder:
    """Builds plain data from nodes and collects what is wrong with them.

    Aliases are built once per use: the count of values bounds what they can expand to, and the depth catches an alias
    inside of what it stands for.
    """

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._count = 0
        self._scalars = yaml.constructor.SafeConstructor()

    def build(self, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
        """The data of a node. Raises ManifestError where a limit is exceeded."""
        self._count += 1
        if self._count > MAX_NODES:
            message = f"the manifest is too large: more than {MAX_NODES} values, aliases (`*name`) expanded"
            hint = "fewer aliases, or several suites"
            raise ManifestError(Problem(message, Place(self._file), hint))
        if len(path) >= MAX_DEPTH:
            raise ManifestError(_too_deep(_start(node, self._file)))
        kind = node.tag.removeprefix(_PREFIX)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, kind, path)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, path)
        self._add(f"the YAML tag {show(node.tag)} is not supported", node, path, "remove it")
        return None

    def _mapping(self, node: yaml.MappingNode, path: tuple[str | int, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            kind = key.tag.removeprefix(_PREFIX)
            if kind == "merge":
                continue
            if not isinstance(key, yaml.ScalarNode):
                self._add("a key that is not a text", key, path)
            elif kind != "str" and not _KEY_NUMBER.fullmatch(key.value):
                found = f"a key that is not a text: YAML reads {show(key.value)} as {_KINDS.get(kind, show(kind))}"
                self._add(found, key, (*path, key.value), f'"{key.value}" in quotes')
            elif key.value in lines:
                found = f"the key {show(key.value)} is there twice; first in line {lines[key.value]}"
                self._add(found, key, (*path, key.value), "remove or rename one of them")
            else:
                lines[key.value] = key.start_mark.line + 1
                result[key.value] = self.build(value, (*path, key.value))
        for key, value in node.value:
            if key.tag == f"{_PREFIX}merge":
                self._merge(result, value, path)
        return result

    def _merge(self, result: dict[str, Any], node: yaml.Node, path: tuple[str | int, ...]) -> None:
        for other in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(other, yaml.MappingNode):
                self._add("`<<` merges mappings only", other, path)
                continue
            for key, value in (self.build(other, (*path, "<<")) or {}).items():
                result.setdefault(key, value)

    def _scalar(self, node: yaml.ScalarNode, kind: str, path: tuple[str | int, ...]) -> Any:
        text: str = node.value
        if not text.isascii() and _SURROGATE.search(text):
            self._add("half of a surrogate pair is not a character", node, path)
            return None
        if kind in ("str", "timestamp", "value", "merge"):
            return text
        if kind == "null":
            self._add("there is no value", node, path, "give one, or remove the key to get its default")
            return None
        try:
            if kind == "bool":
                return self._scalars.construct_yaml_bool(node)
            if kind in ("int", "float"):
                # YAML 1.1 reads 1:30 as ninety; nobody means that.
                construct = self._scalars.construct_yaml_int if kind == "int" else self._scalars.construct_yaml_float
                return text if ":" in text else self._number(construct(node), node, path)
        except (ValueError, KeyError, OverflowError):
            self._add(f"{show(text)} is not {_KINDS.get(kind, kind)} that can be read", node, path)
            return None
        self._add(f"the YAML tag {show(node.tag)} is not supported", node, path, "remove it")
        return None

    def _number(self, number: int | float, node: yaml.ScalarNode, path: Path_) -> int | float | None:
        if isinstance(number, int) and abs(number) >= 2**64:
            self._add(f"{show(node.value)} is too large: 64 bits hold it no longer", node, path)
            return None
        return number

    def _add(self, message: str, node: yaml.Node, path: Path_, hint: str | None = None) -> None:
        place = replace(_start(node, self._file), key=format_path(path) or None)
        self.problems.append(Problem(message, place, hint))
