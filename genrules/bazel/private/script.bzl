# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Scripts that actions start."""

def _script_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".started.sh")

    # A copy: not everything that ships files keeps which of them may be executed.
    ctx.actions.expand_template(
        template = ctx.file.src,
        output = script,
        substitutions = {},
        is_executable = True,
    )
    return [DefaultInfo(executable = script)]

iree_dispatch_script = rule(
    implementation = _script_impl,
    doc = "A script of /bin/sh, as a program.",
    attrs = {
        "src": attr.label(
            doc = "The script.",
            allow_single_file = [".sh"],
            mandatory = True,
        ),
    },
    executable = True,
)
