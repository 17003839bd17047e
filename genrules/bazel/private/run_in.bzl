# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A program for actions that are to run in another folder than the one where all paths start."""

def _run_in_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        output = program,
        content = "#!/bin/sh\ncd \"$1\" && shift && exec \"$@\"\n",
        is_executable = True,
    )
    return [DefaultInfo(executable = program)]

iree_dispatch_run_in = rule(
    implementation = _run_in_impl,
    doc = "`run_in.sh FOLDER PROGRAM ARGUMENTS...` starts a program in a folder, which its path is relative to.",
    executable = True,
)
