# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The objects of substitutions: files of the package, or made of them by a command."""

MAKE_OBJECT_ATTR = attr.label(
    default = "//private:make_object",
    cfg = "exec",
    executable = True,
)

def add_objects(ctx, folder, targets, files):
    """Adds the actions that put a substitution's objects where iree-compile finds them.

    They are named by ids: IREE does not quote their names in the command of its linker. One for several dispatches has the
    name of the first.

    Args:
      ctx: of the rule iree_dispatch_substitution, whose attribute `_make_object` is MAKE_OBJECT_ATTR.
      folder: string, of the substitution in the package's folder of outputs.
      targets: list of struct(dispatch, kind, path).
      files: dict of string to File: path in the package -> the file.

    Returns:
      dict of string to File: path in the package, of an object or of what one is made of -> the object.
    """
    objects = {}
    for target in targets:
        if target.path in objects or target.kind not in ["kernel", "object"]:
            continue
        source = files[target.path]
        if target.kind == "object":
            objects[target.path] = ctx.actions.declare_file("%s/%s.%s" % (folder, target.dispatch, source.extension))
            ctx.actions.symlink(
                output = objects[target.path],
                target_file = source,
            )
        else:
            name = "%s/%s.%s" % (folder, ctx.attr.substitution, ctx.attr.object_suffix)
            objects[target.path] = ctx.actions.declare_file(name)
            _add_command(ctx, source, target.path, objects[target.path])
    return objects

def _add_command(ctx, source, path, output):
    """Adds the action that runs `command`, in the folder of the package, as CMake runs it in that of the manifest.

    The program is any that the user has: it is looked for on the PATH that actions have, which `--action_env=PATH` sets, and
    is no input. Where it is a file of the package it is one.

    Args:
      ctx: of the rule.
      source: File.
      path: string, of the source in the package.
      output: File.
    """
    args = ctx.actions.args()
    args.add(source.path[:-len(path)] or ".")
    args.add(path)
    args.add(output)
    args.add_all(ctx.attr.command)
    ctx.actions.run(
        executable = ctx.executable._make_object,
        arguments = [args],
        inputs = [source] + ctx.files.inputs,
        outputs = [output],
        use_default_shell_env = True,
        mnemonic = "IreeDispatchObject",
        progress_message = "Making %s" % output.short_path,
    )
