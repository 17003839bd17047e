# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs iree-compile."""

def iree_compile(ctx, tools, phase, flags, src, output, mnemonic, progress_message):
    """Adds the action of one run.

    All paths in the command line are relative and all files declared: any machine that has the inputs makes the same
    bytes, so that a remote cache and a remote executor can serve the action.

    Args:
      ctx: the rule's context.
      tools: IreeDispatchToolsInfo.
      phase: the flag that says where the compilation starts or ends.
      flags: all other flags.
      src: the program, a File.
      output: the File to write.
      mnemonic: of the action.
      progress_message: of the action.
    """
    args = ctx.actions.args()
    args.add(phase)
    programs = [tools.compile]

    # Of two flags of one name the last counts: the user's own linker, where the flags name one.
    if tools.linker and [flag for flag in flags if "llvm-cpu" in flag]:
        args.add(tools.linker.executable, format = "--iree-llvmcpu-embedded-linker-path=%s")
        programs.append(tools.linker)
    args.add_all(flags)
    args.add(src)
    args.add("-o", output)
    ctx.actions.run(
        executable = tools.compile,
        arguments = [args],
        inputs = depset([src], transitive = [tools.compile_files]),
        outputs = [output],
        tools = programs,
        env = {},
        mnemonic = mnemonic,
        progress_message = progress_message,
    )
