# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Renews the lock files and build files of a suite, and tests that they are current.

The twins of write_source_files() of bazel-lib: a target to run, which writes into the source tree, and a test that names
that target when it fails.
"""

load(":launcher.bzl", "launcher")
load(":providers.bzl", "IreeDispatchToolsInfo")
load(":tools.bzl", "TOOLS_ATTR", "tools_with_importer")

def _update_impl(ctx):
    is_imported = bool([file for file in ctx.files.sources if file.extension == "onnx"])
    tools = tools_with_importer(ctx) if is_imported else ctx.attr.tools[IreeDispatchToolsInfo]
    command = [
        "update",
        tools.dispatchgen.executable.short_path,
        ctx.file.manifest.short_path,
        tools.compile.executable.short_path,
    ]

    # Files of the workspace are read where they are; those that a Python package ships, in the runfiles.
    shipped = [file for file in ctx.files.sources if file.short_path.startswith("../")]
    files = depset(shipped, transitive = [tools.import_files] if is_imported else [])

    # Python looks for a package in one place: where the importer imports it as well, among the importer's packages.
    places = {file.short_path[len("../"):].replace("/packages/", "/import-site-packages/", 1): file for file in shipped}
    return _program(ctx, command, files, [tools.dispatchgen_runfiles, tools.compile_runfiles], places)

def _stale_test_impl(ctx):
    tools = ctx.attr.tools[IreeDispatchToolsInfo]
    update = "//%s:%s" % (ctx.attr.update.label.package, ctx.attr.update.label.name)
    command = ["check", tools.dispatchgen.executable.short_path, ctx.file.manifest.short_path, update]
    read, copies = copied_files(ctx, [ctx.file.manifest] + ctx.files.build_files + ctx.files.sources)
    return _program(ctx, command + copies, depset(read), [tools.dispatchgen_runfiles])

def copied_files(ctx, files):
    """The files of the source tree that a test copies, since a manifest may not refer to files outside its folder.

    Args:
      ctx: of the rule.
      files: list of File, which may repeat. Those of packages of Python are read where they are.

    Returns:
      list of File, the runfiles, and list of strings: (file, path in the source tree)... and `--`.
    """
    read = []
    arguments = []
    for file in depset(files).to_list():
        if file.short_path.startswith("../"):
            read.append(file)
            continue

        # Before Bazel 7.4 the runfiles cannot have spaces in their names.
        link = ctx.actions.declare_file("%s.files/%d" % (ctx.label.name, len(read)))
        ctx.actions.symlink(output = link, target_file = file)
        read.append(link)
        arguments += [link.short_path, file.short_path]
    return read, arguments + ["--"]

def _program(ctx, command, files, programs, places = {}):
    """The providers of a target that runs update.sh where the paths of the runfiles start.

    Args:
      ctx: of the rule.
      command: list of strings, arguments of update.sh.
      files: depset of File, the runfiles.
      programs: list of runfiles, those of the programs that update.sh starts.
      places: dict of string to File, more runfiles at these paths from their top.
    """
    runfiles = ctx.runfiles(
        files = [ctx.file._script],
        root_symlinks = places,
        transitive_files = files,
    )
    for program in programs:
        runfiles = runfiles.merge(program)
    return launcher(ctx, ["/bin/sh", ctx.file._script.short_path] + command, runfiles)

_ATTRS = {
    "manifest": attr.label(
        doc = "The suite's manifest.",
        allow_single_file = True,
        mandatory = True,
    ),
    "sources": attr.label_list(
        doc = "The sources and the lock files of all models.",
        allow_files = True,
    ),
    "tools": TOOLS_ATTR,
    "_script": attr.label(
        default = "//private:update.sh",
        allow_single_file = True,
    ),
}

iree_dispatch_update = rule(
    implementation = _update_impl,
    doc = """Renews the lock files and the build files of a suite in the source tree: `bazel run`.

The build files are those that dispatchgen wrote: BUILD.bazel, and a CMakeLists.txt beside it.
""",
    attrs = _ATTRS,
    executable = True,
)

iree_dispatch_stale_test = rule(
    implementation = _stale_test_impl,
    doc = """Fails, with the command that mends it, when lock files or build files of a suite are stale.

That is: a source or the manifest is not what a lock was made from, a lock was edited by hand, or a build file is not what
the manifest and the locks say. Nothing is compiled: whether a model's dispatches are those of its lock, its build finds out.
""",
    attrs = dict(
        _ATTRS,
        build_files = attr.label_list(
            doc = "The build files that dispatchgen wrote: BUILD.bazel, and CMakeLists.txt where there is one.",
            allow_files = True,
        ),
        update = attr.label(
            doc = "The iree_dispatch_update target that renews them.",
            mandatory = True,
        ),
    ),
    test = True,
)
