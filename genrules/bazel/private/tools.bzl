# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The programs that the rules run."""

load(":providers.bzl", "IreeDispatchToolsInfo")

# The attribute of the rules that start from files. Those that go on from there take the tools from the provider, so that
# a model is extracted, compiled and run by tools that belong together.
TOOLS_ATTR = attr.label(
    doc = "The programs to use: an iree_dispatch_tools target.",
    default = "//:tools",
    providers = [IreeDispatchToolsInfo],
)

def tools_with_importer(ctx):
    """The tools of a target that imports .onnx models; fails where they have no importer.

    Args:
      ctx: of a rule with TOOLS_ATTR.

    Returns:
      IreeDispatchToolsInfo.
    """
    tools = ctx.attr.tools[IreeDispatchToolsInfo]
    if not tools.importer:
        fail("\n".join([
            "%s: the tools have no importer of .onnx models" % ctx.label,
            "  at %s" % ctx.attr.tools.label,
            "  try: where this is @iree_tools, install iree-base-compiler[onnx] for its Python, then " +
            "`bazel sync --configure` (Bazel 8 and newer: `bazel fetch --configure --force`);",
            "       for tools of your own, import_tool = \"@iree_tools//:import_onnx\", " +
            "import_data = [\"@iree_tools//:import_files\"]",
        ]))
    return tools

def _tools_impl(ctx):
    return [
        IreeDispatchToolsInfo(
            benchmark = ctx.executable.benchmark_tool,
            benchmark_runfiles = _runfiles(ctx, ctx.attr.benchmark_tool, ctx.attr.benchmark_data),
            compile = _program(ctx.attr.compile_tool),
            compile_files = depset(ctx.files.compile_data),
            compile_runfiles = _runfiles(ctx, ctx.attr.compile_tool, ctx.attr.compile_data),
            dispatchgen = _program(ctx.attr.dispatchgen_tool),
            dispatchgen_files = depset(ctx.files.dispatchgen_data),
            dispatchgen_runfiles = _runfiles(ctx, ctx.attr.dispatchgen_tool, ctx.attr.dispatchgen_data),
            import_files = depset(ctx.files.import_data),
            importer = _program(ctx.attr.import_tool),
            linker = _program(ctx.attr.linker_tool),
            measure_files = depset(ctx.files.measure_data),
            run = ctx.executable.run_tool,
            run_runfiles = _runfiles(ctx, ctx.attr.run_tool, ctx.attr.run_data) if ctx.attr.run_tool else None,
            substitute_files = depset(ctx.files.substitute_data),
        ),
    ]

def _program(target):
    return target[DefaultInfo].files_to_run if target else None

def _runfiles(ctx, tool, data):
    """A program and its files, as runfiles of the programs that start it."""
    runfiles = ctx.runfiles(
        files = [tool[DefaultInfo].files_to_run.executable],
        transitive_files = depset(transitive = [target[DefaultInfo].files for target in data]),
    )
    for target in [tool] + data:
        if target[DefaultInfo].default_runfiles:
            runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return runfiles

iree_dispatch_tools = rule(
    implementation = _tools_impl,
    doc = """The programs that benchmark suites use.

Suites take the target that the flag `--@dispatchgen//:tools` names, by default `@iree_tools//:tools`, which
iree_tools_repository() makes of an installed IREE; or the one in their attribute `tools`. In a build that makes IREE:

    iree_dispatch_tools(
        name = "tools",
        compile_tool = "//tools:iree-compile",
        linker_tool = "@llvm-project//lld:lld",
        benchmark_tool = "//tools:iree-benchmark-module",
        run_tool = "//tools:iree-run-module",
        dispatchgen_tool = "@iree_tools//:dispatchgen",
        dispatchgen_data = ["@iree_tools//:dispatchgen_files"],
        import_tool = "@iree_tools//:import_onnx",
        import_data = ["@iree_tools//:import_files"],
        measure_data = ["@iree_tools//:measure_files"],
        substitute_data = ["@iree_tools//:substitute_files"],
    )
""",
    attrs = {
        "benchmark_data": attr.label_list(
            doc = "Files that iree-benchmark-module needs.",
            allow_files = True,
        ),
        "benchmark_tool": attr.label(
            doc = "iree-benchmark-module, which runs the tests.",
            allow_files = True,
            cfg = "target",
            executable = True,
            mandatory = True,
        ),
        "compile_data": attr.label_list(
            doc = "Files that iree-compile needs, such as its library. A change of one of them is a change of the compiler.",
            allow_files = True,
            cfg = "exec",
        ),
        "compile_tool": attr.label(
            doc = "iree-compile.",
            allow_files = True,
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
        "dispatchgen_data": attr.label_list(
            doc = "Files that dispatchgen needs, such as a Python and its packages.",
            allow_files = True,
            cfg = "exec",
        ),
        "dispatchgen_tool": attr.label(
            doc = "dispatchgen's command line, which extracts the dispatches.",
            allow_files = True,
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
        "import_data": attr.label_list(
            doc = "Files that the importer needs.",
            allow_files = True,
            cfg = "exec",
        ),
        "import_tool": attr.label(
            doc = "The importer of .onnx models, iree-import-onnx. Only suites of such models need it.",
            allow_files = True,
            cfg = "exec",
            executable = True,
        ),
        "linker_tool": attr.label(
            doc = "The linker for modules for CPUs, lld. Without it iree-compile looks for its own.",
            allow_files = True,
            cfg = "exec",
            executable = True,
        ),
        "measure_data": attr.label_list(
            doc = "Files that dispatchgen needs besides where it measures, compares and reports. Only presets that are measured " +
                  "as a whole need it.",
            allow_files = True,
            cfg = "exec",
        ),
        "run_data": attr.label_list(
            doc = "Files that iree-run-module needs.",
            allow_files = True,
        ),
        "run_tool": attr.label(
            doc = "iree-run-module, which the checks of substitutions run. Only suites that have some need it.",
            allow_files = True,
            cfg = "target",
            executable = True,
        ),
        "substitute_data": attr.label_list(
            doc = "Files that dispatchgen needs besides for substitutions and for data: a package that reads objects, and IREE's runtime.",
            allow_files = True,
            cfg = "exec",
        ),
    },
    provides = [IreeDispatchToolsInfo],
)
