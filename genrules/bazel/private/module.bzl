# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the modules that are run."""

load(":compile.bzl", "iree_compile")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchModuleInfo")

def _module_impl(ctx):
    extract = ctx.attr.extract[IreeDispatchExtractInfo]
    title = "%s/%s" % (extract.model, extract.backend)
    if ctx.attr.dispatch:
        if ctx.attr.dispatch not in extract.modules:
            fail("%s: %s has no dispatch '%s'; it has: %s" % (
                ctx.label,
                ctx.attr.extract.label,
                ctx.attr.dispatch,
                ", ".join(sorted(extract.modules)),
            ))
        name, src, calls = ctx.attr.dispatch, extract.modules[ctx.attr.dispatch], {}
        what = "%s/%s.vmfb" % (title, name)
    else:
        name, src, calls = "model", extract.configured, extract.calls
        what = "%s/model.vmfb (whole model)" % title
    vmfb = ctx.actions.declare_file("%s/%s.vmfb" % (title, name))

    # The executables of the source are configured. Configured a second time, some would fail to compile.
    iree_compile(
        ctx,
        tools = extract.tools,
        phase = "--compile-from=executable-configurations",
        flags = extract.compile_flags,
        src = src,
        output = vmfb,
        mnemonic = "IreeDispatchCompile",
        progress_message = "Compiling %s" % what,
    )
    return [
        DefaultInfo(files = depset([vmfb])),
        IreeDispatchModuleInfo(
            backend = extract.backend,
            calls = calls,
            model = extract.model,
            name = name,
            placeholder = src if ctx.attr.dispatch and extract.drift else None,
            tools = extract.tools,
            vmfb = vmfb,
        ),
    ]

iree_dispatch_module = rule(
    implementation = _module_impl,
    doc = "Compiles the benchmarks of a dispatch to `<model>/<backend>/<dispatch>.vmfb`, or the whole model to `model.vmfb`.",
    attrs = {
        "dispatch": attr.string(
            doc = "Name of the dispatch. Empty: the whole model.",
        ),
        "extract": attr.label(
            doc = "The iree_dispatch_extract target, which also says the compile flags.",
            mandatory = True,
            providers = [IreeDispatchExtractInfo],
        ),
    },
    provides = [IreeDispatchModuleInfo],
)
