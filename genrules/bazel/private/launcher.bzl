# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs that targets with runfiles are: one command, whose arguments are data."""

def launcher(ctx, command, runfiles):
    """The providers of a target whose program runs a command, followed by what the user gives.

    Args:
      ctx: the rule's context.
      command: list of strings, the program first. Paths are those of runfiles (`short_path`).
      runfiles: what the command reads.

    Returns:
      list of providers.
    """
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        output = program,
        content = "\n".join([
            "#!/bin/sh",
            "# `bazel test` and `bazel run` start this in the folder of the runfiles; by hand it finds them itself.",
            "[ ! -d \"$0.runfiles\" ] || cd \"$0.runfiles\"/%s || exit" % quote(ctx.workspace_name),
            "exec %s \"$@\"" % " ".join([quote(word) for word in command]),
            "",
        ]),
        is_executable = True,
    )
    return [DefaultInfo(executable = program, runfiles = runfiles)]

def quote(text):
    """A word of /bin/sh that stands for exactly this text.

    Args:
      text: any string.

    Returns:
      string: the text in single quotes, between which the shell leaves all but those quotes alone.
    """
    return "'" + text.replace("'", "'\\''") + "'"
