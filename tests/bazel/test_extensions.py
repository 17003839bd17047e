"""The module extension, which Bazel 4 does not know: evaluated with stand-ins for Bazel's functions."""

from __future__ import annotations

import starlark

from support import REPOSITORY

_BAZEL = """
attr = struct(string_list = lambda **settings: settings)

def tag_class(doc, attrs):
    return attrs

def module_extension(implementation, doc, tag_classes):
    return struct(implementation = implementation, tag_classes = tag_classes)
"""
_REPOSITORIES = """
def iree_tools_repository(**attributes):
    record(attributes)
"""
#: Each module of the build that uses the extension, and its tags.
_CALL = """
load("extensions.bzl", "iree_tools")

def module(*tags):
    return struct(tags = struct(packages = [struct(names = names) for names in tags]))

iree_tools.implementation(struct(modules = [module(["onnx", "magika"], ["zoo"]), module(), module(["magika"])]))
sorted(iree_tools.tag_classes["packages"])
"""


def test_packages_of_all_modules_are_in_one_repository() -> None:
    recorded: list[object] = []
    repositories = starlark.Module()
    repositories.add_callable("record", recorded.append)
    globals_ = starlark.Globals.extended_by([starlark.LibraryExtension.StructType])
    extension = (REPOSITORY / "genrules" / "bazel" / "extensions.bzl").read_text()
    bazel = 'load("bazel", "attr", "module_extension", "tag_class")\n'

    def load(label: str) -> starlark.FrozenModule:
        sources = {"bazel": _BAZEL, "//:repositories.bzl": _REPOSITORIES, "extensions.bzl": bazel + extension}
        module = repositories if label == "//:repositories.bzl" else starlark.Module()
        dialect = starlark.Dialect.extended() if label == "bazel" else starlark.Dialect.standard()
        starlark.eval(module, starlark.parse(label, sources[label], dialect), globals_, starlark.FileLoader(load))
        return module.freeze()

    dialect = starlark.Dialect.extended()
    dialect.enable_load = True
    tags = starlark.eval(
        starlark.Module(), starlark.parse("MODULE.bazel", _CALL, dialect), globals_, starlark.FileLoader(load)
    )
    assert recorded == [{"name": "iree_tools", "packages": ["magika", "onnx", "zoo"]}]
    assert tags == ["names"]
