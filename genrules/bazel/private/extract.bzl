# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Extracts the dispatches of a model on a backend."""

load(":compile.bzl", "configure", "flag_paths")
load(":providers.bzl", "IreeDispatchExtractInfo", "IreeDispatchSettingInfo", "IreeDispatchToolsInfo")
load(":tools.bzl", "TOOLS_ATTR")

def _extract_impl(ctx):
    tools = ctx.attr.tools[IreeDispatchToolsInfo]
    title = "%s/%s" % (ctx.attr.model, ctx.attr.backend)
    configured = ctx.actions.declare_file(title + "/configured.mlir")
    flag_files = _flag_files(ctx)
    configure(
        ctx,
        tools = tools,
        flags = ctx.attr.compile_flags,
        files = flag_files,
        src = ctx.file.src,
        output = configured,
        progress_message = "Configuring %s" % title,
    )

    modules = {name: ctx.actions.declare_file("%s/dispatches/%s.mlir" % (title, name)) for name in ctx.attr.dispatches}
    archives = {name: ctx.actions.declare_file("%s/dispatches/%s.irpa" % (title, name)) for name in ctx.attr.archives}
    calls = {name: ctx.actions.declare_file("%s/dispatches/%s.flags" % (title, name)) for name in ctx.attr.calls}
    call_inputs = [ctx.actions.declare_file("%s/dispatches/%s" % (title, name)) for name in ctx.attr.call_inputs]
    index = ctx.actions.declare_file(title + "/dispatches/index.json")
    drift = None
    if (ctx.attr._drift[IreeDispatchSettingInfo].value or ctx.attr.drift) == "allow":
        drift = ctx.actions.declare_file(title + "/dispatches/drift.txt")
    data = archives.values() + call_inputs
    outputs = modules.values() + calls.values() + data + [index] + ([drift] if drift else [])
    _add_extract_action(ctx, tools, title, configured, index, outputs, drift)
    return [
        DefaultInfo(files = depset(outputs)),
        IreeDispatchExtractInfo(
            archives = archives,
            backend = ctx.attr.backend,
            call_inputs = call_inputs,
            calls = calls,
            checks = {},
            compile_flags = ctx.attr.compile_flags,
            compile_inputs = [],
            configured = configured,
            drift = drift,
            flag_files = flag_files,
            index = index,
            model = ctx.attr.model,
            modules = modules,
            src = ctx.file.src,
            substitution = "",
            tools = tools,
        ),
    ]

def _flag_files(ctx):
    """Each path that a flag ends with, of one of `inputs` -> the file."""
    files = {target.label.name: target.files.to_list()[0] for target in ctx.attr.inputs}
    paths = [path for flag in ctx.attr.compile_flags for path in flag_paths(flag)]
    return {path: files[_plain(path)] for path in paths if _plain(path) in files}

def _plain(path):
    """A path in the package as the name of a target must be, without `.` and `..`."""
    segments = []
    for segment in path.split("/"):
        if segment == ".." and segments:
            segments.pop()
        elif segment not in ["", "."] or path.startswith("/"):
            segments.append(segment)
    return "/".join(segments)

def _listed(ctx):
    """What the build file lists, in the form of `listed_in` of dispatchgen's lock/modules.py."""
    files = ["archive=" + name for name in ctx.attr.archives]
    files += ["input=" + name for name in ctx.attr.call_inputs]
    files += ["data=" + target.label.name for target in ctx.attr.data]
    kinds = [ctx.attr.dispatches, ctx.attr.calls] + ([files] if files else [])
    return "\n\n".join(["\n".join(sorted(names)) for names in kinds])

def _add_extract_action(ctx, tools, title, configured, index, outputs, drift):
    # By it extraction finds out a lock that was renewed without generating the build file again.
    listing = ctx.actions.declare_file(title + "/listed.txt")
    ctx.actions.write(output = listing, content = _listed(ctx))
    has_data = ctx.attr.archives or ctx.attr.call_inputs or ctx.attr.data
    args = ctx.actions.args()
    args.add("extract")
    args.add(configured)
    args.add("--lock", ctx.file.lock)
    args.add("--backend", ctx.attr.backend)
    args.add("--output", index.dirname)
    args.add("--listed-in", listing)
    args.add("--root", "/".join([part for part in [ctx.label.workspace_root, ctx.label.package] if part]) or ".")

    # Where tests find them.
    args.add("--inputs-at", index.short_path.rpartition("/")[0])
    if drift:
        args.add("--drift", "allow")
    args.add("--iree-compile", tools.compile.executable)
    if ctx.attr.update:
        args.add("--renew", "bazel run //%s:%s" % (ctx.label.package, ctx.attr.update))
    ctx.actions.run(
        executable = tools.dispatchgen,
        arguments = [args],
        inputs = depset(
            [configured, ctx.file.lock, listing] + ctx.files.data,
            # IREE's runtime, which writes archives, is among what substitutes need.
            transitive = [tools.dispatchgen_files, tools.compile_files] + ([tools.substitute_files] if has_data else []),
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
`<dispatch>.mlir` for each dispatch, `<dispatch>.irpa` where its data lie beside it, `<call>.flags` for each call of the whole
model with the files that it names, and `index.json`. Each is an output of its own, so that only what uses a changed one is
built again.
""",
    attrs = {
        "archives": attr.string_list(
            doc = "Names of the dispatches whose data lie beside the benchmark module.",
        ),
        "backend": attr.string(
            doc = "Id of the backend.",
            mandatory = True,
        ),
        "call_inputs": attr.string_list(
            doc = "Names of the files with inputs of calls.",
        ),
        "calls": attr.string_list(
            doc = "Names of all calls of the whole model that the lock lists.",
        ),
        "compile_flags": attr.string_list(
            doc = "All flags of iree-compile but input, output and phase.",
            mandatory = True,
        ),
        "data": attr.label_list(
            doc = "Files of the package that the contents of buffers are taken from.",
            allow_files = True,
        ),
        "dispatches": attr.string_list(
            doc = "Names of all dispatches that the lock lists for this backend.",
        ),
        "drift": attr.string(
            doc = "Whether the dispatches may differ from the lock's. The flag `--@dispatchgen//:drift` overrides it.",
            default = "error",
            values = ["allow", "error"],
        ),
        "inputs": attr.label_list(
            doc = "Files that compile_flags name by their path in the package.",
            allow_files = True,
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
