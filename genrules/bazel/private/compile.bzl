# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs iree-compile."""

# Starts a program in a folder.
RUN_IN_ATTR = attr.label(
    default = "//private:run_in",
    cfg = "exec",
    executable = True,
)

_LINKER_FLAG = "--iree-llvmcpu-embedded-linker-path="

# What iree-compile reads up to configured executables, and not from there on.
_CONFIGURE_FLAGS = ["--iree-codegen-tuning-spec-path="]

def configure(ctx, tools, flags, files, src, output, progress_message):
    """Adds the action that compiles a program as far as configured executables.

    All paths in the command lines are relative and all files declared: any machine that has the inputs makes the same
    bytes, so that a remote cache and a remote executor can serve the actions.

    Args:
      ctx: the rule's context.
      tools: IreeDispatchToolsInfo.
      flags: all flags but input, output and phase.
      files: dict of string to File: each path that a flag ends with -> the file.
      src: the program, a File.
      output: the File to write.
      progress_message: of the action.
    """
    args = ctx.actions.args()
    args.add("--compile-to=executable-configurations")
    if _needs_linker(tools, flags):
        args.add(tools.linker.executable, format = _LINKER_FLAG + "%s")
    args.add_all(with_files(flags, files))
    args.add(src)
    args.add("-o", output)
    ctx.actions.run(
        executable = tools.compile,
        arguments = [args],
        inputs = depset([src] + files.values(), transitive = [tools.compile_files]),
        outputs = [output],
        tools = _programs(tools, flags),
        env = {},
        mnemonic = "IreeDispatchConfigure",
        progress_message = progress_message,
    )

def compile_module(ctx, extract, flags, src, output, progress_message):
    """Adds the action that compiles a module from configured executables on.

    It runs in the folder of the suite, or of the substitution: the folders are laid out alike, and a module holds the path
    of its source as iree-compile was given it. So the same program becomes the same bytes in each of them.

    Args:
      ctx: of a rule whose attribute `_run_in` is RUN_IN_ATTR.
      extract: IreeDispatchExtractInfo.
      flags: more flags, list of strings.
      src: the program, a File in the folder of `extract.configured` or below it.
      output: the File to write, in that folder.
      progress_message: of the action.
    """
    tools = extract.tools
    folder = extract.configured.dirname
    top = "../" * len(folder.split("/"))
    flags = [flag for flag in extract.compile_flags if not _starts_with(flag, _CONFIGURE_FLAGS)] + flags
    files = {
        path: file
        for path, file in extract.flag_files.items()
        if [flag for flag in flags if path in flag_paths(flag)]
    }
    args = ctx.actions.args()
    args.add(folder)
    args.add(tools.compile.executable, format = top + "%s")

    # The executables of the source are configured. Configured a second time, some would fail to compile.
    args.add("--compile-from=executable-configurations")
    if _needs_linker(tools, flags):
        args.add(tools.linker.executable, format = _LINKER_FLAG + top + "%s")
    args.add_all(with_files(flags, files, top))
    args.add(src.path[len(folder) + 1:])
    args.add("-o", output.basename)
    ctx.actions.run(
        executable = ctx.executable._run_in,
        arguments = [args],
        inputs = depset([src] + files.values() + extract.compile_inputs, transitive = [tools.compile_files]),
        outputs = [output],
        tools = _programs(tools, flags),
        env = {},
        mnemonic = "IreeDispatchCompile",
        progress_message = progress_message,
    )

def with_files(flags, files, top = ""):
    """Flags in which the paths of files are those that the files have in actions.

    Args:
      flags: list of strings.
      files: dict of string to File: each path that a flag ends with -> the file.
      top: string, the path from the folder in which the action runs to the one where all paths start.

    Returns:
      list of strings.
    """
    result = []
    for flag in flags:
        for path in flag_paths(flag):
            if path in files:
                flag = flag[:-len(path)] + top + files[path].path
                break
        result.append(flag)
    return result

def flag_paths(flag):
    """What of a flag may be a path: of `--<flag>=<path>` and `--<flag>=<scope>=<path>`.

    Args:
      flag: string.

    Returns:
      list of strings.
    """
    return [path for path in [flag.partition("=")[2], flag.rpartition("=")[2]] if path]

def _needs_linker(tools, flags):
    # Of two flags of one name the last counts: the user's own linker, where the flags name one.
    return tools.linker and [flag for flag in flags if "llvm-cpu" in flag]

def _programs(tools, flags):
    return [tools.compile] + ([tools.linker] if _needs_linker(tools, flags) else [])

def _starts_with(text, prefixes):
    return [prefix for prefix in prefixes if text.startswith(prefix)]
