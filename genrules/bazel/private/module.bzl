# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the modules that are run."""

load(":compile.bzl", "RUN_IN_ATTR", "compile_module")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchModuleInfo", "module_folder")

def _module_impl(ctx):
    extract = ctx.attr.extract[IreeDispatchExtractInfo]
    name = ctx.attr.dispatch or "model"
    if ctx.attr.dispatch and ctx.attr.dispatch not in extract.modules:
        fail("%s: %s has no dispatch '%s'; it has: %s" % (
            ctx.label,
            ctx.attr.extract.label,
            ctx.attr.dispatch,
            ", ".join(sorted(extract.modules)),
        ))
    src = extract.modules[ctx.attr.dispatch] if ctx.attr.dispatch else extract.configured
    title = module_folder(extract) + "/" + name
    vmfb = ctx.actions.declare_file(title + ".vmfb")
    compile_module(
        ctx,
        extract = extract,
        flags = ctx.attr.flags,
        src = src,
        output = vmfb,
        progress_message = "Compiling %s.vmfb%s" % (title, "" if ctx.attr.dispatch else " (whole model)"),
    )
    changes = [target[IreeDispatchModuleInfo] for target in ctx.attr.changes]
    return [
        DefaultInfo(files = depset([vmfb])),
        IreeDispatchModuleInfo(
            archive = extract.archives.get(ctx.attr.dispatch),
            backend = extract.backend,
            call_inputs = [] if ctx.attr.dispatch else extract.call_inputs,
            calls = {} if ctx.attr.dispatch else extract.calls,
            changes = [struct(vmfb = module.vmfb, original = module.original) for module in changes],
            check = extract.checks.get(ctx.attr.dispatch),
            model = extract.model,
            name = name,
            original = ctx.attr.original[IreeDispatchModuleInfo].vmfb if ctx.attr.original else None,
            # Of the program without substitutions there is always something to run.
            placeholder = src if extract.drift and (ctx.attr.dispatch or extract.substitution) else None,
            substitution = extract.substitution,
            tools = extract.tools,
            vmfb = vmfb,
        ),
    ]

iree_dispatch_module = rule(
    implementation = _module_impl,
    doc = """Compiles the benchmarks of a dispatch to `<model>/<backend>/<dispatch>.vmfb`, or the whole model to `model.vmfb`.

Modules of a substitution lie in `<model>/<backend>/substitutions/<substitution>/`.
""",
    attrs = {
        "changes": attr.label_list(
            doc = "For a whole model with substitutions: those modules of dispatches that are replaced in it by which a test " +
                  "sees whether it should differ from the compiler's own.",
            providers = [IreeDispatchModuleInfo],
        ),
        "dispatch": attr.string(
            doc = "Name of the dispatch; `<dispatch>.check`: what compares the outputs of a substitute. Empty: the whole model.",
        ),
        "extract": attr.label(
            doc = "The iree_dispatch_extract or iree_dispatch_substitution target, which also says the compile flags.",
            mandatory = True,
            providers = [IreeDispatchExtractInfo],
        ),
        "flags": attr.string_list(
            doc = "More flags of iree-compile.",
        ),
        "original": attr.label(
            doc = "For modules of substitutions: the module without them, which tests compare with.",
            providers = [IreeDispatchModuleInfo],
        ),
        "_run_in": RUN_IN_ATTR,
    },
    provides = [IreeDispatchModuleInfo],
)
