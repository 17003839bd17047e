# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Extracts the dispatches of a model on a backend."""

load(":compile.bzl", "iree_compile")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchSettingInfo", "IreeDispatchToolsInfo")
load(":tools.bzl", "TOOLS_ATTR")

def _extract_impl(ctx):
    tools = ctx.attr.tools[IreeDispatchToolsInfo]
    title = "%s/%s" % (ctx.attr.model, ctx.attr.backend)
    configured = ctx.actions.declare_file(title + "/configured.mlir")
    iree_compile(
        ctx,
        tools = tools,
        phase = "--compile-to=executable-configurations",
        flags = ctx.attr.compile_flags,
        src = ctx.file.src,
        output = configured,
        mnemonic = "IreeDispatchConfigure",
        progress_message = "Configuring %s" % title,
    )

    modules = {name: ctx.actions.declare_file("%s/dispatches/%s.mlir" % (title, name)) for name in ctx.attr.dispatches}
    calls = {name: ctx.actions.declare_file("%s/dispatches/%s.flags" % (title, name)) for name in ctx.attr.calls}
    index = ctx.actions.declare_file(title + "/dispatches/index.json")
    drift = None
    if (ctx.attr._drift[IreeDispatchSettingInfo].value or ctx.attr.drift) == "allow":
        drift = ctx.actions.declare_file(title + "/dispatches/drift.txt")
    outputs = modules.values() + calls.values() + [index] + ([drift] if drift else [])
    _add_extract_action(ctx, tools, title, configured, index.dirname, outputs, drift)
    return [
        DefaultInfo(files = depset(outputs)),
        IreeDispatchExtractInfo(
            backend = ctx.attr.backend,
            calls = calls,
            compile_flags = ctx.attr.compile_flags,
            configured = configured,
            drift = drift,
            index = index,
            model = ctx.attr.model,
            modules = modules,
            tools = tools,
        ),
    ]

def _add_extract_action(ctx, tools, title, configured, folder, outputs, drift):
    # By it extraction finds out a lock that was renewed without generating the build file again. See `listed_in` of
    # dispatchgen's lock/modules.py.
    listing = ctx.actions.declare_file(title + "/listed.txt")
    ctx.actions.write(
        output = listing,
        content = "\n".join(sorted(ctx.attr.dispatches)) + "\n\n" + "\n".join(sorted(ctx.attr.calls)),
    )
    args = ctx.actions.args()
    args.add("extract")
    args.add(configured)
    args.add("--lock", ctx.file.lock)
    args.add("--backend", ctx.attr.backend)
    args.add("--output", folder)
    args.add("--listed-in", listing)
    if drift:
        args.add("--drift", "allow")
    args.add("--iree-compile", tools.compile.executable)
    if ctx.attr.update:
        args.add("--renew", "bazel run //%s:%s" % (ctx.label.package, ctx.attr.update))
    ctx.actions.run(
        executable = tools.dispatchgen,
        arguments = [args],
        inputs = depset(
            [configured, ctx.file.lock, listing],
            transitive = [tools.dispatchgen_files, tools.compile_files],
        ),
        outputs = outputs,
        tools = [tools.dispatchgen, tools.compile],
        env = {},
        mnemonic = "IreeDispatchExtract",
        progress_message = "Extracting %s" % title,
    )

iree_dispatch_extract = rule(
    implementation = _extract_impl,
    doc = """Writes a benchmark module for each dispatch of a model on a backend.

`<model>/<backend>/configured.mlir` is the model, compiled as far as configured executables; `dispatches/` beside it has
`<dispatch>.mlir` for each dispatch, `<call>.flags` for each call of the whole model, and `index.json`. Each is an output of
its own, so that only what uses a changed one is built again.
""",
    attrs = {
        "backend": attr.string(
            doc = "Id of the backend.",
            mandatory = True,
        ),
        "calls": attr.string_list(
            doc = "Names of all calls of the whole model that the lock lists.",
        ),
        "compile_flags": attr.string_list(
            doc = "All flags of iree-compile but input, output and phase.",
            mandatory = True,
        ),
        "dispatches": attr.string_list(
            doc = "Names of all dispatches that the lock lists for this backend.",
        ),
        "drift": attr.string(
            doc = "Whether the dispatches may differ from the lock's. The flag `--@dispatchgen//:drift` overrides it.",
            default = "error",
            values = ["allow", "error"],
        ),
        "lock": attr.label(
            doc = "The model's lock file.",
            allow_single_file = [".json"],
            mandatory = True,
        ),
        "model": attr.string(
            doc = "Id of the model.",
            mandatory = True,
        ),
        "src": attr.label(
            doc = "The program.",
            allow_single_file = [".mlir", ".mlirbc"],
            mandatory = True,
        ),
        "tools": TOOLS_ATTR,
        "update": attr.string(
            doc = "Name of the target of the package that renews the lock, for messages.",
        ),
        "_drift": attr.label(
            default = "//:drift",
            providers = [IreeDispatchSettingInfo],
        ),
    },
    provides = [IreeDispatchExtractInfo],
)
