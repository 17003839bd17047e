# Copyright 2026 The dispatchgen Authors
#
# Licensed under the Apache License v2.0 with LLVM Exceptions.
# See https://llvm.org/LICENSE.txt for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The objects of substitutions: files of the package, or made of them by a command."""

def add_objects(ctx, folder, targets, files):
    """Adds the actions that put a substitution's objects where iree-compile finds them.

    Args:
      ctx: of iree_dispatch_substitution.
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
            objects[target.path] = ctx.actions.declare_file("%s/%s" % (folder, source.basename))
            ctx.actions.symlink(
                output = objects[target.path],
                target_file = source,
            )
        else:
            stem = source.basename[:-len(source.extension) - 1]
            objects[target.path] = ctx.actions.declare_file("%s/%s.%s" % (folder, stem, ctx.attr.object_suffix))
            _add_command(ctx, source, objects[target.path])
    return objects

def _add_command(ctx, source, output):
    """Adds the action that runs `command`.

    The program is any that the user has: it is looked for on the PATH that actions have, which `--action_env=PATH` sets, and
    is no input. Where it is a file of the package it is one.
    """
    inputs = {target.label.name: target.files.to_list()[0] for target in ctx.attr.inputs}
    words = [
        inputs[word].path if word in inputs else word.replace("{source}", source.path).replace("{output}", output.path)
        for word in ctx.attr.command
    ]
    args = ctx.actions.args()
    args.add_all(words[1:])
    ctx.actions.run(
        executable = inputs.get(ctx.attr.command[0], words[0]),
        arguments = [args],
        inputs = [source] + inputs.values(),
        outputs = [output],
        use_default_shell_env = True,
        mnemonic = "IreeDispatchObject",
        progress_message = "Making %s" % output.short_path,
    )
