# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Presets that are measured as a whole, compared with a baseline and reported, by `dispatchgen nightly`."""

load(":launcher.bzl", "launcher")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchNightlyInfo")
load(":update.bzl", "copied_files")

def _nightly_test_impl(ctx):
    extracts = [target[IreeDispatchExtractInfo] for target in ctx.attr.extracts]
    tools = extracts[0].tools
    for extract in extracts:
        if extract.tools.benchmark != tools.benchmark or extract.tools.dispatchgen != tools.dispatchgen:
            fail("%s: the suites have different tools: what one program is to measure needs the same" % ctx.label)
    if not tools.run:
        fail("\n".join([
            "%s: the tools have no iree-run-module, which measuring a preset as a whole needs" % ctx.label,
            "  try: for tools of your own, run_tool = \"@iree_tools//:bin/iree-run-module\"",
        ]))
    read, copies = copied_files(ctx, [ctx.file.manifest] + ctx.files.sources + ctx.files.baselines)
    command = _command(ctx, tools, "measure") + copies

    # `<package>/<model>/<backend>/dispatches/index.json`
    built = "/".join(extracts[0].index.short_path.split("/")[:-4]) or "."
    command += [built, "--preset", ctx.attr.preset, "--renew", "bazel run " + ctx.attr.update]
    command += ["--save", "bazel run " + ctx.attr.save] if ctx.attr.save else []
    command += ["--iree-compile", tools.compile.executable.short_path]
    command += ["--iree-benchmark-module", tools.benchmark.short_path]
    command += ["--iree-run-module", tools.run.short_path]
    runfiles = _runfiles(ctx, tools, read + ctx.files.built)
    for program in [tools.compile_runfiles, tools.benchmark_runfiles, tools.run_runfiles]:
        runfiles = runfiles.merge(program)
    return launcher(ctx, command, runfiles) + [IreeDispatchNightlyInfo(tools = tools)]

def _baseline_impl(ctx):
    tools = ctx.attr.nightly[IreeDispatchNightlyInfo].tools
    nightly = ctx.attr.nightly.label
    outputs = "/".join([part for part in [nightly.package, nightly.name] if part]) + "/test.outputs"
    command = _command(ctx, tools, ctx.attr.command)
    command += [_name(nightly), outputs, ctx.attr.preset, ctx.attr.baseline]
    return launcher(ctx, command, _runfiles(ctx, tools, []))

def _command(ctx, tools, mode):
    """The beginning of what starts nightly.sh."""
    script = ["/bin/sh", ctx.file._script.short_path]
    return script + [mode, tools.dispatchgen.executable.short_path, ctx.file.manifest.short_path]

def _runfiles(ctx, tools, files):
    """The runfiles of dispatchgen, where it measures, compares and reports."""
    runfiles = ctx.runfiles(files = [ctx.file._script] + files, transitive_files = tools.measure_files)
    return runfiles.merge(tools.dispatchgen_runfiles)

def _name(label):
    return "//%s:%s" % (label.package, label.name)

_ATTRS = {
    "manifest": attr.label(
        doc = "The manifest that the suites come from.",
        allow_single_file = True,
        mandatory = True,
    ),
    "preset": attr.string(
        doc = "Id of the preset.",
        mandatory = True,
    ),
    "_script": attr.label(
        default = "//private:nightly.sh",
        allow_single_file = True,
    ),
}

iree_dispatch_nightly_test = rule(
    implementation = _nightly_test_impl,
    doc = """Measures what a preset selects, compares it with the preset's baseline and reports.

It leaves what `dispatchgen nightly` writes, `results.json` and the rest, in its undeclared outputs. The tags must keep it from
being answered from a cache: see iree_dispatch_benchmark_setup().
""",
    attrs = dict(
        _ATTRS,
        baselines = attr.label_list(
            doc = "The files of the baseline.",
            allow_files = [".json"],
        ),
        built = attr.label_list(
            doc = "All that is built of the suites that the preset selects.",
            allow_files = True,
            mandatory = True,
        ),
        extracts = attr.label_list(
            doc = "The iree_dispatch_extract targets of these suites, which lie in one package.",
            allow_empty = False,
            mandatory = True,
            providers = [IreeDispatchExtractInfo],
        ),
        sources = attr.label_list(
            doc = "The sources and the lock files of all models of the manifest.",
            allow_files = True,
        ),
        save = attr.string(
            doc = "The target that saves the baseline, for messages. Not a label: that target needs this one.",
        ),
        update = attr.string(
            doc = "The target that renews the lock files, for messages.",
            mandatory = True,
        ),
    ),
    test = True,
)

iree_dispatch_baseline = rule(
    implementation = _baseline_impl,
    doc = """Compares what a preset's test measured last with its baseline, or keeps it in the source tree: `bazel run`.

It takes the files that it is given, else `results.json` of the outputs of the test. Options of dispatchgen follow them.
""",
    attrs = dict(
        _ATTRS,
        baseline = attr.string(
            doc = "Name of the baseline.",
            mandatory = True,
        ),
        command = attr.string(
            doc = "What is done.",
            mandatory = True,
            values = ["check", "save", "update"],
        ),
        nightly = attr.label(
            doc = "The iree_dispatch_nightly_test target.",
            mandatory = True,
            providers = [IreeDispatchNightlyInfo],
        ),
    ),
    executable = True,
)
