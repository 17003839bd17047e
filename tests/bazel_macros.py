"""Evaluates the Bazel rules' own .bzl files without Bazel, with stand-ins for Bazel's functions.

A call of a macro then tells which targets it would create. As in Bazel, a target needs a name of its own, the
attributes that its rule requires, and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import starlark

from support import REPOSITORY

_RULES = REPOSITORY / "genrules" / "bazel"

#: Bazel's functions. A rule has the name of its implementation: `_module_impl` is of `iree_dispatch_module`.
_BAZEL = """
_COMMON = [
    "compatible_with", "deprecation", "exec_compatible_with", "exec_properties", "features", "restricted_to", "tags",
    "target_compatible_with", "testonly", "visibility",
]
_TEST = ["args", "flaky", "local", "shard_count", "size", "timeout"]

def _create(kind, known, mandatory, attributes):
    for name in attributes:
        if name not in known + ["name"]:
            fail("no such attribute '%s' in '%s' rule" % (name, kind))
    for name in mandatory:
        if name not in attributes:
            fail("missing value for mandatory attribute '%s' in '%s' rule" % (name, kind))
    record(kind, attributes)

def rule(implementation, doc, attrs = {}, test = False, executable = False, provides = [], build_setting = None):
    kind = "iree_dispatch" + str(implementation).split(".")[-1].removesuffix("_impl")
    known = attrs.keys() + _COMMON + (_TEST if test else [])
    mandatory = [name for name in attrs if attrs[name].get("mandatory")]
    return lambda **attributes: _create(kind, known, mandatory, attributes)

def provider(doc, fields):
    return struct(**{name: None for name in fields})

def _attribute(**settings):
    return settings

attr = struct(
    bool = _attribute, int = _attribute, label = _attribute, label_list = _attribute, string = _attribute,
    string_list = _attribute,
)
config = struct(string = _attribute)

# Only implementations of rules, which are not called here, use these.
DefaultInfo = provider(doc = "", fields = [])
depset = None
testing = None

def Label(text):
    return "Label(%s)" % text

def _filegroup(**attributes):
    _create("filegroup", ["srcs"] + _COMMON, [], attributes)

def _test_suite(**attributes):
    _create("test_suite", ["tests"] + _COMMON, [], attributes)

def _glob(include, allow_empty):
    return [name for name in include if name == "BUILD.bazel"]

def _package_name():
    return "suites/mlp"

native = struct(
    existing_rule = existing_rule,
    filegroup = _filegroup,
    glob = _glob,
    package_name = _package_name,
    test_suite = _test_suite,
)
"""
_NAMES = ["DefaultInfo", "Label", "attr", "config", "depset", "native", "provider", "rule", "testing"]
_LOAD_BAZEL = f'load("bazel", {json.dumps(_NAMES)[1:-1]})\n'
_LOAD_MACROS = 'load("defs.bzl", "iree_dispatch_benchmark_setup", "iree_dispatch_benchmark_suite")\n'


class MacroError(Exception):
    """What a call ends with in `fail()`."""


@dataclass(frozen=True)
class Target:
    """A target that a macro created."""

    kind: str  #: The rule's name.
    attributes: Mapping[str, Any]  #: As they were given, the name included.


class Package:
    """A package of Bazel, in which macros are called."""

    def __init__(self) -> None:
        self.targets: dict[str, Target] = {}
        self._modules: dict[str, starlark.FrozenModule] = {}
        self._globals = starlark.Globals.extended_by(
            [starlark.LibraryExtension.Json, starlark.LibraryExtension.Print, starlark.LibraryExtension.StructType]
        )

    def call(self, macro: str, **arguments: object) -> None:
        """Calls a macro of defs.bzl. Raises MacroError with the text of `fail()`."""
        text = ", ".join(f"{name} = {value!r}" for name, value in arguments.items())
        dialect = starlark.Dialect.standard()
        dialect.enable_top_level_stmt = True
        build_file = starlark.parse("BUILD.bazel", f"{_LOAD_MACROS}{macro}({text})\n", dialect)
        try:
            starlark.eval(starlark.Module(), build_file, self._globals, starlark.FileLoader(self._load))
        except starlark.StarlarkError as error:
            raise MacroError(_message(str(error))) from error

    def tags(self, name: str) -> set[str]:
        """The tags of a target."""
        return set(self.targets[name].attributes["tags"])

    def of_kind(self, kind: str) -> list[str]:
        """The names of the targets of a rule."""
        return [name for name, target in self.targets.items() if target.kind == kind]

    def module(self, label: str) -> starlark.FrozenModule:
        """A .bzl file of the rules, evaluated."""
        return self._load(label)

    def _load(self, label: str) -> starlark.FrozenModule:
        if label not in self._modules:
            self._modules[label] = self._evaluate(label)
        return self._modules[label]

    def _evaluate(self, label: str) -> starlark.FrozenModule:
        module = starlark.Module()
        if label == "bazel":
            module.add_callable("record", self._record)
            module.add_callable("existing_rule", self._existing_rule)
            source = _BAZEL
        else:
            source = _LOAD_BAZEL + _path(label).read_text()
        dialect = starlark.Dialect.extended() if label == "bazel" else starlark.Dialect.standard()
        starlark.eval(module, starlark.parse(label, source, dialect), self._globals, starlark.FileLoader(self._load))
        return module.freeze()

    def _record(self, kind: str, attributes: Mapping[str, Any]) -> None:
        name = attributes["name"]
        if name in self.targets:
            raise ValueError(f"{kind} rule '{name}' conflicts with existing {self.targets[name].kind} rule")
        self.targets[name] = Target(kind, attributes)

    def _existing_rule(self, name: str) -> Mapping[str, Any] | None:
        return self.targets[name].attributes if name in self.targets else None


def _path(label: str) -> Path:
    folder, _, name = label.removeprefix("//").partition(":")
    if not name:
        return _RULES / label
    return _RULES / (folder or "private") / name


def _message(error: str) -> str:
    """The text of `fail()` in the report of starlark, which follows it with the place."""
    match = re.search(r"error: fail: (.*?)\n +--> ", error, re.DOTALL)
    return match[1] if match else error
