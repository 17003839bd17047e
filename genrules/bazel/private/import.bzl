# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Imports a model from .onnx."""

load(":tools.bzl", "TOOLS_ATTR", "tools_with_importer")

def _import_impl(ctx):
    tools = tools_with_importer(ctx)
    imported = ctx.actions.declare_file("%s/imported.mlir" % ctx.attr.model)
    args = ctx.actions.args()
    args.add(ctx.file.src)
    args.add_all(ctx.attr.import_flags)
    args.add("-o", imported)
    ctx.actions.run(
        executable = tools.importer,
        arguments = [args],
        inputs = depset([ctx.file.src], transitive = [tools.import_files]),
        outputs = [imported],
        tools = [tools.importer],
        env = {},
        mnemonic = "IreeDispatchImport",
        progress_message = "Importing %s" % ctx.attr.model,
    )
    return [DefaultInfo(files = depset([imported]))]

iree_dispatch_import = rule(
    implementation = _import_impl,
    doc = "Imports a model, once for all its backends: `<model>/imported.mlir`.",
    attrs = {
        "import_flags": attr.string_list(
            doc = "Flags of the importer.",
        ),
        "model": attr.string(
            doc = "Id of the model.",
            mandatory = True,
        ),
        "src": attr.label(
            doc = "The .onnx file.",
            allow_single_file = [".onnx"],
            mandatory = True,
        ),
        "src_as_written": attr.string(
            doc = "What the suites of the model say as their `src`; all must say the same.",
        ),
        "tools": TOOLS_ATTR,
    },
)
