# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The tests: a dispatch or a call of the whole model, once (smoke) or timed; the outputs of a substitute."""

load(":check.bzl", "parameter_path")
load(":launcher.bzl", "launcher")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchModuleInfo", "IreeDispatchSettingInfo")

# What the scripts have in common.
_FUNCTIONS_ATTR = attr.label(
    default = "//private:test_functions.sh",
    allow_single_file = True,
)

def _smoke_test_impl(ctx):
    return _benchmark_test(ctx, [], ["--benchmark_min_time=1x"])

def _benchmark_test_impl(ctx):
    flags = []
    if ctx.attr.min_time:
        flags.append("--benchmark_min_time=%s" % ctx.attr.min_time)
    if ctx.attr.repetitions > 1:
        flags.append("--benchmark_repetitions=%d" % ctx.attr.repetitions)
    if ctx.attr.batch_size > 1:
        flags.append("--batch_size=%d" % ctx.attr.batch_size)
    module = ctx.attr.module[IreeDispatchModuleInfo]
    context = "model=%s,backend=%s,device=%s" % (module.model, module.backend, ctx.attr.device_id)
    if module.substitution:
        context += ",substitution=" + module.substitution
    context += ",%s=%s" % ("call" if ctx.attr.call else "dispatch", ctx.attr.call or module.name)
    flags.append("--benchmark_context=" + context)
    return _benchmark_test(ctx, ["--keep-result"], flags)

def _benchmark_test(ctx, options, flags):
    """The providers of a test that runs iree-benchmark-module with these flags through run_benchmark.sh."""
    module = ctx.attr.module[IreeDispatchModuleInfo]
    files = [module.vmfb, ctx.file._script, ctx.file._functions] + ctx.files.parameter_files
    command = ["/bin/sh", ctx.file._script.short_path] + options
    command += _skip_options(ctx, module, files)
    for change in module.changes:
        files += [change.vmfb, change.original]
        command += ["--change", change.vmfb.short_path, change.original.short_path]
    if module.original:
        files.append(module.original)
        command += ["--original", module.vmfb.short_path, module.original.short_path]
    command += ["--", module.tools.benchmark.short_path, "--module=%s" % module.vmfb.short_path]
    if ctx.attr.call:
        if ctx.attr.call not in module.calls:
            fail("%s: %s has no call '%s'; it has: %s" % (
                ctx.label,
                ctx.attr.module.label,
                ctx.attr.call,
                ", ".join(sorted(module.calls)),
            ))
        files.append(module.calls[ctx.attr.call])
        files += module.call_inputs
        command.append("--flagfile=%s" % module.calls[ctx.attr.call].short_path)
    if module.archive:
        files.append(module.archive)
        command.append("--parameters=data=%s" % module.archive.short_path)
    command += _parameter_flags(ctx)
    command.append("--device=%s" % ctx.attr.device)
    runfiles = ctx.runfiles(files = files).merge(module.tools.benchmark_runfiles)
    return _test(ctx, command + ctx.attr.run_flags + flags, runfiles)

def _check_test_impl(ctx):
    module = ctx.attr.module[IreeDispatchModuleInfo]
    tools = module.tools
    if not module.check:
        fail("%s: %s does not compare outputs" % (ctx.label, ctx.attr.module.label))
    if not tools.run:
        fail("\n".join([
            "%s: the tools have no iree-run-module, which the check of a substitution runs" % ctx.label,
            "  try: for tools of your own, run_tool = \"@iree_tools//:bin/iree-run-module\"",
        ]))
    files = [module.vmfb, module.check, ctx.file._check_script, ctx.file._functions]
    command = ["/bin/sh", ctx.file._check_script.short_path] + _skip_options(ctx, module, files)
    command += [ctx.attr.device, "--", tools.dispatchgen.executable.short_path, "check-outputs", module.vmfb.short_path]
    command += ["--spec", module.check.short_path, "--device", ctx.attr.device]
    command += ["--iree-run-module", tools.run.short_path, "--"] + ctx.attr.run_flags
    runfiles = ctx.runfiles(files = files, transitive_files = tools.substitute_files)
    return _test(ctx, command, runfiles.merge(tools.dispatchgen_runfiles).merge(tools.run_runfiles))

def _skip_options(ctx, module, files):
    """The options of the scripts that say when a test is skipped; adds to the files that they read."""
    options = ["--skip-absent-device"] if _may_skip(ctx) else []
    if module.placeholder:
        files.append(module.placeholder)
        options += ["--placeholder", module.placeholder.short_path]
    return options

def _may_skip(ctx):
    return ctx.attr._absent_device[IreeDispatchSettingInfo].value == "skip"

def _test(ctx, command, runfiles):
    providers = launcher(ctx, command, runfiles)
    if _may_skip(ctx):
        # What one machine skipped must not pass on another that has the device.
        providers.append(testing.ExecutionInfo({"no-cache": ""}))
    return providers

def _parameter_flags(ctx):
    files = {target.label.name: target.files.to_list()[0] for target in ctx.attr.parameter_files}
    flags = []
    for parameter in ctx.attr.parameters:
        path = parameter_path(parameter)
        scope = parameter[:len(parameter) - len(path)]
        flags.append("--parameters=%s%s" % (scope, files[path].short_path))
    return flags

_DEVICE_ATTRS = {
    "device": attr.string(
        doc = "URI of the device.",
        mandatory = True,
    ),
    "module": attr.label(
        doc = "The iree_dispatch_module target.",
        mandatory = True,
        providers = [IreeDispatchModuleInfo],
    ),
    "run_flags": attr.string_list(
        doc = "Flags of iree-benchmark-module. A check leaves out those that iree-run-module does not know.",
    ),
    "_absent_device": attr.label(
        default = "//:absent_device",
        providers = [IreeDispatchSettingInfo],
    ),
    "_functions": _FUNCTIONS_ATTR,
}

_ATTRS = dict(
    _DEVICE_ATTRS,
    call = attr.string(
        doc = "Name of the call, where the module is a whole model.",
    ),
    device_id = attr.string(
        doc = "Id of the device.",
        mandatory = True,
    ),
    parameter_files = attr.label_list(
        doc = "The files that `parameters` name.",
        allow_files = True,
    ),
    parameters = attr.string_list(
        doc = "`[scope=]path` of parameter archives, each path the name of one of `parameter_files`.",
    ),
    _script = attr.label(
        default = "//private:run_benchmark.sh",
        allow_single_file = True,
    ),
)

iree_dispatch_smoke_test = rule(
    implementation = _smoke_test_impl,
    doc = "Runs each benchmark of a module once, or a call of a whole model.",
    attrs = _ATTRS,
    test = True,
)

iree_dispatch_benchmark_test = rule(
    implementation = _benchmark_test_impl,
    doc = """Times the benchmarks of a module, or a call of a whole model.

Only when all was measured, the test leaves `benchmark.json` in its undeclared outputs. The tags must keep it from being
answered from a cache: see iree_dispatch_benchmark_suite().
""",
    attrs = dict(
        _ATTRS,
        batch_size = attr.int(
            doc = "`--batch_size=`.",
            default = 1,
        ),
        min_time = attr.string(
            doc = "`--benchmark_min_time=`. Empty: the benchmark library's own.",
        ),
        repetitions = attr.int(
            doc = "`--benchmark_repetitions=`.",
            default = 1,
        ),
    ),
    test = True,
)

iree_dispatch_check_test = rule(
    implementation = _check_test_impl,
    doc = "Compares what a substitute writes with what the kernel writes that it replaces, on the same inputs.",
    attrs = dict(
        _DEVICE_ATTRS,
        _check_script = attr.label(
            default = "//private:check_outputs.sh",
            allow_single_file = True,
        ),
    ),
    test = True,
)

def _drift_test_impl(ctx):
    extract = ctx.attr.extract[IreeDispatchExtractInfo]

    # Where drift is an error, the test stands for the extraction, which fails where there is a difference.
    report = extract.drift.short_path if extract.drift else "/dev/null"
    return launcher(
        ctx,
        ["/bin/sh", ctx.file._script.short_path, report],
        ctx.runfiles(files = [ctx.file._script, ctx.file._functions, extract.drift or extract.index]),
    )

iree_dispatch_drift_test = rule(
    implementation = _drift_test_impl,
    doc = "Prints how the dispatches of a model on a backend differ from those that its lock lists; skipped where they do.",
    attrs = {
        "extract": attr.label(
            doc = "The iree_dispatch_extract target.",
            mandatory = True,
            providers = [IreeDispatchExtractInfo],
        ),
        "_script": attr.label(
            default = "//private:tell_drift.sh",
            allow_single_file = True,
        ),
        "_functions": _FUNCTIONS_ATTR,
    },
    test = True,
)
