# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The tests: a dispatch or a call of the whole model, once (smoke) or timed."""

load(":check.bzl", "parameter_path")
load(":launcher.bzl", "launcher")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchModuleInfo", "IreeDispatchSettingInfo")

# What the scripts have in common.
_SKIP_ATTR = attr.label(
    default = "//private:skip_test.sh",
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
    flags.append("--benchmark_context=model=%s,backend=%s,device=%s,%s=%s" % (
        module.model,
        module.backend,
        ctx.attr.device_id,
        "call" if ctx.attr.call else "dispatch",
        ctx.attr.call or module.name,
    ))
    return _benchmark_test(ctx, ["--keep-result"], flags)

def _benchmark_test(ctx, options, flags):
    """The providers of a test that runs iree-benchmark-module with these flags through run_benchmark.sh."""
    module = ctx.attr.module[IreeDispatchModuleInfo]
    files = [module.vmfb, ctx.file._script, ctx.file._skip] + ctx.files.parameter_files
    command = ["/bin/sh", ctx.file._script.short_path] + options
    may_skip = ctx.attr._absent_device[IreeDispatchSettingInfo].value == "skip"
    if may_skip:
        command.append("--skip-absent-device")
    if module.placeholder:
        files.append(module.placeholder)
        command += ["--placeholder", module.placeholder.short_path]
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
        command.append("--flagfile=%s" % module.calls[ctx.attr.call].short_path)
    command += _parameter_flags(ctx)
    command.append("--device=%s" % ctx.attr.device)
    runfiles = ctx.runfiles(files = files).merge(module.tools.benchmark_runfiles)
    providers = launcher(ctx, command + ctx.attr.run_flags + flags, runfiles)
    if may_skip:
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

_ATTRS = {
    "call": attr.string(
        doc = "Name of the call, where the module is a whole model.",
    ),
    "device": attr.string(
        doc = "URI of the device.",
        mandatory = True,
    ),
    "device_id": attr.string(
        doc = "Id of the device.",
        mandatory = True,
    ),
    "module": attr.label(
        doc = "The iree_dispatch_module target.",
        mandatory = True,
        providers = [IreeDispatchModuleInfo],
    ),
    "parameter_files": attr.label_list(
        doc = "The files that `parameters` name.",
        allow_files = True,
    ),
    "parameters": attr.string_list(
        doc = "`[scope=]path` of parameter archives, each path the name of one of `parameter_files`.",
    ),
    "run_flags": attr.string_list(
        doc = "Flags of iree-benchmark-module.",
    ),
    "_absent_device": attr.label(
        default = "//:absent_device",
        providers = [IreeDispatchSettingInfo],
    ),
    "_script": attr.label(
        default = "//private:run_benchmark.sh",
        allow_single_file = True,
    ),
    "_skip": _SKIP_ATTR,
}

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

def _drift_test_impl(ctx):
    extract = ctx.attr.extract[IreeDispatchExtractInfo]

    # Where drift is an error, the test stands for the extraction, which fails where there is a difference.
    report = extract.drift.short_path if extract.drift else "/dev/null"
    return launcher(
        ctx,
        ["/bin/sh", ctx.file._script.short_path, report],
        ctx.runfiles(files = [ctx.file._script, ctx.file._skip, extract.drift or extract.index]),
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
        "_skip": _SKIP_ATTR,
    },
    test = True,
)
